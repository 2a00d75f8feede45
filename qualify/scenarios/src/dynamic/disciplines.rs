//! The nine schedulers, by their names in the literature.

use punctual_sched::dynamic::{
    EarliestDeadlineFirst, FixedPriority, MaximumAccruedUtility, MaximumUrgencyFirst, MinimumLaxityFirst,
    MostImportantFirst, ParameterKind, RateMonotonic, RateMonotonicOrLaxity, Scheduler, ThreadPriority,
};
use serde::{Deserialize, Serialize};

/// A scheduler by its name.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) enum Named {
    Tp,
    Mif,
    Fp,
    Rms,
    Edf,
    Mlf,
    Muf,
    RmsMlf,
    Mau,
}

impl Named {
    /// All schedulers, those of the paper's figure 6 first.
    pub(super) const ALL: [Self; 9] = [
        Self::Mif,
        Self::Tp,
        Self::Fp,
        Self::Rms,
        Self::Edf,
        Self::Mlf,
        Self::Muf,
        Self::RmsMlf,
        Self::Mau,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Fp => "FP",
            Self::Tp => "TP",
            Self::Mif => "MIF",
            Self::Rms => "RMS",
            Self::Edf => "EDF",
            Self::Mlf => "MLF",
            Self::Muf => "MUF",
            Self::RmsMlf => "RMS+MLF",
            Self::Mau => "MAU",
        }
    }

    /// Name in ids of claims.
    pub(super) fn id(self) -> String {
        self.name().to_lowercase().replace('+', "-")
    }

    /// Returns the kind of parameters that it uses.
    pub(super) fn kind(self) -> ParameterKind {
        match self {
            Self::Fp => ParameterKind::FixedPriority,
            Self::Tp | Self::Mif => ParameterKind::Importance,
            Self::Rms => ParameterKind::Rate,
            Self::Edf => ParameterKind::Deadline,
            Self::Mlf => ParameterKind::Laxity,
            Self::Muf => ParameterKind::Urgency,
            Self::RmsMlf => ParameterKind::RateOrLaxity,
            Self::Mau => ParameterKind::Utility,
        }
    }

    /// Creates the scheduler.
    pub(super) fn scheduler(self) -> Box<dyn Scheduler> {
        match self {
            Self::Fp => Box::<FixedPriority>::default(),
            Self::Tp => Box::<ThreadPriority>::default(),
            Self::Mif => Box::<MostImportantFirst>::default(),
            Self::Rms => Box::<RateMonotonic>::default(),
            Self::Edf => Box::<EarliestDeadlineFirst>::default(),
            Self::Mlf => Box::<MinimumLaxityFirst>::default(),
            Self::Muf => Box::<MaximumUrgencyFirst>::default(),
            Self::RmsMlf => Box::<RateMonotonicOrLaxity>::default(),
            Self::Mau => Box::<MaximumAccruedUtility>::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_kinds_are_those_of_the_schedulers() {
        for named in Named::ALL {
            let scheduler = named.scheduler();
            assert_eq!(scheduler.name(), named.name());
            assert_eq!(scheduler.kind(), named.kind());
        }
    }
}
