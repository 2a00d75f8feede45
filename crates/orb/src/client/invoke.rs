use std::{
    ops::ControlFlow,
    sync::{Arc, Weak, atomic::AtomicBool},
    time::{SystemTime, UNIX_EPOCH},
};

use arc_swap::ArcSwapOption;
use punctual_cdr::{CharSet, Decode, Decoder, Encoder, Ior};
use punctual_flight::{Event, Record, operation_id, record};
use punctual_giop::{
    AddressingDisposition, InvocationPolicies, LocateReplyHeader, MessageHeader, MessageType,
    OutgoingRequest, ReplyHeader, ReplyStatus, ResponseFlags, ServiceContext, Version, begin_body,
    decode_system_exception, encode_request, end_body,
};
use punctual_stub::{
    Call, ObjectRef, OrbContext, PendingCall, Phase, PoliciesInForce, PolicyConflict, PolicyOverrides,
    Response, Target,
};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use super::{
    Route,
    attempts::Attempt,
    collocated,
    connection::{ClientConnection, code_sets, is_orderly_close},
    deadline::Deadlines,
    policies::ReferencePolicies,
    request_buffer::{HeaderKind, RequestBuffer},
    thread_state::{CallFrame, with_frame},
};
use crate::{
    ConnectionMode, WaitStrategy,
    interceptors::{AddedContexts, with_contexts},
    lane::BlockedThread,
    orb_core::{OrbCore, context_of},
};

/// A reference bound to an ORB: what is behind every `ObjectRef`.
pub(crate) struct Reference {
    /// For interceptors, who may ask for the reference that is called.
    own: Weak<Reference>,
    pub(super) core: Arc<OrbCore>,
    orb: OrbContext,
    ior: Arc<Ior>,
    /// Where the reference itself leads.
    pub(super) route: Arc<Route>,
    /// Where the object said it is; forgotten when it cannot be reached there.
    pub(super) forwarded: ArcSwapOption<Route>,
    /// Whether it has ever said so: spares the look.
    pub(super) was_forwarded: AtomicBool,
    pub(super) policies: ReferencePolicies,
}

/// What holds for all attempts of one call.
#[derive(Clone, Copy)]
pub(super) struct Terms<'c> {
    pub(super) policies: &'c PoliciesInForce,
    pub(super) deadlines: Deadlines,
}

/// The answer to a request, still in its connection's buffer.
pub(super) struct Arrived {
    pub(super) header: MessageHeader,
    /// Of a Reply: its status, and where its body starts.
    pub(super) reply: Option<(ReplyStatus, usize)>,
}

/// How a request is written for one connection.
#[derive(Clone, Copy)]
pub(super) struct Speech {
    pub(super) request_id: u32,
    pub(super) char_set: CharSet,
    /// The server has not been told the code sets.
    pub(super) announces_code_sets: bool,
}

/// The octets of an answer, and what is needed to read them.
pub(super) struct Answer<'m> {
    pub(super) message: &'m [u8],
    pub(super) header: &'m MessageHeader,
    pub(super) fragment_starts: &'m [usize],
    pub(super) char_set: CharSet,
}

impl Reference {
    /// Fails where the reference cannot be used: see [`Route::new`].
    pub(crate) fn new(core: &Arc<OrbCore>, ior: Ior) -> Result<Arc<Self>, SystemException> {
        let ior = Arc::new(ior);
        let route = Arc::new(Route::new(&ior, core)?);
        let overrides = PolicyOverrides::new();
        Ok(Self::of_route(core, ior, route, None, overrides))
    }

    fn of_route(
        core: &Arc<OrbCore>,
        ior: Arc<Ior>,
        route: Arc<Route>,
        forwarded: Option<Arc<Route>>,
        overrides: PolicyOverrides,
    ) -> Arc<Self> {
        Arc::new_cyclic(|own| Self {
            own: Weak::clone(own),
            core: Arc::clone(core),
            orb: context_of(core),
            ior,
            route,
            was_forwarded: AtomicBool::new(forwarded.is_some()),
            forwarded: ArcSwapOption::new(forwarded),
            policies: ReferencePolicies::new(overrides, &core.policies),
        })
    }

    /// The reference itself, for whoever has been lent it.
    pub(crate) fn to_object(&self) -> ObjectRef {
        let own = self.own.upgrade();
        ObjectRef::new(own.expect("a reference is lent by one that keeps it"))
    }

    /// Its ORB, for decoders.
    pub(crate) fn context(&self) -> &OrbContext {
        &self.orb
    }

    /// One attempt at a call, along this route.
    // Where there are interceptors it is there once more: that keeps the calls of all others as short as without.
    #[inline(always)]
    pub(super) fn attempt(
        &self,
        route: &Route,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        terms: Terms<'_>,
    ) -> Result<Attempt<()>, SystemException> {
        if route.is_local {
            self.call_locally(route, frame, call, terms)
        } else {
            self.call_remotely(route, frame, call, terms)
        }
    }

    #[inline(always)]
    fn call_remotely(
        &self,
        route: &Route,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        terms: Terms<'_>,
    ) -> Result<Attempt<()>, SystemException> {
        if terms.policies.connection_mode == ConnectionMode::Shared
            // Bands are bound over connections with one call at a time.
            && !terms.policies.binds_bands
            && let Some(lane) = self.lane_for_reply(terms)?
        {
            return self.call_over_shared(&lane, route, frame, call, terms);
        }
        let priority = self.caller_priority(route)?;
        let mut connection = self.connection(route, priority, terms)?;
        if terms.policies.binds_bands {
            connection = match self.bind_band(connection, route, frame, terms)? {
                ControlFlow::Continue(connection) => connection,
                ControlFlow::Break(instead) => return Ok(instead),
            };
        }
        if call.response == Response::None && connection.is_abandoned() {
            self.forget(&connection);
            return Ok(Attempt::Again(closed()));
        }
        let _blocked = match call.response {
            Response::WithTarget => self.enter_wait(&connection, terms)?,
            Response::None => None,
        };
        let speech = connection.speech();
        let request_id = speech.request_id;
        let encoded = terms
            .deadlines
            .check_unsent()
            .and_then(|()| self.encode(route, priority, terms, &mut frame.request, call, speech));
        if let Err(error) = encoded {
            self.keep(connection);
            return Err(error);
        }
        let link = connection.link;
        record(|| Record::new(Event::Encoded).request(request_id).link(link));
        connection.mark(&*self.core.network_mapping, route.network_priority(priority));
        if let Some(unsent) = self.send(&mut connection, frame.request.message(), terms)? {
            return Ok(Attempt::Again(unsent));
        }
        record(|| Record::new(Event::Sent).request(request_id).link(link));
        connection.announces_code_sets = false;
        if call.response == Response::None {
            self.keep(connection);
            return Ok(Attempt::Done(()));
        }
        let answer = self.receive(connection, MessageType::Reply, request_id, terms)?;
        let Some((mut connection, arrived)) = answer else {
            return Ok(Attempt::Again(closed()));
        };
        record(|| Record::new(Event::ReplyReceived).request(request_id).link(link));
        let (answer, body) = (connection.answer(&arrived), arrived.reply.map(|(_, body)| body));
        self.let_see(&mut frame.seen, &answer, body);
        let attempt = self.decode_reply(answer, arrived.reply, route, call);
        connection.consume(&arrived.header);
        self.keep(connection);
        attempt
    }

    /// Before a wait for a reply over it: not where the calling thread itself would have to send that.
    pub(super) fn enter_wait(
        &self,
        connection: &ClientConnection,
        terms: Terms<'_>,
    ) -> Result<Option<BlockedThread>, SystemException> {
        match terms.policies.wait_strategy {
            WaitStrategy::Blocking => {
                let endpoint = connection.endpoint();
                BlockedThread::enter_call(|acceptor| {
                    endpoint.leads_to(&*acceptor.transport, acceptor.address())
                })
            }
            WaitStrategy::Serving => Ok(None),
        }
    }

    /// Writes the request.
    pub(super) fn encode(
        &self,
        route: &Route,
        priority: Priority,
        terms: Terms<'_>,
        buffer: &mut RequestBuffer,
        call: &mut Call<'_>,
        speech: Speech,
    ) -> Result<(), SystemException> {
        let Speech {
            request_id,
            char_set,
            announces_code_sets,
        } = speech;
        let response = match call.response {
            Response::None => ResponseFlags::None,
            Response::WithTarget => ResponseFlags::WithTarget,
        };
        let sends_deadlines = terms.policies.sends_deadlines && terms.deadlines.request.is_some();
        let limits = (char_set, self.core.limits.max_message_size);
        let operation = call.operation;
        let header = |encoder: &mut Encoder<'_>, added: Option<&AddedContexts>| {
            let priority = ServiceContext::Priority(priority.value());
            let mut contexts = [priority; 3];
            let mut count = usize::from(route.propagates_priority());
            if announces_code_sets {
                contexts[count] = code_sets(char_set);
                count += 1;
            }
            if sends_deadlines {
                contexts[count] = ServiceContext::InvocationPolicies(terms.invocation_policies());
                count += 1;
            }
            let write = |contexts: &[ServiceContext<'_>]| {
                let request = OutgoingRequest {
                    request_id,
                    response,
                    target: route.addressing.target(&route.object_key),
                    operation,
                    contexts,
                };
                encode_request(encoder, route.version, &request)
            };
            with_contexts(&contexts[..count], added, write)
        };
        let as_before = buffer.added.is_empty() && !announces_code_sets && !sends_deadlines;
        let repeats = route.version == Version::V1_2 && as_before;
        let writer = if repeats {
            let kind = HeaderKind {
                route: (route.number, route.addressing.form()),
                response,
                priority: route.propagates_priority().then_some(priority),
            };
            buffer.repeat(kind, operation, request_id, limits, |encoder| {
                header(encoder, None)
            })
        } else {
            buffer.begin(route.version, limits, |encoder, added| {
                header(encoder, Some(added))
            })
        };
        let written = writer.and_then(|mut writer| {
            let encoder = writer.encoder();
            let body = begin_body(encoder, route.version)?;
            (call.perform)(Phase::Arguments(encoder))?;
            end_body(encoder, body);
            writer.finish()
        });
        written.map_err(|error| error.system_exception(Completion::No))
    }

    /// Sends a message. `Some`: the server had closed the connection and nothing has left, which says nothing about this call.
    pub(super) fn send(
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
    pub(super) fn receive(
        &self,
        mut connection: Box<ClientConnection>,
        wanted: MessageType,
        request_id: u32,
        terms: Terms<'_>,
    ) -> Result<Option<(Box<ClientConnection>, Arrived)>, SystemException> {
        match self.await_reply(&mut connection, wanted, request_id, terms) {
            Ok(Some(arrived)) => Ok(Some((connection, arrived))),
            Ok(None) => {
                self.forget(&connection);
                Ok(None)
            }
            Err(error) => {
                // A late reply is recognised by its id and dropped, so the connection stays good.
                if error.kind == SystemExceptionKind::Timeout {
                    self.core.count_late_reply();
                    self.keep(connection);
                }
                Err(error)
            }
        }
    }

    /// Waits for the reply to a request; `None` where the peer closed the connection in good order, without handling it.
    fn await_reply(
        &self,
        connection: &mut ClientConnection,
        wanted: MessageType,
        request_id: u32,
        terms: Terms<'_>,
    ) -> Result<Option<Arrived>, SystemException> {
        loop {
            let header = connection.receive(terms.deadlines.reply, terms.policies.wait_strategy)?;
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

    pub(super) fn decode_reply(
        &self,
        answer: Answer<'_>,
        reply: Option<(ReplyStatus, usize)>,
        route: &Route,
        call: &mut Call<'_>,
    ) -> Result<Attempt<()>, SystemException> {
        let Some((status, body)) = reply else {
            return Err(broken());
        };
        let mut decode = || {
            let mut decoder = Decoder::new(answer.message, answer.header.endian)
                .with_char_set(answer.char_set)
                .with_nesting_limit(self.core.limits.max_nesting)
                .with_context(&self.orb)
                .with_fragments(answer.fragment_starts)
                .at(body);
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
                ReplyStatus::NeedsAddressingMode => {
                    readdress(route, AddressingDisposition::decode(&mut decoder)?)
                }
            })
        };
        decode().unwrap_or_else(|error: punctual_cdr::CdrError| Err(error.system_exception(Completion::Yes)))
    }

    /// Runs a call under the policies in force, its time-outs counted from now, with buffers of its own.
    pub(super) fn under_terms<R>(
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

    #[inline(always)]
    pub(super) fn call_locally(
        &self,
        route: &Route,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        terms: Terms<'_>,
    ) -> Result<Attempt<()>, SystemException> {
        let attempt = collocated::call(&self.core, &self.orb, route, frame, call)?;
        if call.response == Response::WithTarget {
            terms.deadlines.check_completed()?;
        }
        Ok(attempt)
    }
}

impl Terms<'_> {
    /// The time-outs as they travel, the absolute ones by this host's clock.
    fn invocation_policies(&self) -> InvocationPolicies {
        let Deadlines { request, reply } = self.deadlines;
        let request = request.filter(|_| self.policies.request_timeout.is_some());
        let left = [request, reply].map(|deadline| deadline.map(|deadline| deadline.left()));
        // Read last: should the thread be interrupted in between, the server is told too late a time rather than too early a one.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let [request_end, reply_end] = left.map(|left| left.map(|left| now + left));
        InvocationPolicies {
            request_end,
            reply_end,
            relative_request: self.policies.request_timeout,
            relative_roundtrip: self.policies.roundtrip_timeout,
        }
    }
}

impl Target for Reference {
    fn ior(&self) -> &Ior {
        &self.ior
    }

    fn orb(&self) -> &OrbContext {
        &self.orb
    }

    fn invoke(&self, call: &mut Call<'_>) -> Result<(), SystemException> {
        record(|| {
            let priority = crate::current::explicit_priority().map(Priority::value);
            Record::new(Event::CallBegin)
                .priority(priority)
                .detail(operation_id(call.operation))
        });
        let result = self.under_terms(|terms, frame| {
            if self.core.interceptors.client.is_empty() {
                self.deliver(|route, _| self.attempt(route, frame, call, terms))
            } else {
                self.invoke_intercepted(frame, call, terms)
            }
        });
        record(|| Record::new(Event::CallEnd).detail(result.is_err().into()));
        result
    }

    fn start(self: Arc<Self>, call: &mut Call<'_>) -> Result<Option<Box<dyn PendingCall>>, SystemException> {
        self.start_call(call)
    }

    fn locate(&self) -> Result<bool, SystemException> {
        self.under_terms(|terms, frame| self.deliver(|route, _| self.locate_anywhere(route, frame, terms)))
    }

    fn forwarded(&self) -> Option<Ior> {
        self.forwarded.load_full().map(|route| route.ior().clone())
    }

    fn with_policies(&self, overrides: PolicyOverrides) -> Arc<dyn Target> {
        Self::of_route(
            &self.core,
            Arc::clone(&self.ior),
            Arc::clone(&self.route),
            self.forwarded.load_full(),
            overrides.within(&self.policies.overrides),
        )
    }

    fn policies_in_force(&self) -> PoliciesInForce {
        PoliciesInForce::clone(&self.policies.in_force(&self.core.policies))
    }

    fn inconsistent_policies(&self) -> Vec<PolicyConflict> {
        let forwarded = self.forwarded.load_full();
        let route = forwarded.as_ref().unwrap_or(&self.route);
        if route.is_local {
            return Vec::new();
        }
        let policies = self.policies.in_force(&self.core.policies);
        // Where the thread's own has no CORBA priority, calls fail for another reason.
        let priority = self.caller_priority(route).unwrap_or(Priority::MIN);
        route.conflicts(priority, &policies)
    }
}

/// The server asks for another form of target. Source: CORBA 3.3 Part 2, 9.4.3 (NEEDS_ADDRESSING_MODE).
///
/// Fails with NO_IMPLEMENT where the request was in that form.
pub(super) fn readdress<R>(
    route: &Route,
    form: AddressingDisposition,
) -> Result<Attempt<R>, SystemException> {
    let refused = SystemException::new(SystemExceptionKind::NoImplement, Minor::NONE, Completion::No);
    if route.addressing.change(form, route.version) {
        Ok(Attempt::Again(refused))
    } else {
        Err(refused)
    }
}

pub(super) fn closed() -> SystemException {
    SystemException::new(
        SystemExceptionKind::Transient,
        Minor::CONNECTION_LOST,
        Completion::No,
    )
}

pub(super) fn broken() -> SystemException {
    SystemException::new(
        SystemExceptionKind::CommFailure,
        Minor::CONNECTION_LOST,
        Completion::No,
    )
}
