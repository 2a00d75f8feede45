//! Treatment of parameters that an endsystem does not know.

use punctual_sched::dynamic::SchedulingParameters;

use crate::wire::UnknownParameters;

/// Treatment of a thread that arrives with parameters of a user-defined or newer kind that is not the
/// scheduler's.
///
/// ```
/// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
/// use punctual::rtscheduling::{RtScheduling, UnknownPolicy};
///
/// // Threads of schedulers that this host does not know are not served.
/// let scheduling = RtScheduling::builder().unknown_parameters(UnknownPolicy::Refuse).build()?;
/// assert_eq!(scheduling.manager().scheduler_name(), "MIF");
/// # Ok::<(), punctual_rtsched::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub enum UnknownPolicy {
    /// It is scheduled by the default parameters, with the deadline of its own. Those travel on with its
    /// calls.
    #[default]
    Carry,
    /// It is scheduled by parameters, of any kind, that this function derives from its own; `None`: as with
    /// [`Carry`](Self::Carry). Its own parameters travel on. The function runs on a lane's thread: it must
    /// neither block nor allocate.
    Translate(fn(&UnknownParameters) -> Option<SchedulingParameters>),
    /// Its request is refused: INV_POLICY, minor SCHEDULING_DISCIPLINE_UNSUPPORTED, COMPLETED_NO.
    Refuse,
}
