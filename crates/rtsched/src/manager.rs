//! `RTScheduler_Manager`.

use std::sync::Arc;

use punctual_sched::dynamic::{ParameterKind, Scheduler, SheddingPolicy};

use crate::{dispatcher::Mechanism, endsystem::Endsystem, error::BuildError};

/// `RTScheduler_Manager`: the scheduler of the endsystem, and its replacement at run time.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
/// use punctual::rtscheduling::{EarliestDeadlineFirst, Mechanism, ParameterKind, RtScheduling};
///
/// let scheduling = RtScheduling::builder().build()?;
/// let manager = scheduling.manager();
/// assert_eq!(manager.scheduler_name(), "MIF");
/// manager.install(EarliestDeadlineFirst::new(), Mechanism::ReadyQueue)?;
/// assert_eq!(manager.scheduler_name(), "EDF");
/// assert_eq!(manager.parameter_kind(), ParameterKind::Deadline);
/// # Ok::<(), punctual_rtsched::BuildError>(())
/// ```
pub struct SchedulerManager<'s> {
    endsystem: &'s Arc<Endsystem>,
}

impl<'s> SchedulerManager<'s> {
    pub(crate) fn new(endsystem: &'s Arc<Endsystem>) -> Self {
        Self { endsystem }
    }

    /// Installs another scheduler. Threads at this endsystem are transferred at once, with their parameters
    /// translated to its kind ([`translation`](punctual_sched::dynamic::translation)); their original
    /// parameters are kept. New segments take its kind.
    ///
    /// Allocates memory and, if the decisions of the scheduler change with time, starts the thread
    /// `rt-dispatch`. Do not call this on a real-time thread.
    ///
    /// # Errors
    /// [`BuildError`]: the mechanism cannot carry out its decisions; nothing has changed.
    pub fn install(
        &self,
        scheduler: impl Scheduler + 'static,
        mechanism: Mechanism,
    ) -> Result<(), BuildError> {
        self.endsystem.install(Box::new(scheduler), mechanism)
    }

    /// `scheduling_discipline_name`: name of the installed scheduler, even after it has failed; see
    /// [`Self::scheduler_failures`].
    pub fn scheduler_name(&self) -> String {
        self.endsystem
            .dispatcher
            .inspect(|state| state.scheduler_name().to_owned())
    }

    /// Returns the number of panics and invalid decisions of all schedulers so far. Threads then run first
    /// come, first served: after a panic until another scheduler is installed, otherwise until the next valid
    /// decision.
    pub fn scheduler_failures(&self) -> u64 {
        self.endsystem
            .dispatcher
            .inspect(|state| state.scheduler_failures())
    }

    /// Sets the treatment of segments that can no longer meet their deadlines, from the next one on that
    /// begins or is updated; see [`RtSchedulingBuilder::shedding`](crate::RtSchedulingBuilder::shedding).
    ///
    /// ```
    /// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
    /// # use punctual_rtsched::RtScheduling;
    /// use punctual::rtscheduling::SheddingPolicy;
    ///
    /// let scheduling = RtScheduling::builder().build()?;
    /// scheduling.manager().set_shedding(SheddingPolicy::before_dispatch().sparing_critical());
    /// assert_eq!(scheduling.manager().shed(), 0);
    /// # Ok::<(), punctual_rtsched::BuildError>(())
    /// ```
    pub fn set_shedding(&self, policy: SheddingPolicy) {
        *self.endsystem.shedding.lock() = policy;
    }

    /// Returns the number of segments that were cancelled because they could no longer meet their deadlines.
    /// Each scheduling point that reports it counts.
    pub fn shed(&self) -> u64 {
        self.endsystem.dispatcher.shed()
    }

    /// Returns the mechanism that carries out the decisions.
    pub fn mechanism(&self) -> Mechanism {
        self.endsystem.dispatcher.inspect(|state| state.mechanism())
    }

    /// Returns the kind of parameters that segments take.
    pub fn parameter_kind(&self) -> ParameterKind {
        self.endsystem.kind()
    }
}
