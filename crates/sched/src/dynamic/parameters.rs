use core::time::Duration;

use punctual_types::Priority;

use super::Time;

/// What a scheduling segment is scheduled by: the `sched_param` of RT-CORBA 1.2, one form for each family of schedulers.
///
/// Deadlines are points in time of the host they are used on; they are converted when a thread moves on to another.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SchedulingParameters {
    /// For FP. `FP_Scheduling::SegmentSchedulingParameterPolicy`.
    FixedPriority {
        /// Greater goes first.
        priority: Priority,
    },
    /// For TP and MIF. \[S4\] section 3.1.
    Importance {
        /// Greater goes first.
        importance: i32,
    },
    /// For RMS.
    Rate {
        /// Shorter goes first.
        period: Duration,
        /// Greater goes first among equal periods.
        importance: i32,
    },
    /// For EDF. `EDF_Scheduling::SchedulingParameter`.
    Deadline {
        /// Earlier goes first.
        deadline: Time,
        /// Between two deadlines, where there is such a thing; else zero. The kernel's SCHED_DEADLINE wants it.
        period: Duration,
        /// Execution time up to the deadline, zero where it is not known. The kernel's SCHED_DEADLINE wants it.
        execution_time: Duration,
        /// Greater goes first among equal deadlines.
        importance: i32,
    },
    /// For MLF (LLF). `LLF_Scheduling::SchedulingParameter`.
    Laxity {
        /// The end of the work.
        deadline: Time,
        /// What the work takes from the segment's beginning.
        execution_time: Duration,
        /// Greater goes first among equal laxities.
        importance: i32,
    },
    /// For MUF.
    Urgency {
        /// Greater goes first, whatever the laxities.
        criticality: i32,
        /// The end of the work; among equal criticalities the least laxity goes first.
        deadline: Time,
        /// What the work takes from the segment's beginning.
        execution_time: Duration,
        /// Greater goes first among equals.
        importance: i32,
    },
    /// For RMS+MLF: critical work by its rate, the rest behind it by its laxity.
    RateOrLaxity {
        /// From [`SchedulingParameters::CRITICAL`] on it is critical.
        criticality: i32,
        /// Shorter goes first among critical work.
        period: Duration,
        /// The end of the work.
        deadline: Time,
        /// What the work takes from the segment's beginning.
        execution_time: Duration,
        /// Greater goes first among equals.
        importance: i32,
    },
    /// For MAU.
    Utility {
        /// Until when the work has its whole utility.
        deadline: Time,
        /// What the work takes from the segment's beginning.
        execution_time: Duration,
        /// What it is worth.
        utility: Utility,
    },
}

/// What completed work is worth: `value` up to its deadline, then less and less, and nothing after `decay`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Utility {
    /// In whatever unit, the same one for all.
    pub value: u32,
    /// How long after the deadline it falls to nothing, linearly; zero: at once.
    pub decay: Duration,
}

impl Utility {
    /// What work is worth that ends so long after its deadline; rounded down.
    ///
    /// ```
    /// use core::time::Duration;
    /// use punctual_sched::dynamic::Utility;
    ///
    /// let utility = Utility { value: 10, decay: Duration::from_millis(5) };
    /// assert_eq!(utility.worth(Duration::ZERO), 10);
    /// assert_eq!(utility.worth(Duration::from_millis(2)), 6);
    /// assert_eq!(utility.worth(Duration::from_millis(5)), 0);
    /// ```
    pub fn worth(&self, late: Duration) -> u32 {
        if late.is_zero() {
            return self.value;
        }
        let left = self.decay.saturating_sub(late).as_nanos();
        let worth = left * u128::from(self.value) / self.decay.as_nanos().max(1);
        u32::try_from(worth).unwrap_or(self.value)
    }
}

/// Which parameters: a number of its own on the wire.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[repr(u16)]
pub enum ParameterKind {
    /// [`SchedulingParameters::FixedPriority`].
    FixedPriority = 1,
    /// [`SchedulingParameters::Importance`].
    Importance = 2,
    /// [`SchedulingParameters::Rate`].
    Rate = 3,
    /// [`SchedulingParameters::Deadline`].
    Deadline = 4,
    /// [`SchedulingParameters::Laxity`].
    Laxity = 5,
    /// [`SchedulingParameters::Urgency`].
    Urgency = 6,
    /// [`SchedulingParameters::RateOrLaxity`].
    RateOrLaxity = 7,
    /// [`SchedulingParameters::Utility`].
    Utility = 8,
}

impl SchedulingParameters {
    /// The least criticality of critical work: HIGH of `RtecScheduler::Criticality_t`.
    pub const CRITICAL: i32 = 3;

    /// Which ones they are.
    pub const fn kind(&self) -> ParameterKind {
        match self {
            Self::FixedPriority { .. } => ParameterKind::FixedPriority,
            Self::Importance { .. } => ParameterKind::Importance,
            Self::Rate { .. } => ParameterKind::Rate,
            Self::Deadline { .. } => ParameterKind::Deadline,
            Self::Laxity { .. } => ParameterKind::Laxity,
            Self::Urgency { .. } => ParameterKind::Urgency,
            Self::RateOrLaxity { .. } => ParameterKind::RateOrLaxity,
            Self::Utility { .. } => ParameterKind::Utility,
        }
    }

    /// The end of the work, where they say it.
    pub const fn deadline(&self) -> Option<Time> {
        match *self {
            Self::FixedPriority { .. } | Self::Importance { .. } | Self::Rate { .. } => None,
            Self::Deadline { deadline, .. }
            | Self::Laxity { deadline, .. }
            | Self::Urgency { deadline, .. }
            | Self::RateOrLaxity { deadline, .. }
            | Self::Utility { deadline, .. } => Some(deadline),
        }
    }

    /// What the work takes from the segment's beginning, where they say it.
    pub const fn execution_time(&self) -> Option<Duration> {
        match *self {
            Self::FixedPriority { .. } | Self::Importance { .. } | Self::Rate { .. } => None,
            Self::Deadline { execution_time, .. } if execution_time.is_zero() => None,
            Self::Deadline { execution_time, .. }
            | Self::Laxity { execution_time, .. }
            | Self::Urgency { execution_time, .. }
            | Self::RateOrLaxity { execution_time, .. }
            | Self::Utility { execution_time, .. } => Some(execution_time),
        }
    }

    /// The same with the work that is left once `received` of it is done, never below zero: what a thread takes along to another
    /// host.
    ///
    /// The execution time of [`Self::Deadline`] is what the kernel reserves in each period, and stays.
    ///
    /// ```
    /// use core::time::Duration;
    /// use punctual_sched::dynamic::{SchedulingParameters, Time};
    ///
    /// let laxity = |milliseconds| SchedulingParameters::Laxity {
    ///     deadline: Time(10_000_000),
    ///     execution_time: Duration::from_millis(milliseconds),
    ///     importance: 0,
    /// };
    /// assert_eq!(laxity(5).after_work(Duration::from_millis(2)), laxity(3));
    /// assert_eq!(laxity(5).after_work(Duration::from_millis(7)), laxity(0));
    /// ```
    pub const fn after_work(mut self, received: Duration) -> Self {
        match &mut self {
            Self::FixedPriority { .. }
            | Self::Importance { .. }
            | Self::Rate { .. }
            | Self::Deadline { .. } => {}
            Self::Laxity { execution_time, .. }
            | Self::Urgency { execution_time, .. }
            | Self::RateOrLaxity { execution_time, .. }
            | Self::Utility { execution_time, .. } => {
                *execution_time = execution_time.saturating_sub(received);
            }
        }
        self
    }

    /// The importance, where they say it.
    pub const fn importance(&self) -> Option<i32> {
        match *self {
            Self::FixedPriority { .. } | Self::Utility { .. } => None,
            Self::Importance { importance }
            | Self::Rate { importance, .. }
            | Self::Deadline { importance, .. }
            | Self::Laxity { importance, .. }
            | Self::Urgency { importance, .. }
            | Self::RateOrLaxity { importance, .. } => Some(importance),
        }
    }

    /// The criticality, where they say it.
    pub const fn criticality(&self) -> Option<i32> {
        match *self {
            Self::Urgency { criticality, .. } | Self::RateOrLaxity { criticality, .. } => Some(criticality),
            _ => None,
        }
    }

    /// The period, where they say it.
    pub const fn period(&self) -> Option<Duration> {
        match *self {
            Self::Deadline { period, .. } if period.is_zero() => None,
            Self::Rate { period, .. } | Self::Deadline { period, .. } | Self::RateOrLaxity { period, .. } => {
                Some(period)
            }
            _ => None,
        }
    }
}
