use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use arc_swap::ArcSwapOption;
use punctual_cdr::{Decode, Decoder, Endian, Ior};
use punctual_giop::{
    InvocationPolicies, LocateReplyHeader, LocateStatus, MessageHeader, MessageType, MessageWriter,
    OutgoingRequest, ReplyHeader, ReplyStatus, ResponseFlags, ServiceContext, UTF_16, begin_body,
    char_set_id, decode_system_exception, encode_locate_request, encode_request, end_body,
};
use punctual_stub::{
    Call, OrbContext, Phase, PoliciesInForce, PolicyConflict, PolicyOverrides, Response, Target,
};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use super::{
    Route, collocated,
    connection::{ClientConnection, is_orderly_close},
    connection_cache::{ConnectionKey, Identity},
    deadline::{Deadline, Deadlines},
    policies::ReferencePolicies,
    thread_state::{
        CallFrame, close_orphans, forget_connections, keep_connection, permit_connection, take_connection,
        with_frame,
    },
};
use crate::{
    current,
    orb_core::{OrbCore, context_of},
};

/// A reference bound to an ORB: what is behind every `ObjectRef`.
pub(crate) struct Reference {
    core: Arc<OrbCore>,
    orb: OrbContext,
    ior: Arc<Ior>,
    /// Where the reference itself leads.
    route: Arc<Route>,
    /// Where the object said it is; forgotten when it cannot be reached there.
    forwarded: ArcSwapOption<Route>,
    policies: ReferencePolicies,
}

/// What holds for all attempts of one call.
#[derive(Clone, Copy)]
struct Terms<'c> {
    policies: &'c PoliciesInForce,
    deadlines: Deadlines,
}

/// The answer to a request, still in its connection's buffer.
struct Arrived {
    header: MessageHeader,
    /// Of a Reply: its status, and where its body starts.
    reply: Option<(ReplyStatus, usize)>,
}

/// What one attempt to deliver a request came to.
enum Attempt<R> {
    Done(R),
    /// The object is elsewhere.
    Forward(Ior),
    /// The request was not handled, and is safe to send again.
    Again(SystemException),
}

impl Reference {
    /// Fails where the reference cannot be used: see [`Route::new`].
    pub(crate) fn new(core: &Arc<OrbCore>, ior: Ior) -> Result<Self, SystemException> {
        let route = Arc::new(Route::new(&ior, core)?);
        let overrides = PolicyOverrides::new();
        Ok(Self::of_route(core, Arc::new(ior), route, None, overrides))
    }

    fn of_route(
        core: &Arc<OrbCore>,
        ior: Arc<Ior>,
        route: Arc<Route>,
        forwarded: Option<Arc<Route>>,
        overrides: PolicyOverrides,
    ) -> Self {
        Self {
            core: Arc::clone(core),
            orb: context_of(core),
            ior,
            route,
            forwarded: ArcSwapOption::new(forwarded),
            policies: ReferencePolicies::new(overrides, &core.policies),
        }
    }

    /// Tries, and follows forwards and orderly closes, until `attempt` is done or a limit is reached.
    fn deliver<R>(
        &self,
        mut attempt: impl FnMut(&Route) -> Result<Attempt<R>, SystemException>,
    ) -> Result<R, SystemException> {
        let mut forwards = 0;
        let mut again = 0;
        loop {
            if self.core.is_shut_down() {
                let (kind, minor) = (SystemExceptionKind::BadInvOrder, Minor::OMG_ORB_SHUT_DOWN);
                return Err(SystemException::new(kind, minor, Completion::No));
            }
            let forwarded = self.forwarded.load();
            let result = match &*forwarded {
                Some(route) => attempt(route),
                None => attempt(&self.route),
            };
            match result {
                Ok(Attempt::Done(result)) => return Ok(result),
                Ok(Attempt::Forward(ior)) if forwards < self.core.limits.max_forwards => {
                    forwards += 1;
                    self.forwarded
                        .store(Some(Arc::new(Route::new(&ior, &self.core)?)));
                }
                Ok(Attempt::Forward(_)) => {
                    let (kind, minor) = (SystemExceptionKind::Transient, Minor::TOO_MANY_FORWARDS);
                    return Err(SystemException::new(kind, minor, Completion::No));
                }
                Ok(Attempt::Again(_)) if again < MAX_AGAIN => again += 1,
                Ok(Attempt::Again(error)) => return Err(error),
                // The place it was forwarded to is gone: ask again where the reference itself leads.
                Err(error)
                    if forwarded.is_some()
                        && is_unreachable(&error)
                        && forwards < self.core.limits.max_forwards =>
                {
                    forwards += 1;
                    self.forwarded.store(None);
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn call_remotely(
        &self,
        route: &Route,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        terms: Terms<'_>,
    ) -> Result<Attempt<()>, SystemException> {
        let priority = self.caller_priority(route)?;
        let mut connection = self.connection(route, priority, terms)?;
        if call.response == Response::None && connection.is_abandoned() {
            self.forget(&connection);
            return Ok(Attempt::Again(closed()));
        }
        let request_id = match self.encode(route, priority, terms, frame, call, &mut connection) {
            Ok(id) => id,
            Err(error) => {
                self.keep(connection);
                return Err(error);
            }
        };
        connection.mark(&*self.core.network_mapping, route.network_priority(priority));
        if let Some(unsent) = self.send(&mut connection, &frame.request, terms)? {
            return Ok(Attempt::Again(unsent));
        }
        connection.announces_code_sets = false;
        if call.response == Response::None {
            self.keep(connection);
            return Ok(Attempt::Done(()));
        }
        let reply = terms.deadlines.reply;
        let answer = self.receive(connection, MessageType::Reply, request_id, reply)?;
        let Some((mut connection, arrived)) = answer else {
            return Ok(Attempt::Again(closed()));
        };
        let attempt = self.decode_reply(&connection, &arrived, call);
        connection.consume(&arrived.header);
        self.keep(connection);
        attempt
    }

    /// Writes the request into the frame; returns its id.
    fn encode(
        &self,
        route: &Route,
        priority: Priority,
        terms: Terms<'_>,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        connection: &mut ClientConnection,
    ) -> Result<u32, SystemException> {
        let request_id = connection.new_request_id();
        let priority = ServiceContext::Priority(priority.value());
        let code_sets = ServiceContext::CodeSets {
            char: char_set_id(connection.char_set),
            wchar: UTF_16,
        };
        let contexts: &[_] = match (route.propagates_priority(), connection.announces_code_sets) {
            (true, true) => &[priority, code_sets],
            (true, false) => &[priority],
            (false, true) => &[code_sets],
            (false, false) => &[],
        };
        let mut extended = [priority; 3];
        let contexts = if terms.policies.sends_deadlines && terms.deadlines.request.is_some() {
            extended[..contexts.len()].copy_from_slice(contexts);
            extended[contexts.len()] = ServiceContext::InvocationPolicies(terms.invocation_policies());
            &extended[..=contexts.len()]
        } else {
            contexts
        };
        let request = OutgoingRequest {
            request_id,
            response: match call.response {
                Response::None => ResponseFlags::None,
                Response::WithTarget => ResponseFlags::WithTarget,
            },
            object_key: &route.object_key,
            operation: call.operation,
            contexts,
        };
        frame.request.clear();
        let mut writer = MessageWriter::new(
            &mut frame.request,
            route.version,
            MessageType::Request,
            Endian::NATIVE,
            connection.char_set,
            self.core.limits.max_message_size,
        );
        let encoder = writer.encoder();
        encode_request(encoder, route.version, &request)
            .and_then(|()| {
                let body = begin_body(encoder, route.version)?;
                (call.perform)(Phase::Arguments(encoder))?;
                end_body(encoder, body);
                Ok(())
            })
            .and_then(|()| writer.finish())
            .map_err(|error| error.system_exception(Completion::No))?;
        Ok(request_id)
    }

    /// Sends a message. `Some`: the server had closed the connection and nothing has left, which says nothing about this call.
    fn send(
        &self,
        connection: &mut ClientConnection,
        message: &[u8],
        terms: Terms<'_>,
    ) -> Result<Option<SystemException>, SystemException> {
        connection.wait_until(&terms.deadlines).map_err(|_| broken())?;
        match connection.send(message, terms.deadlines.request) {
            Ok(()) => Ok(None),
            Err(error)
                if error.completed == Completion::No && error.kind == SystemExceptionKind::CommFailure =>
            {
                self.forget(connection);
                Ok(Some(error))
            }
            Err(error) => Err(error),
        }
    }

    /// As [`Self::await_reply`], and decides what becomes of the connection where no reply comes.
    fn receive(
        &self,
        mut connection: Box<ClientConnection>,
        wanted: MessageType,
        request_id: u32,
        deadline: Option<Deadline>,
    ) -> Result<Option<(Box<ClientConnection>, Arrived)>, SystemException> {
        match self.await_reply(&mut connection, wanted, request_id, deadline) {
            Ok(Some(arrived)) => Ok(Some((connection, arrived))),
            Ok(None) => {
                self.forget(&connection);
                Ok(None)
            }
            Err(error) => {
                // A late reply is recognised by its id and dropped, so the connection stays good.
                if error.kind == SystemExceptionKind::Timeout {
                    self.keep(connection);
                }
                Err(error)
            }
        }
    }

    fn keep(&self, connection: Box<ClientConnection>) {
        keep_connection(connection, self.core.limits.max_connections_per_thread);
    }

    /// The server has closed this one, so it will have closed those to the same place that nobody uses.
    #[cold]
    fn forget(&self, connection: &ClientConnection) {
        forget_connections(connection.endpoint(), &self.core.connections);
    }

    /// Waits for the reply to a request; `None` where the peer closed the connection in good order, without handling it.
    fn await_reply(
        &self,
        connection: &mut ClientConnection,
        wanted: MessageType,
        request_id: u32,
        deadline: Option<Deadline>,
    ) -> Result<Option<Arrived>, SystemException> {
        loop {
            let header = connection.receive(deadline)?;
            if is_orderly_close(&header) {
                return Ok(None);
            }
            let malformed = |_| {
                SystemException::new(
                    SystemExceptionKind::Marshal,
                    Minor::REPLY_MALFORMED,
                    Completion::Maybe,
                )
            };
            let message = connection.message(&header);
            let (answers, reply) = match header.message_type {
                MessageType::Reply => {
                    let (reply, body) = ReplyHeader::decode(message, &header).map_err(malformed)?;
                    (reply.request_id, Some((reply.status, body)))
                }
                MessageType::LocateReply => (
                    LocateReplyHeader::decode(message, &header)
                        .map_err(malformed)?
                        .request_id,
                    None,
                ),
                MessageType::MessageError => {
                    let (kind, minor) = (SystemExceptionKind::CommFailure, Minor::PEER_REJECTED_MESSAGE);
                    return Err(SystemException::new(kind, minor, Completion::No));
                }
                // Not for a client: a server that sends it is out of step.
                _ => {
                    let (kind, minor) = (SystemExceptionKind::CommFailure, Minor::REPLY_MALFORMED);
                    return Err(SystemException::new(kind, minor, Completion::Maybe));
                }
            };
            if header.message_type == wanted && answers == request_id {
                return Ok(Some(Arrived { header, reply }));
            }
            // The late reply to a call that timed out.
            connection.consume(&header);
        }
    }

    fn decode_reply(
        &self,
        connection: &ClientConnection,
        arrived: &Arrived,
        call: &mut Call<'_>,
    ) -> Result<Attempt<()>, SystemException> {
        let Arrived {
            header,
            reply: Some((status, body)),
        } = arrived
        else {
            return Err(broken());
        };
        let message = connection.message(header);
        let mut decode = || {
            let mut decoder = Decoder::new(message, header.endian)
                .with_char_set(connection.char_set)
                .with_nesting_limit(self.core.limits.max_nesting)
                .with_context(&self.orb)
                .with_fragments(connection.fragment_starts())
                .at(*body);
            Ok(match status {
                ReplyStatus::NoException => {
                    (call.perform)(Phase::Results(&mut decoder))?;
                    Ok(Attempt::Done(()))
                }
                ReplyStatus::UserException => {
                    let id = <String>::decode(&mut decoder)?;
                    if (call.raised)(&id, &mut decoder)? {
                        Ok(Attempt::Done(()))
                    } else {
                        let (kind, minor) = (SystemExceptionKind::Unknown, Minor::EXCEPTION_UNDECLARED);
                        Err(SystemException::new(kind, minor, Completion::Yes))
                    }
                }
                ReplyStatus::SystemException => Err(decode_system_exception(&mut decoder)?),
                ReplyStatus::LocationForward | ReplyStatus::LocationForwardPerm => {
                    Ok(Attempt::Forward(Ior::decode(&mut decoder)?))
                }
                // We always send object keys, the one mode that every server understands.
                ReplyStatus::NeedsAddressingMode => Err(SystemException::new(
                    SystemExceptionKind::NoImplement,
                    Minor::NONE,
                    Completion::No,
                )),
            })
        };
        decode().unwrap_or_else(|error: punctual_cdr::CdrError| Err(error.system_exception(Completion::Yes)))
    }

    fn locate_remotely(
        &self,
        route: &Route,
        frame: &mut CallFrame,
        terms: Terms<'_>,
    ) -> Result<Attempt<bool>, SystemException> {
        let priority = self.caller_priority(route)?;
        let mut connection = self.connection(route, priority, terms)?;
        let request_id = connection.new_request_id();
        frame.request.clear();
        let mut writer = MessageWriter::new(
            &mut frame.request,
            route.version,
            MessageType::LocateRequest,
            Endian::NATIVE,
            connection.char_set,
            self.core.limits.max_message_size,
        );
        encode_locate_request(writer.encoder(), route.version, request_id, &route.object_key)
            .and_then(|()| writer.finish())
            .map_err(|error| error.system_exception(Completion::No))?;
        if let Some(unsent) = self.send(&mut connection, &frame.request, terms)? {
            return Ok(Attempt::Again(unsent));
        }
        let reply = terms.deadlines.reply;
        let answer = self.receive(connection, MessageType::LocateReply, request_id, reply)?;
        let Some((mut connection, Arrived { header, .. })) = answer else {
            return Ok(Attempt::Again(closed()));
        };
        let message = connection.message(&header);
        let reply = LocateReplyHeader::decode(message, &header).and_then(|reply| {
            Ok(match reply.status {
                LocateStatus::UnknownObject => Ok(Attempt::Done(false)),
                LocateStatus::ObjectHere => Ok(Attempt::Done(true)),
                LocateStatus::ObjectForward | LocateStatus::ObjectForwardPerm => {
                    Ok(Attempt::Forward(reply.forward()?))
                }
                LocateStatus::SystemException => Err(reply.system_exception()?),
                LocateStatus::NeedsAddressingMode => Err(SystemException::new(
                    SystemExceptionKind::NoImplement,
                    Minor::NONE,
                    Completion::No,
                )),
            })
        });
        connection.consume(&header);
        self.keep(connection);
        reply.map_err(|error| error.system_exception(Completion::No))?
    }

    /// The priority that chooses the endpoint and travels along; asking for it may cost a system call.
    fn caller_priority(&self, route: &Route) -> Result<Priority, SystemException> {
        if route.propagates_priority() {
            current::call_priority(&self.core)
        } else {
            Ok(Priority::MIN)
        }
    }

    /// A connection for calls of this priority, opened at the first of its endpoints that answers.
    fn connection(
        &self,
        route: &Route,
        priority: Priority,
        terms: Terms<'_>,
    ) -> Result<Box<ClientConnection>, SystemException> {
        let policies = terms.policies;
        let owner = policies.private_connection.then_some(&self.policies.identity);
        let band = route.band(priority, policies)?;
        let mut failure = None;
        for endpoint in route.endpoints(priority, band, policies)? {
            let key = ConnectionKey {
                endpoint,
                owner,
                band,
            };
            if let Some(connection) = take_connection(&key, &self.core.connections) {
                return Ok(connection);
            }
            match self.open(&key, route, terms) {
                Ok(connection) => return Ok(connection),
                Err(error) => failure = Some(error),
            }
        }
        Err(failure.unwrap_or_else(broken))
    }

    #[cold]
    fn open(
        &self,
        key: &ConnectionKey<'_>,
        route: &Route,
        terms: Terms<'_>,
    ) -> Result<Box<ClientConnection>, SystemException> {
        let limits = &self.core.limits;
        let mut timeout = terms
            .policies
            .connection_timeout
            .unwrap_or(limits.connect_timeout);
        if let Some(deadline) = terms.deadlines.request {
            timeout = timeout.min(deadline.left());
        }
        let permit = permit_connection(&self.core.connections)?;
        let protocols = &terms.policies.client_protocols;
        ClientConnection::open(key, permit, route.version, protocols, limits, timeout).map(Box::new)
    }

    /// Asks where the object is, without going on to where it is forwarded.
    pub(crate) fn locate_once(&self) -> Result<Located, SystemException> {
        self.under_terms(|terms, frame| {
            self.deliver(|route| {
                Ok(match self.locate_anywhere(route, frame, terms)? {
                    Attempt::Done(true) => Attempt::Done(Located::Here),
                    Attempt::Done(false) => Attempt::Done(Located::Nowhere),
                    Attempt::Forward(ior) => Attempt::Done(Located::There(ior)),
                    Attempt::Again(error) => Attempt::Again(error),
                })
            })
        })
    }

    fn locate_anywhere(
        &self,
        route: &Route,
        frame: &mut CallFrame,
        terms: Terms<'_>,
    ) -> Result<Attempt<bool>, SystemException> {
        if route.is_local {
            self.check_locally(route, terms)?;
            return Ok(Attempt::Done(collocated::locate(&self.core, route)));
        }
        self.locate_remotely(route, frame, terms)
    }

    /// Runs a call under the policies in force, its time-outs counted from now, with buffers of its own.
    fn under_terms<R>(
        &self,
        call: impl FnOnce(Terms<'_>, &mut CallFrame) -> Result<R, SystemException>,
    ) -> Result<R, SystemException> {
        let policies = self.policies.in_force(&self.core.policies);
        let terms = Terms {
            deadlines: Deadlines::start(&policies),
            policies: &policies,
        };
        with_frame(self.core.limits.max_nested_calls, |frame| call(terms, frame))
    }

    fn call_locally(
        &self,
        route: &Route,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        terms: Terms<'_>,
    ) -> Result<Attempt<()>, SystemException> {
        self.check_locally(route, terms)?;
        collocated::call(&self.core, &self.orb, route, frame, call)?;
        if call.response == Response::WithTarget {
            terms.deadlines.check_completed()?;
        }
        Ok(Attempt::Done(()))
    }

    /// Without a connection too, a call that policies forbid is not made.
    fn check_locally(&self, route: &Route, terms: Terms<'_>) -> Result<(), SystemException> {
        if route.has_no_rules(terms.policies) {
            return Ok(());
        }
        let priority = self.caller_priority(route)?;
        route.band(priority, terms.policies).map(|_| ())
    }
}

impl Terms<'_> {
    /// The time-outs as they travel, the absolute ones by this host's clock.
    fn invocation_policies(&self) -> InvocationPolicies {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let Deadlines { request, reply } = self.deadlines;
        let request = request.filter(|_| self.policies.request_timeout.is_some());
        InvocationPolicies {
            request_end: request.map(|deadline| now + deadline.left()),
            reply_end: reply.map(|deadline| now + deadline.left()),
            relative_request: self.policies.request_timeout,
            relative_roundtrip: self.policies.roundtrip_timeout,
        }
    }
}

/// Private connections close with their reference.
impl Drop for Reference {
    fn drop(&mut self) {
        // Whoever else knows the identity: connections, and threads with policies of their own.
        if Arc::weak_count(&self.policies.identity) > 0 {
            self.policies.identity = Arc::new(Identity);
            close_orphans(&self.core.connections);
        }
    }
}

/// Where an object is.
pub(crate) enum Located {
    Nowhere,
    Here,
    There(Ior),
}

impl Target for Reference {
    fn ior(&self) -> &Ior {
        &self.ior
    }

    fn orb(&self) -> &OrbContext {
        &self.orb
    }

    fn invoke(&self, call: &mut Call<'_>) -> Result<(), SystemException> {
        self.under_terms(|terms, frame| {
            self.deliver(|route| {
                if route.is_local {
                    self.call_locally(route, frame, call, terms)
                } else {
                    self.call_remotely(route, frame, call, terms)
                }
            })
        })
    }

    fn locate(&self) -> Result<bool, SystemException> {
        self.under_terms(|terms, frame| self.deliver(|route| self.locate_anywhere(route, frame, terms)))
    }

    fn with_policies(&self, overrides: PolicyOverrides) -> Arc<dyn Target> {
        Arc::new(Self::of_route(
            &self.core,
            Arc::clone(&self.ior),
            Arc::clone(&self.route),
            self.forwarded.load_full(),
            overrides.within(&self.policies.overrides),
        ))
    }

    fn policies_in_force(&self) -> PoliciesInForce {
        PoliciesInForce::clone(&self.policies.in_force(&self.core.policies))
    }

    fn inconsistent_policies(&self) -> Vec<PolicyConflict> {
        let forwarded = self.forwarded.load_full();
        let route = forwarded.as_ref().unwrap_or(&self.route);
        let policies = self.policies.in_force(&self.core.policies);
        // Where the thread's own has no CORBA priority, calls fail for another reason.
        let priority = self.caller_priority(route).unwrap_or(Priority::MIN);
        route.conflicts(priority, &policies)
    }
}

/// How often a request is sent again after orderly closes; a server that goes on closing is as good as not there.
const MAX_AGAIN: usize = 3;

fn is_unreachable(error: &SystemException) -> bool {
    error.completed == Completion::No
        && matches!(
            error.kind,
            SystemExceptionKind::Transient
                | SystemExceptionKind::CommFailure
                | SystemExceptionKind::ObjectNotExist
        )
}

fn closed() -> SystemException {
    SystemException::new(
        SystemExceptionKind::Transient,
        Minor::CONNECTION_LOST,
        Completion::No,
    )
}

fn broken() -> SystemException {
    SystemException::new(
        SystemExceptionKind::CommFailure,
        Minor::CONNECTION_LOST,
        Completion::No,
    )
}
