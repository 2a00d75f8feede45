use std::sync::Arc;

use punctual_cdr::Ior;
use punctual_flight::{Event, Record, record};
use punctual_os::{Scheduling, scheduling};
use punctual_poa::InFlight;
use punctual_stub::Servant;
use punctual_types::{Completion, Minor, NativePriority, Priority, SystemException, SystemExceptionKind};

use crate::{OnExcess, PriorityModel, lane::Lane, orb_core::OrbCore, poa::PoaCore};

/// An object that requests can reach.
pub(crate) struct ActiveObject {
    pub(crate) servant: Arc<dyn Servant>,
    pub(crate) poa: Arc<PoaCore>,
    /// As references to it are to look.
    pub(crate) ior: Ior,
}

/// What an object key leads to.
pub(crate) enum Demultiplexed<'t> {
    /// An active object, which stays active while this lives.
    Object(InFlight<'t, ActiveObject>),
    /// A key published for `corbaloc` references.
    Published(Arc<Ior>),
    /// Nothing.
    Unknown,
}

/// Which priorities hold during an upcall.
pub(crate) struct Placement {
    /// What the servant sees as its CORBA priority, and what its own calls carry.
    pub(crate) current: Option<Priority>,
    /// What the thread runs at meanwhile, and goes back to; `None`: what it runs at anyway.
    native: Option<Change>,
}

#[derive(Clone, Copy)]
struct Change {
    during: Scheduling,
    before: Scheduling,
}

impl ActiveObject {
    /// The priorities of a request that came over `lane` with this propagated priority.
    ///
    /// Source: Real-time CORBA 1.2 and the matrix of TAO's documentation: with lanes a request runs at its lane's priority,
    /// without them the thread takes on the client's or the servant's. Fails with NO_PERMISSION for a priority above the
    /// highest accepted one, BAD_PARAM for one that is none, DATA_CONVERSION for one without native counterpart.
    pub(crate) fn placement(
        &self,
        core: &OrbCore,
        lane: &Lane,
        propagated: Option<i16>,
    ) -> Result<Placement, SystemException> {
        let asked = match self.poa.model {
            None => {
                return Ok(Placement {
                    current: lane.priority,
                    native: None,
                });
            }
            Some(PriorityModel::ServerDeclared(priority)) => priority,
            Some(PriorityModel::ClientPropagated { default }) => match propagated {
                None => default,
                Some(priority) => self.accept(lane, priority)?,
            },
        };
        if lane.priority.is_some() {
            if !lane.serves(asked) {
                lane.count_misdirected();
                return Ok(Placement {
                    current: lane.priority,
                    native: None,
                });
            }
            return Ok(Placement {
                current: Some(asked),
                native: None,
            });
        }
        let native = match lane.scheduling {
            Some(own) if own.is_realtime() => {
                let priority = to_native(core, asked)?;
                Some(Change {
                    during: Scheduling { priority, ..own },
                    before: own,
                })
            }
            // Threads in the ordinary class have none; the user's own ones, which called `run`, are the user's business.
            _ => None,
        };
        Ok(Placement {
            current: Some(asked),
            native,
        })
    }

    /// The priorities of a call from a thread of the same ORB: only a declared priority without lanes changes the thread's.
    pub(crate) fn placement_collocated(&self, core: &OrbCore) -> Result<Placement, SystemException> {
        match self.poa.model {
            Some(PriorityModel::ServerDeclared(priority)) if !self.poa.has_lanes() => {
                let during = Scheduling {
                    class: core.scheduling_class,
                    priority: to_native(core, priority)?,
                };
                let before = scheduling::current();
                Ok(Placement {
                    current: Some(priority),
                    native: during.is_realtime().then_some(Change { during, before }),
                })
            }
            _ => Ok(Placement {
                current: None,
                native: None,
            }),
        }
    }

    fn accept(&self, lane: &Lane, propagated: i16) -> Result<Priority, SystemException> {
        let refuse = |kind, minor| SystemException::new(kind, minor, Completion::No);
        let priority =
            Priority::new(propagated).map_err(|_| refuse(SystemExceptionKind::BadParam, Minor::NONE))?;
        if priority <= self.poa.highest_accepted {
            return Ok(priority);
        }
        match self.poa.on_excess {
            OnExcess::Clamp => Ok(self.poa.highest_accepted),
            OnExcess::Refuse => {
                lane.count_refused_priority();
                Err(refuse(
                    SystemExceptionKind::NoPermission,
                    Minor::PRIORITY_ABOVE_ACCEPTED,
                ))
            }
        }
    }
}

impl Placement {
    /// Changes the thread's native priority, if it has to change, until the result is dropped. Two system calls then.
    pub(crate) fn enter(&self) -> impl Drop + use<> {
        struct Restore(Option<Scheduling>);
        impl Drop for Restore {
            fn drop(&mut self) {
                if let Some(before) = self.0 {
                    let _ = scheduling::set_current(before);
                    note_priority(before);
                }
            }
        }
        let changed = self.native.and_then(|Change { during, before }| {
            // Without the right to it, the request runs at the thread's own priority.
            let changed = during != before && scheduling::set_current(during).is_ok();
            changed.then(|| note_priority(during)).map(|()| before)
        });
        Restore(changed)
    }
}

fn note_priority(now: Scheduling) {
    record(|| Record::new(Event::PriorityChanged).detail(now.priority.0.unsigned_abs().into()));
}

fn to_native(core: &OrbCore, priority: Priority) -> Result<NativePriority, SystemException> {
    core.mapping.to_native(priority).ok_or_else(|| {
        let minor = Minor::OMG_PRIORITY_UNMAPPABLE;
        SystemException::new(SystemExceptionKind::DataConversion, minor, Completion::No)
    })
}
