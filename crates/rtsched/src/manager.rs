use std::sync::Arc;

use punctual_sched::dynamic::{ParameterKind, Scheduler};

use crate::{dispatcher::Mechanism, endsystem::Endsystem, error::BuildError};

/// `RTScheduler_Manager`: which scheduler the endsystem has, and another one while everything runs.
///
/// ```
/// use punctual_rtsched::{Mechanism, RtScheduling};
/// use punctual_sched::dynamic::{EarliestDeadlineFirst, ParameterKind};
///
/// let scheduling = RtScheduling::builder().build()?;
/// let manager = scheduling.manager();
/// assert_eq!(manager.scheduler_name(), "MIF");
/// manager.install(EarliestDeadlineFirst::new(), Mechanism::ReadyQueue)?;
/// assert_eq!((manager.scheduler_name().as_str(), manager.parameter_kind()), ("EDF", ParameterKind::Deadline));
/// # Ok::<(), punctual_rtsched::BuildError>(())
/// ```
pub struct SchedulerManager<'s> {
    endsystem: &'s Arc<Endsystem>,
}

impl<'s> SchedulerManager<'s> {
    pub(crate) fn new(endsystem: &'s Arc<Endsystem>) -> Self {
        Self { endsystem }
    }

    /// Installs another scheduler. Threads that are here move to it at once, with their parameters translated to its kind
    /// ([`translation`](punctual_sched::dynamic::translation)); their own are kept. Segments that begin from now on take its kind.
    ///
    /// Takes memory and, where its decisions change with time, starts the thread `rt-dispatch`: not for a real-time thread.
    ///
    /// # Errors
    /// [`BuildError`]: the mechanism cannot do what it decides. Nothing has changed then.
    pub fn install(
        &self,
        scheduler: impl Scheduler + 'static,
        mechanism: Mechanism,
    ) -> Result<(), BuildError> {
        self.endsystem.install(Box::new(scheduler), mechanism)
    }

    /// `scheduling_discipline_name`: that of the one installed, also where it has failed; [`Self::scheduler_failures`] says so.
    pub fn scheduler_name(&self) -> String {
        self.endsystem
            .dispatcher
            .inspect(|state| state.scheduler_name().to_owned())
    }

    /// How many decisions, of all schedulers so far, were panics or made no sense. Threads run first come, first served instead: after a
    /// panic until another scheduler is installed, else until the next decision that makes sense.
    pub fn scheduler_failures(&self) -> u64 {
        self.endsystem
            .dispatcher
            .inspect(|state| state.scheduler_failures())
    }

    /// How decisions are carried out.
    pub fn mechanism(&self) -> Mechanism {
        self.endsystem.dispatcher.inspect(|state| state.mechanism())
    }

    /// Which parameters segments take.
    pub fn parameter_kind(&self) -> ParameterKind {
        self.endsystem.kind()
    }
}
