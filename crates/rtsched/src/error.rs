use punctual_sched::dynamic::ParameterKind;
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

/// Why a scheduling point did not let the thread pass.
///
/// ```
/// use punctual_rtsched::{RtScheduling, SchedulingError};
/// use punctual_sched::dynamic::{ParameterKind, SchedulingParameters};
/// use punctual_types::Priority;
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
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SchedulingError {
    /// `RTScheduling::Current::UNSUPPORTED_SCHEDULING_DISCIPLINE`: the parameters are for another scheduler. Nothing has changed.
    #[error(
        "the scheduler of this endsystem schedules by {wanted:?} parameters, and {given:?} were given; use its own, or install another scheduler"
    )]
    UnsupportedSchedulingDiscipline {
        /// What was given.
        given: ParameterKind,
        /// What the scheduler takes.
        wanted: ParameterKind,
    },
    /// A system exception: THREAD_CANCELLED, BAD_INV_ORDER without a distributable thread, TIMEOUT of an operation.
    #[error(transparent)]
    System(#[from] SystemException),
}

impl SchedulingError {
    /// Whether the whole distributable thread was cancelled.
    ///
    /// ```
    /// use punctual_rtsched::SchedulingError;
    /// use punctual_types::{Completion, SystemException, SystemExceptionKind};
    ///
    /// let cancelled = SystemException::new(SystemExceptionKind::ThreadCancelled, 0, Completion::No);
    /// assert!(SchedulingError::System(cancelled).is_cancellation());
    /// ```
    pub fn is_cancellation(&self) -> bool {
        matches!(self, Self::System(exception) if exception.kind == SystemExceptionKind::ThreadCancelled)
    }
}

/// UNSUPPORTED_SCHEDULING_DISCIPLINE, which is a user exception in the IDL, becomes INV_POLICY: for servants whose operations do not
/// declare it.
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

/// Why there is no such scheduling.
///
/// ```
/// use punctual_rtsched::{BuildError, Mechanism, RtScheduling};
///
/// // The kernel's SCHED_DEADLINE needs deadlines, and the default scheduler has none.
/// let refused = RtScheduling::builder().mechanism(Mechanism::KernelDeadline).build();
/// assert!(matches!(refused, Err(BuildError::MechanismUnsuitable { .. })));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The mechanism cannot do what the scheduler decides.
    #[error("{mechanism} cannot carry out what the scheduler `{scheduler}` decides: {reason}")]
    MechanismUnsuitable {
        /// Which mechanism.
        mechanism: &'static str,
        /// The scheduler's name.
        scheduler: String,
        /// Why, and what to use instead.
        reason: &'static str,
    },
    /// The kernel refuses SCHED_DEADLINE here.
    #[error(
        "the kernel refuses SCHED_DEADLINE: {0}. It wants CAP_SYS_NICE, and threads that may run on all CPUs of their root domain: \
         to keep them to some CPUs, start the process in an exclusive cpuset (cpuset.cpus.partition = root); \
         or dispatch EDF through Mechanism::ReadyQueue, which runs on pinned threads"
    )]
    KernelDeadlineRefused(#[source] std::io::Error),
    /// A setting is out of its range.
    #[error("{0}")]
    InvalidSetting(&'static str),
    /// The system refused something at the start: random numbers, or the dispatcher's thread.
    #[error("scheduling could not be started: {0}")]
    System(#[from] std::io::Error),
}

/// Why a wait of ours ended without what it waited for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Interrupted {
    /// The distributable thread was cancelled, or has gone on elsewhere.
    Cancelled,
    /// The limit of an operation has passed.
    DeadlinePassed,
    /// The mechanism cannot take it.
    Refused(SystemException),
}

impl Interrupted {
    /// As the application sees it at a scheduling point of its own: it may have done part of its work.
    pub(crate) fn exception(self) -> SystemException {
        self.exception_when(Completion::Maybe)
    }

    /// As the application sees it of a call that has got so far.
    pub(crate) fn exception_when(self, completed: Completion) -> SystemException {
        let (kind, minor) = match self {
            Self::Cancelled => (
                SystemExceptionKind::ThreadCancelled,
                Minor::DISTRIBUTABLE_THREAD_CANCELLED,
            ),
            Self::DeadlinePassed => (SystemExceptionKind::Timeout, Minor::OPERATION_CANCELLED),
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
