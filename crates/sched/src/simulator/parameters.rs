//! Scheduling parameters of a model.

use core::time::Duration;

use punctual_types::Priority;

use crate::dynamic::{ParameterKind, SchedulingParameters, Time, Utility};

/// Scheduling parameters for every discipline. Each scheduler uses those that it needs, so that one model
/// runs under all of them.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{ParameterKind, SchedulingParameters, Time, simulator::Parameters};
///
/// let deadline = Some(Duration::from_nanos(500));
/// let parameters = Parameters { importance: 7, deadline, ..Parameters::default() };
/// // Each scheduler gets what it needs.
/// let important = parameters.at(ParameterKind::Importance, Time(0));
/// assert_eq!(important, SchedulingParameters::Importance { importance: 7 });
/// assert_eq!(parameters.at(ParameterKind::Deadline, Time(100)).deadline(), Some(Time(600)));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Parameters {
    /// Priority, for FP.
    pub priority: Priority,
    /// Importance, for TP and MIF; decides between equals elsewhere.
    pub importance: i32,
    /// Criticality, for MUF and RMS+MLF, and for shedding.
    pub criticality: i32,
    /// Period, for RMS and RMS+MLF; zero for work that does not recur.
    pub period: Duration,
    /// Deadline, from the arrival or the beginning of the segment; `None` without one.
    pub deadline: Option<Duration>,
    /// Declared execution time.
    pub execution_time: Duration,
    /// Utility of meeting the deadline.
    pub utility: Utility,
}

impl Default for Parameters {
    /// Returns the least eligible parameters: no deadline, not critical, utility 1.
    fn default() -> Self {
        Self {
            priority: Priority::MIN,
            importance: 0,
            criticality: 0,
            period: Duration::ZERO,
            deadline: None,
            execution_time: Duration::ZERO,
            utility: Utility {
                value: 1,
                decay: Duration::ZERO,
            },
        }
    }
}

impl Parameters {
    /// Returns the parameters for a scheduler of this kind, for work that began at `from`.
    pub fn at(&self, kind: ParameterKind, from: Time) -> SchedulingParameters {
        let Self {
            priority,
            importance,
            criticality,
            execution_time,
            utility,
            ..
        } = *self;
        let deadline = self.deadline.map_or(Time::NEVER, |deadline| from + deadline);
        let period = if self.period.is_zero() {
            Duration::MAX
        } else {
            self.period
        };
        match kind {
            ParameterKind::FixedPriority => SchedulingParameters::FixedPriority { priority },
            ParameterKind::Importance => SchedulingParameters::Importance { importance },
            ParameterKind::Rate => SchedulingParameters::Rate { period, importance },
            ParameterKind::Deadline => SchedulingParameters::Deadline {
                deadline,
                period: self.period,
                execution_time,
                importance,
            },
            ParameterKind::Laxity => SchedulingParameters::Laxity {
                deadline,
                execution_time,
                importance,
            },
            ParameterKind::Urgency => SchedulingParameters::Urgency {
                criticality,
                deadline,
                execution_time,
                importance,
            },
            // All attributes that a model states, for the scheduler to adopt.
            ParameterKind::RateOrLaxity | ParameterKind::User(_) => SchedulingParameters::RateOrLaxity {
                criticality,
                period,
                deadline,
                execution_time,
                importance,
            },
            ParameterKind::Utility => SchedulingParameters::Utility {
                deadline,
                execution_time,
                utility,
            },
        }
    }

    /// Returns whether the criticality is at least [`SchedulingParameters::CRITICAL`].
    pub const fn is_critical(&self) -> bool {
        self.criticality >= SchedulingParameters::CRITICAL
    }
}
