//! Claims of threads on processor time.

use core::time::Duration;

use super::{SchedulingParameters, Time, TimedWork};

/// Parameters of a thread's present segment, and the processor time it has received.
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{Claim, SchedulingParameters, Time};
///
/// let milliseconds = Duration::from_millis;
/// let parameters = SchedulingParameters::Laxity {
///     deadline: Time(0) + milliseconds(10),
///     execution_time: milliseconds(4),
///     importance: 0,
/// };
/// let claim = Claim::new(parameters, milliseconds(1));
/// assert_eq!(claim.remaining(), milliseconds(3));
/// assert!(!claim.is_hopeless(Time(0) + milliseconds(7)));
/// assert!(claim.is_hopeless(Time(1) + milliseconds(7)));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Claim {
    /// Scheduling parameters.
    pub parameters: SchedulingParameters,
    /// Processor time that the segment has received.
    pub received: Duration,
}

impl Claim {
    /// Creates the claim of a segment that has received this processor time.
    pub const fn new(parameters: SchedulingParameters, received: Duration) -> Self {
        Self { parameters, received }
    }

    /// Returns the remaining processor time; zero if the parameters do not state it, or if the segment has
    /// received more.
    pub fn remaining(&self) -> Duration {
        let asked = self.parameters.execution_time().unwrap_or_default();
        asked.saturating_sub(self.received)
    }

    /// Returns whether it can no longer meet its deadline, even if it ran alone from now on: its laxity is
    /// negative. With a utility: whether its utility is lost. Always `false` without a deadline.
    ///
    /// An operation that is useless when late is best cancelled at this moment.
    pub fn is_hopeless(&self, now: Time) -> bool {
        TimedWork::of(&self.parameters).is_some_and(|work| work.is_hopeless(self.received, now))
    }

    /// Returns parameters of the same urgency that do not become less urgent while a thread runs: the
    /// deadline is the latest start. A waiting thread lends them to the owner of the resource, whose progress
    /// does not reduce the waiter's work. They apply to a thread that has received nothing yet.
    pub fn lent(&self) -> SchedulingParameters {
        let remaining = self.remaining();
        let mut parameters = self.parameters;
        match &mut parameters {
            SchedulingParameters::Laxity {
                deadline,
                execution_time,
                ..
            }
            | SchedulingParameters::Urgency {
                deadline,
                execution_time,
                ..
            }
            | SchedulingParameters::RateOrLaxity {
                deadline,
                execution_time,
                ..
            } => {
                if *deadline != Time::NEVER {
                    *deadline = *deadline - remaining;
                }
                *execution_time = Duration::ZERO;
            }
            SchedulingParameters::Utility { execution_time, .. } => *execution_time = remaining,
            _ => {}
        }
        parameters
    }

    /// Returns the latest start in nanoseconds of the clock; negative if it is before the clock's beginning.
    pub(super) fn latest_start(&self) -> i128 {
        match self.parameters.deadline() {
            None | Some(Time::NEVER) => i128::MAX,
            Some(deadline) => {
                let remaining = i128::try_from(self.remaining().as_nanos()).unwrap_or(i128::MAX);
                i128::from(deadline.0) - remaining
            }
        }
    }
}

impl SchedulingParameters {
    /// Adapts [lent](Claim::lent) parameters to a thread that has received processor time before: the utility
    /// density is kept.
    pub(super) fn of_thread_that_received(mut self, received: Duration) -> Self {
        if let Self::Utility { execution_time, .. } = &mut self {
            *execution_time = execution_time.saturating_add(received);
        }
        self
    }
}
