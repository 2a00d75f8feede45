//! Scheduling parameters.

use core::time::Duration;

use punctual_types::Priority;

use super::{Time, UserKind, UserParameters};

/// Scheduling parameters of a segment: the `sched_param` of RTCORBA 1.2, one form for each family of
/// schedulers.
///
/// Deadlines are points in time of the host on which they are used; they are converted when a thread moves to
/// another host.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SchedulingParameters {
    /// Parameters of FP: `FP_Scheduling::SegmentSchedulingParameterPolicy`.
    FixedPriority {
        /// The greatest runs first.
        priority: Priority,
    },
    /// Parameters of TP and MIF. \[Gill 2004\] section 3.1.
    Importance {
        /// The greatest runs first.
        importance: i32,
    },
    /// Parameters of RMS.
    Rate {
        /// The shortest runs first.
        period: Duration,
        /// The greatest runs first among equal periods.
        importance: i32,
    },
    /// Parameters of EDF: `EDF_Scheduling::SchedulingParameter`.
    Deadline {
        /// The earliest runs first.
        deadline: Time,
        /// Time between deadlines; zero if there is none. The kernel's SCHED_DEADLINE requires it.
        period: Duration,
        /// Execution time up to the deadline; zero if unknown. The kernel's SCHED_DEADLINE requires it.
        execution_time: Duration,
        /// The greatest runs first among equal deadlines.
        importance: i32,
    },
    /// Parameters of MLF (LLF): `LLF_Scheduling::SchedulingParameter`.
    Laxity {
        /// Deadline of the work.
        deadline: Time,
        /// Execution time of the whole segment.
        execution_time: Duration,
        /// The greatest runs first among equal laxities.
        importance: i32,
    },
    /// Parameters of MUF.
    Urgency {
        /// The greatest runs first, regardless of laxities.
        criticality: i32,
        /// Deadline of the work; among equal criticalities the least laxity runs first.
        deadline: Time,
        /// Execution time of the whole segment.
        execution_time: Duration,
        /// The greatest runs first among equals.
        importance: i32,
    },
    /// Parameters of RMS+MLF: critical work by its rate, then all other work by its laxity.
    RateOrLaxity {
        /// Critical from [`SchedulingParameters::CRITICAL`] on.
        criticality: i32,
        /// The shortest runs first among critical work.
        period: Duration,
        /// Deadline of the work.
        deadline: Time,
        /// Execution time of the whole segment.
        execution_time: Duration,
        /// The greatest runs first among equals.
        importance: i32,
    },
    /// Parameters of MAU.
    Utility {
        /// Time until which the work has its full utility.
        deadline: Time,
        /// Execution time of the whole segment.
        execution_time: Duration,
        /// Utility of completing the work.
        utility: Utility,
    },
    /// Parameters of a user-defined scheduler.
    User(UserParameters),
}

/// Utility of completed work: `value` up to the deadline, then decreasing to nothing within `decay`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Utility {
    /// Full utility, in any unit common to all work.
    pub value: u32,
    /// Time after the deadline in which it falls to nothing, linearly; zero: immediately.
    pub decay: Duration,
}

impl Utility {
    /// Returns the utility of work that ends `late` after its deadline, rounded down.
    ///
    /// ```
    /// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
    /// use core::time::Duration;
    /// use punctual::rtscheduling::Utility;
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

/// Kind of scheduling parameters, with its number on the wire.
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use punctual::rtscheduling::{ParameterKind, SchedulingParameters, standard};
///
/// let parameters = SchedulingParameters::Importance { importance: 5 };
/// assert_eq!(parameters.kind(), ParameterKind::Importance);
/// assert_eq!(standard("MIF").map(|scheduler| scheduler.kind()), Some(parameters.kind()));
/// assert_eq!(parameters.kind().number(), 2, "on the wire");
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum ParameterKind {
    /// [`SchedulingParameters::FixedPriority`].
    FixedPriority,
    /// [`SchedulingParameters::Importance`].
    Importance,
    /// [`SchedulingParameters::Rate`].
    Rate,
    /// [`SchedulingParameters::Deadline`].
    Deadline,
    /// [`SchedulingParameters::Laxity`].
    Laxity,
    /// [`SchedulingParameters::Urgency`].
    Urgency,
    /// [`SchedulingParameters::RateOrLaxity`].
    RateOrLaxity,
    /// [`SchedulingParameters::Utility`].
    Utility,
    /// [`SchedulingParameters::User`].
    User(UserKind),
}

impl ParameterKind {
    /// The kinds of this library; that at index 0 has number 1.
    pub const STANDARD: [Self; 8] = [
        Self::FixedPriority,
        Self::Importance,
        Self::Rate,
        Self::Deadline,
        Self::Laxity,
        Self::Urgency,
        Self::RateOrLaxity,
        Self::Utility,
    ];

    /// Returns the number on the wire.
    pub const fn number(self) -> u16 {
        match self {
            Self::FixedPriority => 1,
            Self::Importance => 2,
            Self::Rate => 3,
            Self::Deadline => 4,
            Self::Laxity => 5,
            Self::Urgency => 6,
            Self::RateOrLaxity => 7,
            Self::Utility => 8,
            Self::User(kind) => kind.number(),
        }
    }
}

impl SchedulingParameters {
    /// Minimum criticality of critical work: HIGH of `RtecScheduler::Criticality_t`.
    pub const CRITICAL: i32 = 3;

    /// Returns the kind.
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
            Self::User(parameters) => ParameterKind::User(parameters.kind()),
        }
    }

    /// Returns the deadline, if they state one.
    pub fn deadline(&self) -> Option<Time> {
        match *self {
            Self::User(parameters) => parameters.deadline(),
            Self::FixedPriority { .. } | Self::Importance { .. } | Self::Rate { .. } => None,
            Self::Deadline { deadline, .. }
            | Self::Laxity { deadline, .. }
            | Self::Urgency { deadline, .. }
            | Self::RateOrLaxity { deadline, .. }
            | Self::Utility { deadline, .. } => Some(deadline),
        }
    }

    /// Returns the execution time of the whole segment, if they state one.
    pub const fn execution_time(&self) -> Option<Duration> {
        match *self {
            Self::FixedPriority { .. } | Self::Importance { .. } | Self::Rate { .. } | Self::User(_) => None,
            Self::Deadline { execution_time, .. } if execution_time.is_zero() => None,
            Self::Deadline { execution_time, .. }
            | Self::Laxity { execution_time, .. }
            | Self::Urgency { execution_time, .. }
            | Self::RateOrLaxity { execution_time, .. }
            | Self::Utility { execution_time, .. } => Some(execution_time),
        }
    }

    /// Returns the parameters for the work that remains after `received` processor time, at least zero: a
    /// thread takes these to another host.
    ///
    /// The execution time of [`Self::Deadline`] is the kernel's reservation in each period and does not
    /// change.
    ///
    /// ```
    /// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
    /// use core::time::Duration;
    /// use punctual::rtscheduling::{SchedulingParameters, Time};
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
            | Self::Deadline { .. }
            | Self::User(_) => {}
            Self::Laxity { execution_time, .. }
            | Self::Urgency { execution_time, .. }
            | Self::RateOrLaxity { execution_time, .. }
            | Self::Utility { execution_time, .. } => {
                *execution_time = execution_time.saturating_sub(received);
            }
        }
        self
    }

    /// Returns the parameters of a user-defined scheduler.
    pub const fn user(&self) -> Option<&UserParameters> {
        match self {
            Self::User(parameters) => Some(parameters),
            _ => None,
        }
    }

    /// Returns the importance, if they state one.
    pub const fn importance(&self) -> Option<i32> {
        match *self {
            Self::FixedPriority { .. } | Self::Utility { .. } | Self::User(_) => None,
            Self::Importance { importance }
            | Self::Rate { importance, .. }
            | Self::Deadline { importance, .. }
            | Self::Laxity { importance, .. }
            | Self::Urgency { importance, .. }
            | Self::RateOrLaxity { importance, .. } => Some(importance),
        }
    }

    /// Returns the criticality, if they state one.
    pub const fn criticality(&self) -> Option<i32> {
        match *self {
            Self::Urgency { criticality, .. } | Self::RateOrLaxity { criticality, .. } => Some(criticality),
            _ => None,
        }
    }

    /// Returns the period, if they state one.
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
