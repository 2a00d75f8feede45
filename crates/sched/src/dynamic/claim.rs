use core::time::Duration;

use super::{SchedulingParameters, Time};

/// What a thread's present segment is scheduled by, and how much of what it asks for it has had.
///
/// ```
/// use core::time::Duration;
/// use punctual_sched::dynamic::{Claim, SchedulingParameters, Time};
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
    /// By what it is scheduled.
    pub parameters: SchedulingParameters,
    /// The processor time that the segment has had.
    pub received: Duration,
}

impl Claim {
    /// Of a segment that has had so much processor time.
    pub const fn new(parameters: SchedulingParameters, received: Duration) -> Self {
        Self { parameters, received }
    }

    /// The processor time that is still missing; zero where the parameters do not say it, and where it has had more than they
    /// said.
    pub fn remaining(&self) -> Duration {
        let asked = self.parameters.execution_time().unwrap_or_default();
        asked.saturating_sub(self.received)
    }

    /// Whether it can no longer end in time, even if it ran alone from now on: its laxity is negative. With a utility: whether
    /// it can no longer be worth anything. Never without a deadline.
    ///
    /// That is the moment to cancel an operation that nobody wants late.
    pub fn is_hopeless(&self, now: Time) -> bool {
        let decay = match self.parameters {
            SchedulingParameters::Utility { utility, .. } => utility.decay,
            _ => Duration::ZERO,
        };
        match self.parameters.deadline() {
            None | Some(Time::NEVER) => false,
            Some(deadline) => now + self.remaining() > deadline + decay,
        }
    }

    /// The same urgency in parameters that do not become less urgent while the thread runs: what it must be through with by its
    /// latest start. A thread lends these to the owner of what it waits for, which makes progress for it, but not its. They hold
    /// for a thread that has not received anything yet.
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

    /// When it has to start at the latest, in nanoseconds of the clock: before the clock's beginning where it is that late.
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
    /// What was [lent](Claim::lent), for a thread that has received processor time before: a utility keeps its density.
    pub(super) fn of_thread_that_received(mut self, received: Duration) -> Self {
        if let Self::Utility { execution_time, .. } = &mut self {
            *execution_time = execution_time.saturating_add(received);
        }
        self
    }
}
