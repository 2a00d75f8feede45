//! Ranks by laxity.

use core::{cmp::Reverse, time::Duration};

use super::{Claim, SchedulingParameters};

/// Rank of a claim by its laxity: deadline − now − remaining execution time.
///
/// The laxities of waiting threads decrease at the same rate, so their order is that of the latest starts,
/// and constant. The laxity of a running thread is constant: its latest start increases with the processor
/// time that it receives.
///
/// Laxities can be negative: the latest start of work that can no longer be in time is in the past, and
/// precedes that of work that still can. An overloaded host then executes work that is lost. Cancel
/// [hopeless](Claim::is_hopeless) work, or use a scheduler that defers it
/// ([`MaximumUrgencyFirst`](super::MaximumUrgencyFirst),
/// [`MaximumAccruedUtility`](super::MaximumAccruedUtility)). Work without a deadline has the greatest laxity.
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{Claim, LaxityRank, SchedulingParameters, Time};
///
/// let rank = |deadline_ms, execution_ms| {
///     let parameters = SchedulingParameters::Laxity {
///         deadline: Time(0) + Duration::from_millis(deadline_ms),
///         execution_time: Duration::from_millis(execution_ms),
///         importance: 0,
///     };
///     LaxityRank::of(&Claim::new(parameters, Duration::ZERO))
/// };
/// assert!(rank(12, 9) > rank(10, 1), "it has to start by 3 ms, the other one by 9 ms");
/// ```
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct LaxityRank {
    latest_start: Reverse<i128>,
    importance: i32,
}

impl LaxityRank {
    /// Default time for which a thread keeps the processor from threads whose laxity has become equal to its
    /// own.
    pub const QUANTUM: Duration = Duration::from_millis(1);
    /// Minimum quantum.
    pub const LEAST_QUANTUM: Duration = Duration::from_micros(1);

    /// Returns the rank of a claim.
    pub fn of(claim: &Claim) -> Self {
        Self {
            latest_start: Reverse(claim.latest_start()),
            importance: claim.parameters.importance().unwrap_or_default(),
        }
    }

    /// Returns the additional processor time after which the claim's rank is below `waiting`; `None`: never,
    /// because its latest start does not exceed its deadline.
    pub fn overtaken_after(claim: &Claim, waiting: &Self) -> Option<Duration> {
        let running = Self::of(claim);
        let mut overtaking = waiting.latest_start.0;
        if running.importance >= waiting.importance {
            overtaking = overtaking.checked_add(1)?;
        }
        let end = claim
            .parameters
            .deadline()
            .filter(|_| running.latest_start.0 != i128::MAX)?;
        if overtaking > i128::from(end.0) {
            return None;
        }
        let after = overtaking.saturating_sub(running.latest_start.0).max(0);
        Some(Duration::from_nanos(u64::try_from(after).unwrap_or(u64::MAX)))
    }

    /// Raises a quantum to [`LEAST_QUANTUM`](Self::LEAST_QUANTUM) if necessary.
    pub(super) fn checked_quantum(quantum: Duration) -> Duration {
        quantum.max(Self::LEAST_QUANTUM)
    }
}

/// Returns the criticality of parameters; 0 if they have none.
pub(super) fn criticality(parameters: &SchedulingParameters) -> i32 {
    parameters.criticality().unwrap_or_default()
}
