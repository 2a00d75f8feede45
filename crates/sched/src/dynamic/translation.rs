//! Parameters for a scheduler of another discipline than the one they were made for.
//!
//! A distributable thread may cross hosts with different schedulers. What both kinds have stays as it is, so that its order is
//! kept. The rest follows from what there is:
//!
//! | Missing | Comes from | Else |
//! |---|---|---|
//! | priority | the standing (below) | |
//! | importance | priority, or the value of the utility | |
//! | criticality | standing ÷ [`criticality_step`](TranslationDefaults::criticality_step): 0 to 4 | |
//! | value of the utility | the standing, at least 1 | |
//! | decay of the utility | | [`decay`](TranslationDefaults::decay) |
//! | deadline | now + period (the end of the period) | now + [`deadline`](TranslationDefaults::deadline) |
//! | period, for RMS and RMS+MLF | deadline − now | [`Duration::MAX`]: after all that has one |
//! | period, for EDF | | zero: it does not need one |
//! | execution time | | [`execution_time`](TranslationDefaults::execution_time) |
//!
//! The standing puts everything on the scale of CORBA priorities, 0 to 32767: a priority is itself; with a criticality it is
//! criticality × [`criticality_step`](TranslationDefaults::criticality_step) + importance (at most one step less 1); else the
//! importance or the value of the utility. What lies outside of a scale goes to its end.
//!
//! The way back does not restore what a kind has no place for: the runtime keeps the original, and passes that on to the next
//! host.

use core::time::Duration;

use punctual_types::Priority;

use super::{ParameterKind, SchedulingParameters, Time, Utility};

/// What stands for attributes that parameters do not have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TranslationDefaults {
    /// When the translation happens: deadlines and periods are counted from here.
    pub now: Time,
    /// The deadline of what has neither deadline nor period, from now; [`Duration::MAX`], the default, is none.
    pub deadline: Duration,
    /// Zero is the default: laxities are then the time to the deadline.
    pub execution_time: Duration,
    /// Zero is the default: late work is worth nothing.
    pub decay: Duration,
    /// How many priorities or importances make one criticality: 6554 is the default, which makes five levels of the CORBA
    /// priorities, as many as `RtecScheduler::Criticality_t` has. At least 1.
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
    /// These as parameters of another kind; as they are where they are of this kind already. The module's table says how.
    ///
    /// ```
    /// use core::time::Duration;
    /// use punctual_sched::dynamic::{ParameterKind, SchedulingParameters, Time, TranslationDefaults};
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
        let importance = self.importance().unwrap_or_else(|| self.importance_instead());
        let deadline = || self.deadline().unwrap_or_else(|| self.deadline_instead(defaults));
        let execution_time = self.execution_time().unwrap_or(defaults.execution_time);
        let criticality = || {
            let standing = i32::from(self.standing(defaults));
            let derived = standing / defaults.criticality_step.max(1);
            self.criticality().unwrap_or(derived)
        };
        match to {
            ParameterKind::FixedPriority => Self::FixedPriority {
                priority: Priority::new(self.standing(defaults)).unwrap_or(Priority::MIN),
            },
            ParameterKind::Importance => Self::Importance { importance },
            ParameterKind::Rate => Self::Rate {
                period: self.period().unwrap_or_else(|| self.period_instead(defaults)),
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
                period: self.period().unwrap_or_else(|| self.period_instead(defaults)),
                deadline: deadline(),
                execution_time,
                importance,
            },
            ParameterKind::Utility => Self::Utility {
                deadline: deadline(),
                execution_time,
                utility: Utility {
                    value: u32::from(self.standing(defaults).unsigned_abs()).max(1),
                    decay: defaults.decay,
                },
            },
        }
    }

    /// Where it stands on the scale of CORBA priorities.
    fn standing(&self, defaults: &TranslationDefaults) -> i16 {
        let step = i64::from(defaults.criticality_step.max(1));
        let importance = i64::from(self.importance().unwrap_or_else(|| self.importance_instead()));
        let standing = match self.criticality() {
            Some(criticality) => i64::from(criticality.max(0)) * step + importance.clamp(0, step - 1),
            None => importance,
        };
        i16::try_from(standing.max(0)).unwrap_or(i16::MAX)
    }

    fn importance_instead(&self) -> i32 {
        match *self {
            Self::FixedPriority { priority } => priority.value().into(),
            Self::Utility { utility, .. } => i32::try_from(utility.value).unwrap_or(i32::MAX),
            _ => 0,
        }
    }

    fn deadline_instead(&self, defaults: &TranslationDefaults) -> Time {
        defaults.now + self.period().unwrap_or(defaults.deadline)
    }

    fn period_instead(&self, defaults: &TranslationDefaults) -> Duration {
        match self.deadline() {
            None | Some(Time::NEVER) => Duration::MAX,
            Some(deadline) => deadline.since(defaults.now),
        }
    }
}
