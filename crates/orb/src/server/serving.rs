//! Step 8 of a call: object and priority of the request are determined, its servant is called, or an
//! operation of `CORBA::Object`, and the reply is completed.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use punctual_cdr::{Decoder, Encode, Encoder, Ior};
use punctual_flight::{Event, Record, model, record};
use punctual_giop::{BIND_PRIORITY_BAND, IncomingRequest, Peer, ReplyStatus, ResponseFlags, Version};
use punctual_lane::{Disposition, MessageError, NotExecuted, RequestMessage};
use punctual_poa::InFlight;
use punctual_stub::{ContextProperties, Outcome, PendingResponse, RequestOrigin, ReusePool, Servant, Upcall};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use super::{
    ActiveObject, Demultiplexed, Placement, RequestDispatcher, band_binding,
    reply::{ReplyHeaderAt, begin_reply, fail, finish, forward, is_refusal, not_executed, refuse, sent_at},
};
use crate::{
    PoaManagerState, PriorityModel, current,
    poa_state::{
        any_servant::no_object,
        core::PoaCore,
        object_search::{Search, not_serving},
    },
    pools::lane_data::LaneContext,
};

/// Request that is being served.
pub(super) struct Serving<'r> {
    pub(super) dispatcher: &'r RequestDispatcher,
    pub(super) lane: &'r LaneContext,
    pub(super) message: &'r RequestMessage<'r, RequestDispatcher>,
    pub(super) incoming: &'r IncomingRequest<'r>,
}

/// Outcome of a request that reaches no servant here.
pub(super) enum NotCalled {
    /// The request has bound its connection to a band, and is complete.
    Bound,
    /// The request moves to another lane, or is held.
    Moved(Disposition),
    /// The client should send the request to another reference.
    Forward(Ior),
    /// The adapter does not serve it now, through no fault of its sender.
    NotServing(SystemException),
    /// The request is refused, and its connection is charged for it.
    Refused(SystemException, NotExecuted),
}

impl Serving<'_> {
    /// Calls the servant of an ORB without interceptors.
    #[inline(always)]
    pub(super) fn answer(
        &self,
        arguments: Decoder<'_>,
        pool: &mut ReusePool,
        reply: &mut Vec<u8>,
    ) -> Result<Disposition, MessageError> {
        let response = self.incoming.header.response;
        let (encoder, reply_header) = self.begin_reply(reply)?;
        let (object, placement) = match self.resolve() {
            Ok(found) => found,
            Err(reason) => return self.answer_uncalled(reason, encoder, reply_header),
        };
        // The client of such a oneway call waits until the server has accepted it, and not for the servant.
        let is_answered = response == ResponseFlags::WithServer;
        let encoder = if is_answered {
            finish(encoder, response)?;
            self.message
                .reply_early(self.dispatcher, reply, placement.current);
            self.resume(reply)
        } else {
            encoder
        };
        let (end, mut encoder) = {
            let _native = placement.enter();
            let _current = current::during_upcall(placement.current, object.transform.as_ref());
            self.run(&*object.servant, arguments, encoder, pool, self)
        };
        drop(object);
        let written = match end {
            Err(exception) if is_refusal(&exception) => {
                let written = if is_answered {
                    Ok(false)
                } else {
                    fail(encoder, reply_header, &exception, response)
                };
                return not_executed(placement.current, written, NotExecuted::Refused);
            }
            _ if is_answered => return Ok(Disposition::NoReply),
            Ok(Outcome::NoException) => finish(encoder, response),
            Ok(Outcome::UserException) => {
                reply_header.set_status(&mut encoder, ReplyStatus::UserException);
                finish(encoder, response)
            }
            Ok(Outcome::Forwarded) => {
                reply_header.set_status(&mut encoder, ReplyStatus::LocationForward);
                let written = finish(encoder, response);
                return not_executed(placement.current, written, NotExecuted::Elsewhere);
            }
            Ok(Outcome::Deferred) => return Ok(Disposition::NoReply),
            Err(exception) => fail(encoder, reply_header, &exception, response),
        };
        sent_at(placement.current, written)
    }

    /// Answers a request that reaches no servant here.
    #[cold]
    fn answer_uncalled(
        &self,
        reason: NotCalled,
        encoder: Encoder<'_>,
        reply_header: ReplyHeaderAt,
    ) -> Result<Disposition, MessageError> {
        let response = self.incoming.header.response;
        let own = self.lane.priority();
        match reason {
            NotCalled::Bound => sent_at(own, finish(encoder, response)),
            NotCalled::Moved(disposition) => Ok(disposition),
            NotCalled::Forward(ior) => {
                let written = forward(encoder, reply_header, &ior, response);
                not_executed(own, written, NotExecuted::Elsewhere)
            }
            NotCalled::NotServing(exception) => {
                let written = fail(encoder, reply_header, &exception, response);
                not_executed(own, written, NotExecuted::Elsewhere)
            }
            NotCalled::Refused(exception, reason) => {
                let request = (self.lane, &self.incoming.header);
                let written = refuse(encoder, reply_header, &exception, request);
                not_executed(own, written, reason)
            }
        }
    }

    /// Refuses a request whose deadline has passed: before it was received, or in the lane's queue, which is
    /// not its client's fault.
    #[cold]
    pub(super) fn refuse_expired(&self, reply: &mut Vec<u8>) -> Result<Disposition, MessageError> {
        self.lane.count_expired();
        let (kind, minor) = (SystemExceptionKind::Timeout, Minor::REQUEST_EXPIRED);
        let exception = SystemException::new(kind, minor, Completion::No);
        let (encoder, reply_header) = self.begin_reply(reply)?;
        let written = fail(encoder, reply_header, &exception, self.incoming.header.response);
        match self.message.read_at {
            None => not_executed(self.lane.priority(), written, NotExecuted::Elsewhere),
            Some(_) => sent_at(self.lane.priority(), written),
        }
    }
}

impl<'r> Serving<'r> {
    /// Finds the object of the request and the priorities at which it is called.
    #[inline(always)]
    pub(super) fn resolve(&self) -> Result<(InFlight<'r, ActiveObject>, Placement), NotCalled> {
        let Self {
            dispatcher,
            lane,
            message,
            ..
        } = *self;
        let origin = message.peer;
        let request = &self.incoming.header;
        let (object, model) = match request
            .target
            .object_key()
            .map(|key| dispatcher.objects.demultiplex(key))
        {
            Some(Demultiplexed::Object(object)) => {
                let model = object.model;
                (object, model)
            }
            Some(Demultiplexed::Published(ior)) => return Err(NotCalled::Forward((*ior).clone())),
            Some(Demultiplexed::Unknown) => self.search()?,
            None => return Err(NotCalled::Refused(no_object(), NotExecuted::Refused)),
        };
        if object.poa.processing.serving_pool() != lane.pool()
            && let Some(instead) = self.not_here(&object)
        {
            return Err(instead);
        }
        // Adapters without a priority model leave this operation to their servants, which do not support it.
        if request.operation == BIND_PRIORITY_BAND
            && let Some(model) = model
        {
            return Err(
                match band_binding::bind((&object, model), lane, origin, request.contexts) {
                    Ok(()) => NotCalled::Bound,
                    Err(exception) => NotCalled::Refused(exception, NotExecuted::Refused),
                },
            );
        }
        let placement = match self.incoming.priority.transpose() {
            Ok(priority) => object.placement(
                &dispatcher.configuration,
                lane,
                origin,
                message.may_move,
                model,
                priority,
            ),
            Err(error) => Err(error.system_exception(Completion::No)),
        };
        let mut placement = match placement {
            Ok(placement) => placement,
            Err(exception) => {
                let charge = object.charge(lane, origin, &exception);
                return Err(NotCalled::Refused(exception, charge));
            }
        };
        if let Some(target) = placement.elsewhere.take() {
            return Err(NotCalled::Moved(Disposition::Redispatch(target)));
        }
        record(|| {
            let model = match model {
                None => model::NONE,
                Some(PriorityModel::ClientPropagated { .. }) => model::CLIENT_PROPAGATED,
                Some(PriorityModel::ServerDeclared(_)) => model::SERVER_DECLARED,
            };
            let priority = placement.current.map(Priority::value);
            Record::new(Event::Placed).priority(priority).detail(model)
        });
        Ok((object, placement))
    }

    /// Searches for an object that is not active, and its priority model.
    #[cold]
    fn search(&self) -> Result<(InFlight<'r, ActiveObject>, Option<PriorityModel>), NotCalled> {
        let key = self.incoming.header.target.object_key().unwrap_or_default();
        loop {
            return match self.dispatcher.objects.search(key) {
                Search::NotActive(poa) => match not_served(&poa) {
                    Some(instead) => Err(instead),
                    // Its manager has become active meanwhile.
                    None => continue,
                },
                Search::Ending => {
                    let limits = self.dispatcher.objects.held_while_ending;
                    Err(NotCalled::Moved(Disposition::Hold(limits)))
                }
                Search::Object(object, model) => Ok((object, model)),
                Search::Forward(ior) => Err(NotCalled::Forward(ior)),
                Search::Failed(exception) if exception.kind == SystemExceptionKind::ObjectNotExist => {
                    Err(NotCalled::Refused(exception, NotExecuted::Refused))
                }
                Search::Failed(exception) if exception.minor == Minor::SERVER_STARTING => {
                    Err(NotCalled::Refused(exception, NotExecuted::Elsewhere))
                }
                Search::Failed(exception) => Err(NotCalled::NotServing(exception)),
            };
        }
    }

    /// Decides about a request that no lane of this pool serves now. `None`: the adapter's manager has become
    /// active.
    #[cold]
    fn not_here(&self, object: &ActiveObject) -> Option<NotCalled> {
        not_served(&object.poa).or_else(|| {
            // An outdated or hand-made reference: the object belongs to another pool.
            let elsewhere = object.poa.pool_id() != self.lane.pool();
            elsewhere.then(|| {
                let key = self.incoming.header.target.object_key().unwrap_or_default();
                NotCalled::Forward(self.dispatcher.objects.reference_of(object, key))
            })
        })
    }

    /// Calls the servant, which writes its results after the reply's header. `origin`: properties of the
    /// request that the servant can query.
    #[inline(always)]
    pub(super) fn run<'b>(
        &self,
        servant: &dyn Servant,
        arguments: Decoder<'_>,
        reply: Encoder<'b>,
        pool: &'b mut ReusePool,
        origin: &dyn RequestOrigin,
    ) -> (Result<Outcome, SystemException>, Encoder<'b>) {
        let request = &self.incoming.header;
        let alignment = if self.message.header.version >= Version::V1_2 {
            8
        } else {
            1
        };
        let two_way = request.response == ResponseFlags::WithTarget;
        let mut upcall = Upcall::new(request.operation, arguments, reply, alignment, two_way, pool);
        upcall.set_origin(origin);
        let result = run_servant(servant, &mut upcall);
        (upcall.concluded(result), upcall.into_reply())
    }

    /// Starts a reply with the header of a successful one.
    #[inline(always)]
    pub(super) fn begin_reply<'b>(
        &self,
        reply: &'b mut Vec<u8>,
    ) -> Result<(Encoder<'b>, ReplyHeaderAt), MessageError> {
        let Self {
            dispatcher,
            lane,
            message,
            incoming,
        } = *self;
        begin_reply(
            dispatcher,
            lane,
            message.code_sets,
            &incoming.header,
            message.header,
            reply,
        )
    }
}

/// Decides about a request whose adapter's manager is not active.
fn not_served(poa: &PoaCore) -> Option<NotCalled> {
    match poa.processing.manager.state() {
        PoaManagerState::Active => None,
        PoaManagerState::Holding(limits) => Some(NotCalled::Moved(Disposition::Hold(limits))),
        PoaManagerState::Discarding | PoaManagerState::Inactive => {
            Some(NotCalled::NotServing(not_serving(poa)))
        }
    }
}

impl RequestOrigin for Serving<'_> {
    fn peer(&self) -> Option<Peer> {
        Some(self.message.peer.peer)
    }

    fn set_context_properties(&self, properties: Option<ContextProperties>) {
        current::set_context_properties(properties);
    }

    fn object_key(&self) -> Option<&[u8]> {
        self.incoming.header.target.object_key()
    }

    fn defer(&self, response_expected: bool) -> Result<Arc<dyn PendingResponse>, SystemException> {
        self.defer_reply(response_expected, None)
    }
}

/// Runs an operation of the object itself or of `CORBA::Object`. A panic of the servant becomes UNKNOWN.
#[inline(always)]
pub(crate) fn run_servant(servant: &dyn Servant, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
    // Operations of `CORBA::Object` begin with an underscore; so do attributes, which `object_operation`
    // leaves alone.
    if upcall.operation().starts_with('_')
        && !servant.executes_object_operations()
        && let Some(result) = object_operation(servant, upcall)
    {
        return result;
    }
    dispatch(servant, upcall)
}

#[inline(always)]
fn dispatch(servant: &dyn Servant, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
    // The servant is shared and the next request overwrites the buffers: no inconsistent state remains
    // visible.
    record(|| Record::new(Event::UpcallBegin).priority(current::explicit_priority().map(Priority::value)));
    let dispatched = guarded(|| servant.dispatch(upcall));
    record(|| Record::new(Event::UpcallEnd));
    dispatched?.map_err(SystemException::relayed)
}

/// Runs code of the servant. A panic becomes UNKNOWN.
#[inline(always)]
fn guarded<R>(run: impl FnOnce() -> R) -> Result<R, SystemException> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|_| {
        let (kind, minor) = (SystemExceptionKind::Unknown, Minor::SERVANT_PANICKED);
        SystemException::new(kind, minor, Completion::Maybe)
    })
}

/// Runs an operation of `CORBA::Object`; `None` for other operations.
///
/// Source: CORBA 3.3 part 2, 9.4.2.2 (names on the wire).
fn object_operation(
    servant: &dyn Servant,
    upcall: &mut Upcall<'_, '_>,
) -> Option<Result<(), SystemException>> {
    Some(match upcall.operation() {
        "_is_a" => upcall
            .argument::<&str>()
            .and_then(|id| guarded(|| servant.is_a(id)))
            .and_then(|answer| upcall.reply(|reply| answer.encode(reply))),
        // The second spelling is that of GIOP 1.0.
        "_non_existent" | "_not_existent" => upcall.reply(|reply| false.encode(reply)),
        "_repository_id" => upcall.reply(|reply| servant.repository_id().encode(reply)),
        "_component" => upcall.reply(|reply| Ior::default().encode(reply)),
        "_interface" => guarded(|| servant.interface()).and_then(|interface| {
            let unknown =
                || SystemException::new(SystemExceptionKind::IntfRepos, Minor::NONE, Completion::No);
            let interface = interface.ok_or_else(unknown)?;
            upcall.reply(|reply| interface.ior().encode(reply))
        }),
        _ => return None,
    })
}
