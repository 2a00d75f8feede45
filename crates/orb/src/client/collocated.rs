//! Calls to objects of the same ORB: encoded and decoded like other calls, but on the calling thread and
//! without a connection. A servant cannot distinguish them, and caller and servant never share arguments.

use std::sync::Arc;

use punctual_cdr::{CharSet, Decode, Decoder, Encoder, Endian, Ior};
use punctual_lane::Disposition;
use punctual_poa::InFlight;
use punctual_stub::{
    Call, ContextProperties, OrbContext, Outcome, PendingResponse, Phase, RequestOrigin, Response, ReusePool,
    Servant, Upcall,
};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::{
    call::{Attempt, CallFrame},
    call_context::CallContext,
    collocated_reply,
    core::ClientCore,
    reference::Reference,
    route::Route,
};
use crate::{
    PoaManagerState, PriorityModel, current,
    interception::{
        AddedContexts, CallKind, Contexts, SeenRequest, ServerEnd, ServerFlow, ServerRequest, enter_slots,
    },
    poa_state::{
        core::PoaCore,
        object_search::{Search, not_serving},
    },
    server::{ActiveObject, Demultiplexed, Placement, run_servant},
};

impl Reference {
    /// Calls an object of this ORB.
    #[inline(always)]
    pub(super) fn call_locally(
        &self,
        route: &Route,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        context: &CallContext<'_>,
    ) -> Result<Attempt<()>, SystemException> {
        let attempt = call_on_this_thread(&self.core, &self.orb, route, frame, call, context)?;
        if context.response(call.response) == Response::WithTarget {
            context.deadlines.check_completed()?;
        }
        Ok(attempt)
    }

    /// Returns whether this ORB has the object.
    pub(super) fn locate_locally(&self, route: &Route) -> bool {
        matches!(
            self.core.objects.demultiplex(&route.object_key),
            Demultiplexed::Object(_)
        ) || self.core.objects.might_serve(&route.object_key)
    }
}

#[inline(always)]
fn call_on_this_thread(
    core: &ClientCore,
    orb: &OrbContext,
    route: &Route,
    frame: &mut CallFrame,
    call: &mut Call<'_>,
    context: &CallContext<'_>,
) -> Result<Attempt<()>, SystemException> {
    let CallFrame {
        request,
        reply,
        arena,
        pool,
        seen,
        ..
    } = frame;
    let (request, added) = request.clear();
    let limits = &core.configuration.limits;
    let mut encoder = Encoder::new(request, Endian::NATIVE)
        .with_char_set(CharSet::Utf8)
        .with_limit(limits.max_message_size)
        .with_nesting_limit(limits.max_nesting);
    (call.perform)(Phase::Arguments(&mut encoder)).map_err(|error| error.system_exception(Completion::No))?;

    pool.set_max_kept(core.configuration.limits.max_kept_buffer);
    let two_way = context.response(call.response) == Response::WithTarget;
    let local = Local {
        core,
        orb,
        key: &route.object_key,
        operation: call.operation,
        two_way,
        context,
    };
    let outcome = loop {
        arena.reset();
        let arguments = local.reader(request).with_arena(arena);
        let served = if core.interceptors.server.is_empty() {
            local.serve(arguments, reply, pool)
        } else {
            let seen = &mut seen.get_or_insert_default().served;
            local.serve_intercepted(arguments, (reply, pool), (added, seen))
        };
        match served {
            Ok(outcome) => break outcome,
            Err(NotServed::Failed(exception)) => return Err(exception),
            Err(NotServed::Forward(ior)) => return Ok(Attempt::Forward(ior)),
            Err(NotServed::Held(poa)) => local.wait_while_held(&poa)?,
            Err(NotServed::Ending) => {
                let deadline = context.deadlines.request.map(|deadline| deadline.at);
                core.objects.wait_while_ending(&route.object_key, deadline)?;
            }
        }
    };
    match outcome {
        _ if !two_way => Ok(Attempt::Done(())),
        Err(exception) => Err(exception),
        Ok(outcome) => decode_results(outcome, local.reader(reply), call),
    }
}

/// Request that stays on the calling thread.
struct Local<'c> {
    core: &'c ClientCore,
    orb: &'c OrbContext,
    key: &'c [u8],
    operation: &'c str,
    two_way: bool,
    context: &'c CallContext<'c>,
}

impl<'c> Local<'c> {
    /// Fails if the object does not exist; callers of oneway operations learn this, too.
    #[inline(always)]
    fn serve(
        &self,
        arguments: Decoder<'_>,
        reply: &mut Vec<u8>,
        pool: &mut ReusePool,
    ) -> Result<Result<Outcome, SystemException>, NotServed> {
        reply.clear();
        let outcome = {
            let (object, placement) = self.find()?;
            let _native = placement.enter();
            let _current = current::during_upcall(placement.current, object.transform.as_ref());
            self.run(&*object.servant, arguments, reply, pool)
        };
        // A servant that answers later does not keep its object in use.
        Ok(answered(outcome, reply))
    }

    #[inline(always)]
    fn reader<'d>(&self, octets: &'d [u8]) -> Decoder<'d>
    where
        'c: 'd,
    {
        Decoder::new(octets, Endian::NATIVE)
            .with_char_set(CharSet::Utf8)
            .with_nesting_limit(self.core.configuration.limits.max_nesting)
            .with_decoded_limit(self.core.configuration.limits.max_decoded_size)
            .with_context(self.orb)
    }

    #[inline(always)]
    fn find(&self) -> Result<(InFlight<'c, ActiveObject>, Placement), NotServed> {
        let (object, model) = match self.core.objects.demultiplex(self.key) {
            Demultiplexed::Object(object) => {
                let model = object.model;
                (object, model)
            }
            Demultiplexed::Unknown => self.search()?,
            Demultiplexed::Published(_) => return Err(not_exist().into()),
        };
        if object.poa.processing.serving_pool() != object.poa.pool_id()
            && let Some(reason) = not_served(&object.poa)
        {
            return Err(reason);
        }
        let placement = object.placement_collocated(&self.core.configuration, model)?;
        Ok((object, placement))
    }

    /// Searches for an object that is not active, and its priority model.
    #[cold]
    fn search(&self) -> Result<(InFlight<'c, ActiveObject>, Option<PriorityModel>), NotServed> {
        loop {
            return match self.core.objects.search(self.key) {
                Search::NotActive(poa) => match not_served(&poa) {
                    Some(reason) => Err(reason),
                    // Its manager has become active meanwhile.
                    None => continue,
                },
                Search::Ending => Err(NotServed::Ending),
                Search::Object(object, model) => Ok((object, model)),
                Search::Forward(ior) => Err(NotServed::Forward(ior)),
                Search::Failed(exception) if exception.minor == Minor::TARGET_KEY_UNKNOWN => {
                    Err(not_exist().into())
                }
                Search::Failed(exception) => Err(exception.into()),
            };
        }
    }

    /// Waits, without the object, until the adapter's manager holds requests no longer. The request has not
    /// reached the servant, so its own deadline ends the wait.
    ///
    /// Fails with TIMEOUT after that, TRANSIENT if too many calls wait, OBJECT_NOT_EXIST if the adapter has
    /// been destroyed, and BAD_INV_ORDER if the ORB has been shut down.
    #[cold]
    fn wait_while_held(&self, poa: &PoaCore) -> Result<(), SystemException> {
        let pools = &self.core.pools;
        let deadline = self.context.deadlines.request.map(|deadline| deadline.at);
        poa.processing
            .manager
            .wait_while_holding(deadline, || poa.is_destroyed() || pools.are_shut_down())?;
        if pools.are_shut_down() {
            let (kind, minor) = (SystemExceptionKind::BadInvOrder, Minor::OMG_ORB_SHUT_DOWN);
            return Err(SystemException::new(kind, minor, Completion::No));
        }
        if poa.is_destroyed() {
            return Err(not_exist());
        }
        Ok(())
    }

    /// Serves the request with interceptors. A request that is held ends here and starts again as a new one,
    /// as at a lane.
    #[inline(never)]
    fn serve_intercepted<'d>(
        &self,
        arguments: Decoder<'d>,
        (reply, pool): (&'d mut Vec<u8>, &mut ReusePool),
        (added, seen): (&'d AddedContexts, &'d mut SeenRequest),
    ) -> Result<Result<Outcome, SystemException>, NotServed>
    where
        'c: 'd,
    {
        let interceptors = &self.core.interceptors;
        let _slots = enter_slots(&interceptors.slots, &mut seen.slots);
        let request = ServerRequest {
            request_id: interceptors.new_request_id(),
            operation: self.operation,
            kind: if self.two_way {
                CallKind::TwoWay
            } else {
                CallKind::Oneway
            },
            object_key: Some(self.key),
            contexts: Contexts::Added(added),
            peer: None,
            lane: None,
            endian: Endian::NATIVE,
            is_collocated: true,
            slot_table: &interceptors.slots,
        };
        reply.clear();
        let (flow, started) = ServerFlow::start(interceptors, request, &mut seen.added);
        if let Err(end) = started {
            return outcome_of(flow.end(end, None));
        }
        let (object, placement) = match self.find() {
            Ok(found) => found,
            Err(NotServed::Forward(ior)) => return outcome_of(flow.end(ServerEnd::Forward(ior), None)),
            Err(NotServed::Failed(exception)) => {
                return match flow.end(ServerEnd::Failed(exception), None) {
                    ServerEnd::Failed(exception) => Err(exception.into()),
                    end => outcome_of(end),
                };
            }
            Err(later @ (NotServed::Held(_) | NotServed::Ending)) => {
                return match flow.end(ServerEnd::Moved(Disposition::NoReply), None) {
                    ServerEnd::Moved(_) => Err(later),
                    end => outcome_of(end),
                };
            }
        };
        // What interceptors see at the end does not keep the object in use.
        let (servant, poa) = (Arc::clone(&object.servant), Arc::clone(&object.poa));
        let transform = object.transform.clone();
        let enter = || {
            let native = placement.enter();
            (
                current::during_upcall(placement.current, transform.as_ref()),
                native,
            )
        };
        let mut upcall = Some((enter(), object));
        let (flow, ready) =
            flow.receive_request(servant.repository_id(), &poa.policies.user, arguments.clone());
        let end = match ready {
            Err(end) => end,
            Ok(()) => {
                let mut result = self.run(&*servant, arguments, reply, pool);
                if matches!(result, Ok(Outcome::Deferred)) {
                    upcall = None;
                    result = answered(result, reply);
                }
                ServerEnd::of(result, self.two_way.then(|| self.reader(reply)))
            }
        };
        // The ending points of a request that has been answered later are as those of another.
        let _entered = upcall.is_none().then(enter);
        let results = self.two_way.then(|| self.reader(reply));
        outcome_of(flow.end(end, results.as_ref()))
    }

    #[inline(always)]
    fn run(
        &self,
        servant: &dyn Servant,
        arguments: Decoder<'_>,
        reply: &mut Vec<u8>,
        pool: &mut ReusePool,
    ) -> Result<Outcome, SystemException> {
        let results = Encoder::new(reply, Endian::NATIVE)
            .with_char_set(CharSet::Utf8)
            .with_limit(self.core.configuration.limits.max_message_size)
            .with_nesting_limit(self.core.configuration.limits.max_nesting);
        let mut upcall = Upcall::new(self.operation, arguments, results, 1, self.two_way, pool);
        upcall.set_origin(self);
        let result = run_servant(servant, &mut upcall);
        upcall.concluded(result)
    }
}

/// Waits for the answer if the servant gives it later.
#[inline(always)]
fn answered(
    outcome: Result<Outcome, SystemException>,
    reply: &mut Vec<u8>,
) -> Result<Outcome, SystemException> {
    match outcome {
        Ok(Outcome::Deferred) => collocated_reply::wait(reply),
        outcome => outcome,
    }
}

impl RequestOrigin for Local<'_> {
    fn peer(&self) -> Option<punctual_giop::Peer> {
        None
    }

    fn set_context_properties(&self, properties: Option<ContextProperties>) {
        current::set_context_properties(properties);
    }

    fn object_key(&self) -> Option<&[u8]> {
        Some(self.key)
    }

    fn defer(&self, response_expected: bool) -> Result<Arc<dyn PendingResponse>, SystemException> {
        let limits = self.core.configuration.limits;
        let deadline = self.context.deadlines.of(Response::WithTarget);
        Ok(collocated_reply::defer(limits, deadline, response_expected))
    }
}

/// Why a collocated call reaches no servant.
enum NotServed {
    Failed(SystemException),
    Forward(Ior),
    /// The manager of this adapter holds requests.
    Held(Arc<PoaCore>),
    /// The object's last incarnation has not ended yet.
    Ending,
}

impl From<SystemException> for NotServed {
    fn from(exception: SystemException) -> Self {
        Self::Failed(exception)
    }
}

/// Why a request is not served now; `None`: the adapter's manager is active.
#[cold]
fn not_served(poa: &Arc<PoaCore>) -> Option<NotServed> {
    match poa.processing.manager.state() {
        PoaManagerState::Active => None,
        PoaManagerState::Holding(_) => Some(NotServed::Held(Arc::clone(poa))),
        PoaManagerState::Discarding | PoaManagerState::Inactive => Some(not_serving(poa).into()),
    }
}

/// Outcome of a request that has passed through the interceptors.
fn outcome_of(end: ServerEnd) -> Result<Result<Outcome, SystemException>, NotServed> {
    match end {
        ServerEnd::Replied => Ok(Ok(Outcome::NoException)),
        ServerEnd::Raised => Ok(Ok(Outcome::UserException)),
        ServerEnd::Failed(exception) => Ok(Err(exception)),
        ServerEnd::Forward(ior) => Err(NotServed::Forward(ior)),
        // No lane is involved, and deferred replies have been awaited.
        ServerEnd::Moved(_) | ServerEnd::Deferred => Err(not_exist().into()),
    }
}

#[inline(always)]
fn decode_results(
    outcome: Outcome,
    mut decoder: Decoder<'_>,
    call: &mut Call<'_>,
) -> Result<Attempt<()>, SystemException> {
    let result = match outcome {
        Outcome::Forwarded => {
            let ior = Ior::decode(&mut decoder);
            return ior
                .map(Attempt::Forward)
                .map_err(|error| error.system_exception(Completion::No));
        }
        Outcome::NoException | Outcome::Deferred => {
            (call.perform)(Phase::Results(&mut decoder)).map(|()| true)
        }
        Outcome::UserException => {
            String::decode(&mut decoder).and_then(|id| (call.raised)(&id, &mut decoder))
        }
    };
    match result {
        Ok(true) => Ok(Attempt::Done(())),
        Ok(false) => {
            let minor = Minor::EXCEPTION_UNDECLARED;
            Err(SystemException::new(
                SystemExceptionKind::Unknown,
                minor,
                Completion::Yes,
            ))
        }
        Err(error) => Err(error.system_exception(Completion::Yes)),
    }
}

fn not_exist() -> SystemException {
    SystemException::new(
        SystemExceptionKind::ObjectNotExist,
        Minor::OBJECT_DEACTIVATED,
        Completion::No,
    )
}
