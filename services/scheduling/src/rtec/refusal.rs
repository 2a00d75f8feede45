//! Reasons for refusing a request, and the corresponding exception of each operation.

use punctual::{Completion, SystemException, SystemExceptionKind};

use super::idl::rtec_scheduler::{self as rtec, scheduler::*};

/// Reason of a refusal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Refusal {
    DuplicateName,
    UnknownTask,
    NotScheduled,
    UnknownPriorityLevel,
    CyclicDependencies,
    UnresolvedLocalDependencies,
    ThreadSpecification,
    UtilizationBoundExceeded,
    InsufficientThreadPriorityLevels,
    /// A number is negative, too great or too small.
    OutOfRange,
    /// A limit is reached.
    Limit,
}

impl Refusal {
    fn system(self) -> SystemException {
        let kind = match self {
            Self::OutOfRange => SystemExceptionKind::BadParam,
            Self::Limit => SystemExceptionKind::ImpLimit,
            // Operations raise what they declare; this one was not foreseen.
            _ => SystemExceptionKind::Internal,
        };
        SystemException::new(kind, 0, Completion::No)
    }
}

/// Operations with the refusals that they declare.
macro_rules! raises {
    ($($error:ident: $($refusal:ident)*;)*) => {$(
        impl From<Refusal> for $error {
            fn from(refusal: Refusal) -> Self {
                match refusal {
                    $(Refusal::$refusal => rtec::$refusal {}.into(),)*
                    other => other.system().into(),
                }
            }
        }
    )*};
}

raises! {
    CreateError: DuplicateName;
    LookupError: UnknownTask;
    GetError: UnknownTask;
    SetError: UnknownTask;
    ResetError: UnknownTask;
    SetSeqError: UnknownTask;
    ReplaceSeqError: UnknownTask;
    ResetSeqError: UnknownTask;
    PriorityError: UnknownTask NotScheduled;
    EntryPointPriorityError: UnknownTask NotScheduled;
    AddDependencyError: UnknownTask;
    RemoveDependencyError: UnknownTask;
    SetDependencyEnableStateError: UnknownTask;
    SetDependencyEnableStateSeqError: UnknownTask;
    SetRtInfoEnableStateError: UnknownTask;
    SetRtInfoEnableStateSeqError: UnknownTask;
    ComputeSchedulingError: UtilizationBoundExceeded InsufficientThreadPriorityLevels CyclicDependencies
        UnresolvedLocalDependencies ThreadSpecification;
    RecomputeSchedulingError: UtilizationBoundExceeded InsufficientThreadPriorityLevels CyclicDependencies
        UnresolvedLocalDependencies ThreadSpecification;
    GetConfigInfosError: NotScheduled;
    DispatchConfigurationError: NotScheduled UnknownPriorityLevel;
    LastScheduledPriorityError: NotScheduled;
}
