//! Movement of distributable threads: scheduling points 4 to 7 of \[Gill 2004\] figure 4, as portable
//! interceptors.

use std::{sync::Arc, time::SystemTime};

use punctual_cdr::Endian;
use punctual_giop::TAO_ORB_TYPE;
use punctual_orb::interceptors::{
    CallKind, ClientRequestInfo, ClientRequestInterceptor, Interrupt, OrbInitInfo, OrbInitializer, Raised,
    ServerRequestInfo, ServerRequestInterceptor,
};
use punctual_sched::dynamic::{SchedulingParameters, Time};
use punctual_transport::Peer;
use punctual_types::{Completion, SystemException, SystemExceptionKind};

use crate::{
    accepted_claims::AcceptedClaims,
    activations::{self, Arrival, ClaimLimit, CurrentThread, OpaqueParameters},
    dispatcher::now,
    endsystem::Endsystem,
    error::Interrupted,
    remote::is_control,
    scheduling::RtScheduling,
    wire::{CarriedParameters, Clocks, Reader, Reading, SchedulingContext, UtcTime},
};

/// Service context of distributable threads: `IOP::SchedulingInfo`.
const CONTEXT: u32 = 30;

/// Name of both interceptors.
const NAME: &str = "RTScheduling";

/// Registers the interceptors.
///
/// # Panics
/// The ORB has an `RtScheduling` already.
impl OrbInitializer for RtScheduling {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
        let interceptor = Arc::new(SchedulingInterceptor(Arc::clone(&self.endsystem)));
        let expected = "an ORB has one RtScheduling";
        info.add_client_request_interceptor(interceptor.clone())
            .expect(expected);
        info.add_server_request_interceptor(interceptor).expect(expected);
    }
}

/// Interceptor that moves distributable threads with their calls.
///
///
/// | Call | At the caller | At the servant's host |
/// |---|---|---|
/// | two-way | the head leaves with the request and returns with its reply or failure | an activation, from before the object is located to the reply |
/// | oneway, asynchronous | continues; sends a new thread with a new id and the implicit parameters | that thread begins and ends there |
/// | two-way, same ORB | the head stays; a scheduling point before and after | the servant runs as a part of the caller's thread |
/// | polling for an asynchronous reply | others run during the poll | |
/// | oneway, asynchronous, same ORB | waits while the new thread has its OS thread | as above |
///
/// The context of a peer counts as far as the endsystem accepts its claims (`accepted_claims.rs`), within the
/// limit of the lane that serves the request (`dispatcher/lane_limit.rs`).
///
/// A request without a context, or with one that does not count, runs outside of all distributable threads,
/// even on an OS thread that waits for the reply to one.
struct SchedulingInterceptor(Arc<Endsystem>);

impl ClientRequestInterceptor for SchedulingInterceptor {
    fn name(&self) -> &str {
        NAME
    }

    fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        let is_control = is_control(info.effective_target());
        let is_two_way = info.kind() == CallKind::TwoWay;
        let sent = if is_control {
            None
        } else if !is_two_way {
            activations::pass_if_any(&self.0).map_err(unsent)?;
            activations::current_thread(&self.0)
                .ok()
                .map(|caller| self.spawned_by(caller))
        } else if info.is_collocated() {
            activations::pass_if_any(&self.0).map_err(unsent)?;
            None
        } else {
            activations::send(&self.0, info.target()).map_err(unsent)?
        };
        if is_two_way {
            activations::begin_call(sent.as_ref());
        } else if waits_oneway(info) {
            activations::poll(&self.0)?;
        }
        let Some(sent) = sent else {
            return Ok(());
        };
        let context = context(&sent, !is_two_way);
        let octets = match info.effective_orb_type() {
            // It takes any octets for those of its own layout.
            Some(TAO_ORB_TYPE) => self.0.peer_layout.encode(&context, Endian::NATIVE),
            _ => Some(context.encode(&clocks(), Endian::NATIVE)),
        };
        let Some(octets) = octets else {
            return Ok(());
        };
        if let Err(refused) = info.add_request_service_context(CONTEXT, &octets) {
            if is_two_way {
                self.end_call(Completion::No)?;
            }
            return Err(refused.into());
        }
        Ok(())
    }

    fn send_poll(&self, _: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok(activations::poll(&self.0)?)
    }

    fn receive_reply(&self, info: &ClientRequestInfo<'_>) -> Result<(), SystemException> {
        match info.kind() {
            CallKind::TwoWay if info.is_collocated() => {
                self.end_call(Completion::Yes)?;
                self.pass(Completion::Yes)
            }
            CallKind::TwoWay => self.end_call(Completion::Yes),
            CallKind::Oneway if !waits_oneway(info) => Ok(()),
            CallKind::Oneway | CallKind::Asynchronous => self.pass(Completion::Yes),
        }
    }

    fn receive_exception(&self, info: &ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        let (cancelled, completed) = match info.exception() {
            Some(Raised::System(exception)) => (
                exception.kind == SystemExceptionKind::ThreadCancelled,
                exception.completed,
            ),
            Some(Raised::User(_)) | None => (false, Completion::Yes),
        };
        match info.kind() {
            CallKind::TwoWay => match activations::end_call(&self.0, cancelled) {
                // The call's own exception is more specific than the passed deadline.
                Ok(()) | Err(Interrupted::DeadlinePassed) => Ok(()),
                Err(interrupted) => Err(interrupted.exception_when(completed).into()),
            },
            CallKind::Oneway if !waits_oneway(info) => Ok(()),
            CallKind::Oneway | CallKind::Asynchronous => match self.pass(completed) {
                Err(exception) if exception.kind == SystemExceptionKind::ThreadCancelled => {
                    Err(exception.into())
                }
                Ok(()) | Err(_) => Ok(()),
            },
        }
    }

    fn receive_other(&self, info: &ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        match info.kind() {
            CallKind::TwoWay => self.end_call(Completion::No)?,
            CallKind::Oneway if !waits_oneway(info) => {}
            CallKind::Oneway | CallKind::Asynchronous => self.pass(Completion::Maybe)?,
        }
        Ok(())
    }
}

impl ServerRequestInterceptor for SchedulingInterceptor {
    fn name(&self) -> &str {
        NAME
    }

    fn receive_request_service_contexts(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        let is_separate = !is_callers_own(info);
        let claims = self.claims_of(info);
        let context = match info.get_request_service_context(CONTEXT) {
            Some(data) if is_separate && claims.is_some() => self.read(data, info)?,
            _ => None,
        };
        let resource = self.0.objects.find(info.object_key());
        let arrival = match context {
            Some(context) => Some(self.arrival(&context, claims.unwrap_or(AcceptedClaims::all()), info)?),
            // The resource needs an owner.
            None if resource.is_some() && (is_separate || activations::current_thread(&self.0).is_err()) => {
                Some(self.begun_by(info))
            }
            None => None,
        };
        let is_scheduled = arrival.is_some();
        activations::begin_request(&self.0, is_separate, arrival).map_err(unsent)?;
        if let Some(resource) = resource {
            activations::use_resource(&self.0, resource).map_err(unsent)?;
        }
        if is_scheduled {
            // The scheduler decides, regardless of the request's priority.
            info.keep_native_priority();
        }
        Ok(())
    }

    fn send_reply(&self, _: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        activations::end_request(&self.0).map_err(|exception| exception.with_completion(Completion::Yes))
    }

    fn send_exception(&self, _: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok(activations::end_request(&self.0)?)
    }

    fn send_other(&self, _: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok(activations::end_request(&self.0)?)
    }
}

impl SchedulingInterceptor {
    fn end_call(&self, completed: Completion) -> Result<(), SystemException> {
        activations::end_call(&self.0, false).map_err(|interrupted| interrupted.exception_when(completed))
    }

    /// A scheduling point of the caller, whose head has not been away.
    fn pass(&self, completed: Completion) -> Result<(), SystemException> {
        activations::pass_if_any(&self.0).map_err(|exception| exception.with_completion(completed))
    }

    /// Returns the thread that a call without a waiting caller spawns.
    fn spawned_by(&self, caller: CurrentThread) -> CurrentThread {
        let parameters = caller.implicit.unwrap_or(caller.parameters);
        let opaque = if caller.implicit.is_some() || caller.opaque.implicit.is_some() {
            caller.opaque.implicit
        } else {
            caller.opaque.own
        };
        let id = self.0.ids.next();
        activations::record_spawned(id);
        CurrentThread {
            id,
            parameters,
            implicit: caller.implicit,
            opaque: OpaqueParameters {
                own: opaque,
                implicit: caller.opaque.implicit,
            },
            limit: caller.limit,
        }
    }

    fn read(
        &self,
        data: &[u8],
        info: &ServerRequestInfo<'_>,
    ) -> Result<Option<SchedulingContext>, SystemException> {
        let reader = Reader {
            max_clock_skew: self.0.max_clock_skew,
            endian: info.endian(),
            peer: info.peer().map_or(0, peer_number),
            ..Reader::new(clocks(), self.0.peer_layout)
        };
        match reader.read(data) {
            Ok(Reading::Context(context)) => Ok(Some(context)),
            Ok(Reading::UnknownMajor(_) | Reading::Foreign) => Ok(None),
            Err(malformed) => Err(malformed.system_exception(Completion::No)),
        }
    }

    /// Returns a thread that begins and ends with the request.
    fn begun_by<'a>(&self, info: &'a ServerRequestInfo<'_>) -> Arrival<'a> {
        Arrival {
            id: self.0.ids.next(),
            operation: info.operation(),
            parameters: self.0.default_parameters(),
            implicit: None,
            opaque: OpaqueParameters {
                own: None,
                implicit: None,
            },
            peer: info.peer(),
            limit: limit(info, self.claims_of(info)),
            spawned: true,
        }
    }

    /// Returns which claims of the sender count; `None`: none, and the request runs as one without a context.
    fn claims_of(&self, info: &ServerRequestInfo<'_>) -> Option<AcceptedClaims> {
        match info.peer() {
            Some(peer) => self.0.claims.of(peer),
            // This process itself.
            None => Some(AcceptedClaims::all()),
        }
    }

    fn arrival<'a>(
        &self,
        context: &SchedulingContext,
        claims: AcceptedClaims,
        info: &'a ServerRequestInfo<'_>,
    ) -> Result<Arrival<'a>, SystemException> {
        // The parameters by which the thread is scheduled, and those that travel on unread.
        let understood = |carried: &Option<CarriedParameters>| {
            let (claimed, opaque) = match carried {
                None => (None, None),
                Some(CarriedParameters::Known(known)) => (Some(*known), None),
                Some(CarriedParameters::Unknown(unknown)) => {
                    let (claimed, is_own) = self.0.understand(unknown)?;
                    (claimed, (!is_own).then_some(*unknown))
                }
            };
            let default = |kind| self.0.default_parameters_of(kind);
            let counted = claimed.map(|claimed| claims.limit(claimed, default));
            Ok::<_, SystemException>((counted, opaque))
        };
        let (parameters, own) = understood(&context.parameters)?;
        let (implicit, implicit_opaque) = understood(&context.implicit)?;
        Ok(Arrival {
            id: context.id,
            operation: info.operation(),
            parameters: parameters.unwrap_or_else(|| {
                let deadline = context.parameters.as_ref().and_then(CarriedParameters::deadline);
                let deadline = deadline.filter(|_| claims.accepts_deadlines());
                with_deadline(self.0.default_parameters(), deadline)
            }),
            implicit,
            opaque: OpaqueParameters {
                own,
                implicit: implicit_opaque,
            },
            peer: info.peer(),
            limit: limit(info, Some(claims)),
            spawned: context.begins || info.kind() != CallKind::TwoWay,
        })
    }
}

fn limit(info: &ServerRequestInfo<'_>, claims: Option<AcceptedClaims>) -> ClaimLimit {
    match info.lane() {
        None => ClaimLimit::Caller,
        Some(_) if claims.is_some_and(|claims| claims.above_lane) => ClaimLimit::None,
        Some(lane) => ClaimLimit::Lane(lane),
    }
}

/// Whether the caller of a oneway operation waits for the server, as its scope demands. Meanwhile another
/// thread may run in its place: the one that the request begins, for example.
fn waits_oneway(info: &ClientRequestInfo<'_>) -> bool {
    info.kind() == CallKind::Oneway && info.response_expected() && !info.is_collocated()
}

/// Returns whether the caller itself serves the request as a part of its thread.
fn is_callers_own(info: &ServerRequestInfo<'_>) -> bool {
    info.is_collocated()
        && info.kind() == CallKind::TwoWay
        && info.get_request_service_context(CONTEXT).is_none()
}

fn context(caller: &CurrentThread, begins: bool) -> SchedulingContext {
    let own = caller.opaque.own.map(CarriedParameters::Unknown);
    let implicit = caller.opaque.implicit.map(CarriedParameters::Unknown);
    SchedulingContext {
        id: caller.id,
        parameters: Some(own.unwrap_or(CarriedParameters::Known(caller.parameters))),
        implicit: implicit.or(caller.implicit.map(CarriedParameters::Known)),
        begins,
    }
}

fn clocks() -> Clocks {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    Clocks {
        local: now(),
        utc: UtcTime::from_unix(since_1970.unwrap_or_default()),
    }
}

/// Exception of a call that has not been sent, or not executed.
fn unsent(exception: SystemException) -> SystemException {
    exception.with_completion(Completion::No)
}

/// Sets the deadline of parameters that have one.
fn with_deadline(mut parameters: SchedulingParameters, end: Option<Time>) -> SchedulingParameters {
    use SchedulingParameters::{Deadline, Laxity, RateOrLaxity, Urgency, Utility};
    if let (
        Deadline { deadline, .. }
        | Laxity { deadline, .. }
        | Urgency { deadline, .. }
        | RateOrLaxity { deadline, .. }
        | Utility { deadline, .. },
        Some(end),
    ) = (&mut parameters, end)
    {
        *deadline = end;
    }
    parameters
}

/// Returns a number that identifies the peer, for ids that are unique at one host only.
fn peer_number(peer: Peer) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    peer.hash(&mut hasher);
    hasher.finish()
}
