//! Translation of scheduling parameters for schedulers of other disciplines.

use core::time::Duration;

use punctual_types::Priority;

use super::{ParameterKind, SchedulingParameters, Time, UserParameters, Utility};

/// Defaults for attributes that parameters do not have.
///
/// A distributable thread can cross hosts with different schedulers. Attributes that both kinds have are
/// kept, and with them their order. The others are derived:
///
/// | Missing attribute | Derived from | Otherwise |
/// |---|---|---|
/// | priority | equivalent priority (below) | |
/// | importance | priority, or the value of the utility | |
/// | criticality | equivalent priority ÷ [`criticality_step`](TranslationDefaults::criticality_step): 0 to 4 | |
/// | value of the utility | equivalent priority, at least 1 | |
/// | decay of the utility | | [`decay`](TranslationDefaults::decay) |
/// | deadline | now + period (the end of the period) | now + [`deadline`](TranslationDefaults::deadline) |
/// | period, for RMS and RMS+MLF | deadline − now | [`Duration::MAX`]: after all work with a period |
/// | period, for EDF | | zero: not required |
/// | execution time | | [`execution_time`](TranslationDefaults::execution_time) |
///
/// The equivalent priority expresses all parameters on the scale of CORBA priorities, 0 to 32767: a priority
/// is itself; with a criticality it is criticality ×
/// [`criticality_step`](TranslationDefaults::criticality_step) + importance (at most one step less 1); else
/// it is the importance or the value of the utility. Values beyond a scale are clamped.
///
/// The reverse translation does not restore attributes that a kind does not have: the runtime keeps the
/// original parameters and passes these on to the next host.
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{ParameterKind, SchedulingParameters, Time, TranslationDefaults};
///
/// // A thread of a rate-monotonic host arrives at one with EDF.
/// let defaults = TranslationDefaults { now: Time(1_000), ..TranslationDefaults::default() };
/// let rate = SchedulingParameters::Rate { period: Duration::from_micros(5), importance: 2 };
/// let here = rate.translated(ParameterKind::Deadline, &defaults);
/// assert_eq!((here.deadline(), here.importance()), (Some(Time(6_000)), Some(2)));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TranslationDefaults {
    /// Time of the translation, from which deadlines and periods count.
    pub now: Time,
    /// Deadline, from now, of work that has neither deadline nor period. Default: [`Duration::MAX`], no
    /// deadline.
    pub deadline: Duration,
    /// Execution time. Default: zero, with which laxities are the time to the deadline.
    pub execution_time: Duration,
    /// Decay of the utility. Default: zero, with which late work has no utility.
    pub decay: Duration,
    /// Number of priorities or importances per criticality, at least 1. Default: 6554, which divides the
    /// CORBA priorities into five levels, the number of `RtecScheduler::Criticality_t`.
    pub criticality_step: i32,
}

impl Default for TranslationDefaults {
    fn default() -> Self {
        Self {
            now: Time::default(),
            deadline: Duration::MAX,
            execution_time: Duration::ZERO,
            decay: Duration::ZERO,
            criticality_step: 6554,
        }
    }
}

impl SchedulingParameters {
    /// Translates the parameters to another kind as described by the module; parameters of that kind are
    /// unchanged.
    ///
    /// ```
    /// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
    /// use core::time::Duration;
    /// use punctual::rtscheduling::{ParameterKind, SchedulingParameters, Time, TranslationDefaults};
    ///
    /// let track = SchedulingParameters::Rate { period: Duration::from_millis(20), importance: 7 };
    /// let defaults = TranslationDefaults { now: Time(1_000_000), ..TranslationDefaults::default() };
    /// assert_eq!(
    ///     track.translated(ParameterKind::Laxity, &defaults),
    ///     SchedulingParameters::Laxity {
    ///         deadline: Time(21_000_000),
    ///         execution_time: Duration::ZERO,
    ///         importance: 7,
    ///     }
    /// );
    /// ```
    pub fn translated(self, to: ParameterKind, defaults: &TranslationDefaults) -> Self {
        if self.kind() == to {
            return self;
        }
        let importance = self.importance().unwrap_or_else(|| self.derived_importance());
        let deadline = || self.deadline().unwrap_or_else(|| self.derived_deadline(defaults));
        let execution_time = self.execution_time().unwrap_or(defaults.execution_time);
        let criticality = || {
            let priority = i32::from(self.equivalent_priority(defaults));
            let derived = priority / defaults.criticality_step.max(1);
            self.criticality().unwrap_or(derived)
        };
        match to {
            ParameterKind::User(kind) => {
                Self::User(UserParameters::empty(kind).with_deadline(self.deadline().unwrap_or(Time::NEVER)))
            }
            ParameterKind::FixedPriority => Self::FixedPriority {
                priority: Priority::new(self.equivalent_priority(defaults)).unwrap_or(Priority::MIN),
            },
            ParameterKind::Importance => Self::Importance { importance },
            ParameterKind::Rate => Self::Rate {
                period: self.period().unwrap_or_else(|| self.derived_period(defaults)),
                importance,
            },
            ParameterKind::Deadline => Self::Deadline {
                deadline: deadline(),
                period: self.period().unwrap_or_default(),
                execution_time,
                importance,
            },
            ParameterKind::Laxity => Self::Laxity {
                deadline: deadline(),
                execution_time,
                importance,
            },
            ParameterKind::Urgency => Self::Urgency {
                criticality: criticality(),
                deadline: deadline(),
                execution_time,
                importance,
            },
            ParameterKind::RateOrLaxity => Self::RateOrLaxity {
                criticality: criticality(),
                period: self.period().unwrap_or_else(|| self.derived_period(defaults)),
                deadline: deadline(),
                execution_time,
                importance,
            },
            ParameterKind::Utility => Self::Utility {
                deadline: deadline(),
                execution_time,
                utility: Utility {
                    value: u32::from(self.equivalent_priority(defaults).unsigned_abs()).max(1),
                    decay: defaults.decay,
                },
            },
        }
    }

    /// Returns the equivalent CORBA priority.
    fn equivalent_priority(&self, defaults: &TranslationDefaults) -> i16 {
        let step = i64::from(defaults.criticality_step.max(1));
        let importance = i64::from(self.importance().unwrap_or_else(|| self.derived_importance()));
        let priority = match self.criticality() {
            Some(criticality) => i64::from(criticality.max(0)) * step + importance.clamp(0, step - 1),
            None => importance,
        };
        i16::try_from(priority.max(0)).unwrap_or(i16::MAX)
    }

    fn derived_importance(&self) -> i32 {
        match *self {
            Self::FixedPriority { priority } => priority.value().into(),
            Self::Utility { utility, .. } => i32::try_from(utility.value).unwrap_or(i32::MAX),
            _ => 0,
        }
    }

    fn derived_deadline(&self, defaults: &TranslationDefaults) -> Time {
        defaults.now + self.period().unwrap_or(defaults.deadline)
    }

    fn derived_period(&self, defaults: &TranslationDefaults) -> Duration {
        match self.deadline() {
            None | Some(Time::NEVER) => Duration::MAX,
            Some(deadline) => deadline.since(defaults.now),
        }
    }
}
