//! Step 8 of a call, its target: active objects, and the priorities at which their requests run.

use std::sync::Arc;

use punctual_cdr::Ior;
use punctual_flight::{Event, Record, record};
use punctual_lane::{NotExecuted, Redispatch};
use punctual_os::{Scheduling, scheduling};
use punctual_poa::InFlight;
use punctual_stub::Servant;
use punctual_types::{
    Completion, Detail, Minor, Priority, PriorityBand, SystemException, SystemExceptionKind,
};

use crate::{
    PriorityModel,
    config::configuration::Configuration,
    current,
    poa_state::{core::PoaCore, incarnation::Incarnation, object_transform::ObjectTransform},
    pools::{accepted_priorities::Origin, lane_data::LaneContext},
};

/// Object that requests can reach.
pub(crate) struct ActiveObject {
    pub(crate) servant: Arc<dyn Servant>,
    /// Data for its servant activator at its end.
    pub(crate) incarnation: Option<Incarnation>,
    pub(crate) poa: Arc<PoaCore>,
    /// Priority model of its adapter, with the object's own priority if it has one. Objects for which it
    /// stands in may have other priorities: [`Search`](crate::poa_state::object_search::Search) has theirs.
    pub(crate) model: Option<PriorityModel>,
    /// Transform that its adapter applies to incoming and outgoing priorities.
    pub(crate) transform: Option<Arc<ObjectTransform>>,
    /// Reference to the object.
    pub(crate) ior: Ior,
    /// Object key of the reference.
    pub(crate) key: Box<[u8]>,
}

/// Result of looking up an object key.
pub(crate) enum Demultiplexed<'t> {
    /// An active object, which stays active as long as this value lives.
    Object(InFlight<'t, ActiveObject>),
    /// A key published for `corbaloc` references.
    Published(Arc<Ior>),
    /// No object is known by this key.
    Unknown,
}

/// Priorities during an upcall.
///
/// The peer's claim is checked first (`accepted_priorities.rs`), then transformed, then compared with the
/// lane. With lanes, the servant sees the lane's priority as its own, even if the request arrived at the
/// wrong lane and is not redispatched; without lanes, the thread takes the request's priority for the
/// upcall.
pub(crate) struct Placement {
    /// CORBA priority that the servant sees and that its own calls propagate.
    pub(crate) current: Option<Priority>,
    /// Change of the thread's native scheduling during the upcall; `None` if it does not change.
    native: Option<Change>,
    /// Lane that should serve the request instead.
    pub(crate) elsewhere: Option<Redispatch>,
}

#[derive(Clone, Copy)]
struct Change {
    during: Scheduling,
    before: Scheduling,
}

impl ActiveObject {
    /// Determines the priorities of a request that `lane` received from `origin` with this propagated
    /// priority, for an object with this priority model: its own, or that of one for which it stands in.
    ///
    /// Source: Real-time CORBA 1.2 and the matrix of TAO's documentation: with lanes a request runs at its
    /// lane's priority, without them the thread takes on the client's or the servant's. Fails with
    /// NO_PERMISSION for a priority above the highest accepted one, INV_POLICY for one outside the
    /// connection's band, BAD_PARAM for an invalid one, DATA_CONVERSION for one without native counterpart,
    /// INTERNAL for one that the transform refuses.
    #[inline(always)]
    pub(crate) fn placement(
        &self,
        configuration: &Configuration,
        lane: &LaneContext,
        origin: &Origin,
        may_move: bool,
        model: Option<PriorityModel>,
        propagated: Option<i16>,
    ) -> Result<Placement, SystemException> {
        if let Some(band) = origin.band.get() {
            check_bound_band(band, lane, model, propagated)?;
        }
        let asked = match model {
            None => None,
            Some(PriorityModel::ServerDeclared(priority)) => Some(priority),
            Some(PriorityModel::ClientPropagated { default }) => Some(match propagated {
                None => default,
                Some(priority) => self.accept(lane, origin, priority)?,
            }),
        };
        if let Some(own) = lane.priority() {
            let elsewhere = match asked {
                Some(asked) if !self.poa.is_served_by(own, asked) => {
                    self.misdirected(lane, origin, own, asked, may_move)?
                }
                _ => None,
            };
            return Ok(Placement {
                current: Some(own),
                native: None,
                elsewhere,
            });
        }
        let Some(asked) = asked else {
            return Ok(Placement {
                current: self.poa.default_priority().or_else(current::explicit_priority),
                native: None,
                elsewhere: None,
            });
        };
        let before = match lane.scheduling() {
            Some(own) if !current::is_in_upcall() => own,
            // Only the kernel knows the scheduling of user threads that called `run` and of nested upcalls.
            _ => scheduling::current(),
        };
        let native = if before.is_realtime() {
            let priority = configuration.to_native(asked)?;
            let during = Scheduling { priority, ..before };
            Some(Change { during, before })
        } else {
            // Threads in the ordinary class have no priority to change.
            None
        };
        Ok(Placement {
            current: Some(asked),
            native,
            elsewhere: None,
        })
    }

    /// Determines the priorities of a collocated call: only a declared priority without lanes changes the
    /// thread's scheduling. The propagated priority is not checked, since the thread could set it as its own
    /// anyway.
    #[inline(always)]
    pub(crate) fn placement_collocated(
        &self,
        configuration: &Configuration,
        model: Option<PriorityModel>,
    ) -> Result<Placement, SystemException> {
        match model {
            Some(PriorityModel::ServerDeclared(priority)) if !self.poa.has_lanes() => {
                let during = Scheduling {
                    class: configuration.scheduling_class,
                    priority: configuration.to_native(priority)?,
                };
                let before = scheduling::current();
                Ok(Placement {
                    current: Some(priority),
                    native: during.is_realtime().then_some(Change { during, before }),
                    elsewhere: None,
                })
            }
            Some(PriorityModel::ClientPropagated { .. }) => Ok(Placement {
                current: Some(self.transformed(current::call_priority(configuration)?)?),
                native: None,
                elsewhere: None,
            }),
            _ => Ok(Placement {
                current: current::explicit_priority(),
                native: None,
                elsewhere: None,
            }),
        }
    }

    /// Returns the lane to which a request of priority `asked` is passed that arrived at the lane of priority
    /// `own`; `None`: it is served there. A client may have bands of its own: a request belongs to another
    /// lane only if there is one for its priority, and not within the band that its connection is bound to.
    #[cold]
    fn misdirected(
        &self,
        lane: &LaneContext,
        origin: &Origin,
        own: Priority,
        asked: Priority,
        may_move: bool,
    ) -> Result<Option<Redispatch>, SystemException> {
        let of_band = origin.band.get().is_some_and(|band| band.contains(own));
        if may_move && !of_band && self.poa.has_lane_for(asked) {
            lane.count_misdirected();
            if let Some(target) = self.poa.redispatch_to(asked) {
                return Ok(Some(target));
            }
        }
        // A request at the wrong endpoint must not run at a priority that its sender may not request.
        if own > self.poa.policies.accepted.highest(origin) {
            return Err(too_high(lane, own, self.poa.policies.accepted.highest(origin)));
        }
        Ok(None)
    }

    /// Returns why a request was refused, as far as its connection is charged for it.
    #[cold]
    pub(crate) fn charge(
        &self,
        lane: &LaneContext,
        origin: &Origin,
        refused: &SystemException,
    ) -> NotExecuted {
        let may_be_of_stranger = refused.minor == Minor::PRIORITY_ABOVE_ACCEPTED;
        match lane.priority().filter(|_| may_be_of_stranger) {
            Some(own) if !self.poa.pool.admits(origin, own) => NotExecuted::NotAdmitted,
            _ => NotExecuted::Refused,
        }
    }

    fn accept(
        &self,
        lane: &LaneContext,
        origin: &Origin,
        propagated: i16,
    ) -> Result<Priority, SystemException> {
        let priority = Priority::new(propagated)
            .map_err(|_| SystemException::new(SystemExceptionKind::BadParam, Minor::NONE, Completion::No))?;
        let accepted = self.poa.policies.accepted.admit(origin, priority);
        let refused = || too_high(lane, priority, self.poa.policies.accepted.highest(origin));
        self.transformed(accepted.ok_or_else(refused)?)
    }

    fn transformed(&self, priority: Priority) -> Result<Priority, SystemException> {
        match &self.transform {
            None => Ok(priority),
            Some(transform) => transform.inbound(priority),
        }
    }
}

impl Placement {
    /// Changes the thread's native priority, if necessary, until the result is dropped. A change costs two
    /// system calls.
    #[inline(always)]
    pub(crate) fn enter(&self) -> impl Drop + use<> {
        let changed = self.native.and_then(|Change { during, before }| {
            // Without the right to change it, the request runs at the thread's own priority.
            let changed = during != before && scheduling::set_current(during).is_ok();
            changed.then(|| note_priority(during)).map(|()| before)
        });
        scopeguard::guard(changed, |changed| {
            if let Some(before) = changed {
                let _ = scheduling::set_current(before);
                note_priority(before);
            }
        })
    }
}

fn note_priority(now: Scheduling) {
    record(|| Record::new(Event::PriorityChanged).detail(now.priority.0.unsigned_abs().into()));
}

/// Refuses a request that belongs to another connection, like a client that has no band for it.
#[cold]
fn check_bound_band(
    band: PriorityBand,
    lane: &LaneContext,
    model: Option<PriorityModel>,
    propagated: Option<i16>,
) -> Result<(), SystemException> {
    let asked = match model {
        None => return Ok(()),
        Some(PriorityModel::ServerDeclared(own)) => own.value(),
        Some(PriorityModel::ClientPropagated { default }) => propagated.unwrap_or(default.value()),
    };
    if Priority::new(asked).is_ok_and(|asked| band.contains(asked)) {
        return Ok(());
    }
    lane.count_refused_priority();
    let (kind, minor) = (SystemExceptionKind::InvPolicy, Minor::PRIORITY_OUTSIDE_BOUND_BAND);
    Err(SystemException::new(kind, minor, Completion::No))
}

#[cold]
fn too_high(lane: &LaneContext, asked: Priority, highest: Priority) -> SystemException {
    lane.count_refused_priority();
    let (kind, minor) = (SystemExceptionKind::NoPermission, Minor::PRIORITY_ABOVE_ACCEPTED);
    SystemException::new(kind, minor, Completion::No).with_detail(&Detail::refused(asked, highest))
}
