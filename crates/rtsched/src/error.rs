//! Errors, and the exceptions that report them.

use punctual_sched::dynamic::ParameterKind;
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

/// Error of a scheduling point.
///
/// ```
/// # mod punctual {
/// #     pub use punctual_types::*;
/// #     pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; }
/// # }
/// use punctual::Priority;
/// use punctual::rtscheduling::{ParameterKind, RtScheduling, SchedulingError, SchedulingParameters};
///
/// let scheduling = RtScheduling::builder().build()?;
/// let other = SchedulingParameters::FixedPriority { priority: Priority::MAX };
/// let wrong = scheduling.current().begin_scheduling_segment("track", other, None).unwrap_err();
/// assert!(matches!(
///     wrong,
///     SchedulingError::UnsupportedSchedulingDiscipline { given: ParameterKind::FixedPriority, .. }
/// ));
/// # Ok::<(), punctual_rtsched::BuildError>(())
/// ```
#[derive(Clone, Copy, Eq, PartialEq, thiserror::Error)]
pub enum SchedulingError {
    /// `RTScheduling::Current::UNSUPPORTED_SCHEDULING_DISCIPLINE`: the parameters are for another scheduler;
    /// nothing has changed.
    #[error(
        "the scheduler of this endsystem takes {wanted:?} parameters, not {given:?}; \
         use its kind, or install another scheduler"
    )]
    UnsupportedSchedulingDiscipline {
        /// Kind of the parameters given.
        given: ParameterKind,
        /// Kind that the scheduler takes.
        wanted: ParameterKind,
    },
    /// A system exception: THREAD_CANCELLED, BAD_INV_ORDER without a distributable thread, TIMEOUT of an
    /// operation.
    #[error(transparent)]
    System(#[from] SystemException),
}

punctual_types::debug_as_display!(SchedulingError, BuildError);

impl SchedulingError {
    /// Returns whether the distributable thread was cancelled.
    ///
    /// ```
    /// # mod punctual { pub(crate) use {punctual_rtsched as rtscheduling, punctual_types::*}; }
    /// use punctual::{Completion, SystemException, SystemExceptionKind, rtscheduling::SchedulingError};
    ///
    /// let cancelled = SystemException::new(SystemExceptionKind::ThreadCancelled, 0, Completion::No);
    /// assert!(SchedulingError::System(cancelled).is_cancellation());
    /// ```
    pub fn is_cancellation(&self) -> bool {
        matches!(self, Self::System(exception) if exception.kind == SystemExceptionKind::ThreadCancelled)
    }
}

impl SchedulingError {
    /// Returns whether an operation or a segment was cancelled because of its deadline.
    ///
    /// ```
    /// # mod punctual { pub(crate) use {punctual_rtsched as rtscheduling, punctual_types::*}; }
    /// use punctual::{Completion, Minor, SystemException, SystemExceptionKind};
    /// use punctual::rtscheduling::SchedulingError;
    ///
    /// let minor = Minor::OPERATION_CANCELLED;
    /// let late = SystemException::new(SystemExceptionKind::Timeout, minor, Completion::No);
    /// assert!(SchedulingError::System(late).is_lateness());
    /// ```
    pub fn is_lateness(&self) -> bool {
        matches!(self, Self::System(exception)
            if exception.kind == SystemExceptionKind::Timeout
                && exception.minor == Minor::OPERATION_CANCELLED)
    }
}

/// UNSUPPORTED_SCHEDULING_DISCIPLINE, a user exception in the IDL, becomes INV_POLICY for servants whose
/// operations do not declare it.
impl From<SchedulingError> for SystemException {
    fn from(error: SchedulingError) -> Self {
        match error {
            SchedulingError::System(exception) => exception,
            SchedulingError::UnsupportedSchedulingDiscipline { .. } => Self::new(
                SystemExceptionKind::InvPolicy,
                Minor::SCHEDULING_DISCIPLINE_UNSUPPORTED,
                Completion::No,
            ),
        }
    }
}

/// Error of building an [`RtScheduling`](crate::RtScheduling) or installing a scheduler.
///
/// ```
/// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
/// use punctual::rtscheduling::{BuildError, Mechanism, RtScheduling};
///
/// // The kernel's SCHED_DEADLINE requires deadlines, which the default scheduler does not have.
/// let refused = RtScheduling::builder().mechanism(Mechanism::KernelDeadline).build();
/// assert!(matches!(refused, Err(BuildError::MechanismUnsuitable { .. })));
/// ```
#[derive(thiserror::Error)]
pub enum BuildError {
    /// The mechanism cannot carry out the scheduler's decisions.
    #[error("{mechanism} cannot carry out the decisions of the scheduler `{scheduler}`: {reason}")]
    MechanismUnsuitable {
        /// Name of the mechanism.
        mechanism: &'static str,
        /// Name of the scheduler.
        scheduler: String,
        /// Reason, and an alternative.
        reason: &'static str,
    },
    /// The kernel refuses SCHED_DEADLINE.
    #[error(
        "the kernel refuses SCHED_DEADLINE: {0}. It requires CAP_SYS_NICE, and threads that may run \
         on all CPUs of their root domain: to keep them to some CPUs, start the process in an exclusive \
         cpuset (cpuset.cpus.partition = root); \
         or dispatch EDF through Mechanism::ReadyQueue, which runs on pinned threads"
    )]
    KernelDeadlineRefused(#[source] std::io::Error),
    /// A setting is out of range.
    #[error("{0}")]
    InvalidSetting(&'static str),
    /// The system refused random numbers or the dispatcher's thread.
    #[error("scheduling could not be started: {0}")]
    System(#[from] std::io::Error),
}

/// Why a wait of the dispatcher was interrupted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Interrupted {
    /// The distributable thread was cancelled, or its head has moved to another activation.
    Cancelled,
    /// The deadline of an operation has passed.
    DeadlinePassed,
    /// The work of the segment can no longer meet its deadline, and is shed.
    Hopeless,
    /// The mechanism refuses the parameters.
    Refused(SystemException),
}

impl Interrupted {
    /// Exception at a scheduling point of the application, which may have completed part of its work.
    pub(crate) fn exception(self) -> SystemException {
        self.exception_when(Completion::Maybe)
    }

    /// Exception of a call with this completion status.
    pub(crate) fn exception_when(self, completed: Completion) -> SystemException {
        let (kind, minor) = match self {
            Self::Cancelled => (
                SystemExceptionKind::ThreadCancelled,
                Minor::DISTRIBUTABLE_THREAD_CANCELLED,
            ),
            Self::DeadlinePassed | Self::Hopeless => {
                (SystemExceptionKind::Timeout, Minor::OPERATION_CANCELLED)
            }
            Self::Refused(exception) => return exception,
        };
        SystemException::new(kind, minor, completed)
    }
}

pub(crate) fn thread_cancelled() -> SystemException {
    Interrupted::Cancelled.exception()
}

pub(crate) fn no_current() -> SystemException {
    bad_order(Minor::NO_DISTRIBUTABLE_THREAD)
}

pub(crate) fn bad_param(minor: Minor) -> SystemException {
    SystemException::new(SystemExceptionKind::BadParam, minor, Completion::No)
}

pub(crate) fn bad_order(minor: Minor) -> SystemException {
    SystemException::new(SystemExceptionKind::BadInvOrder, minor, Completion::No)
}

pub(crate) fn unknown_thread() -> SystemException {
    SystemException::new(
        SystemExceptionKind::ObjectNotExist,
        Minor::DISTRIBUTABLE_THREAD_UNKNOWN,
        Completion::No,
    )
}
