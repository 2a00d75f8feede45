use core::{cmp::Reverse, time::Duration};

use super::{Claim, SchedulingParameters};

/// Where a claim stands by its laxity: deadline − now − remaining execution time.
///
/// Of those that wait the laxities shrink at the same speed, so their order is that of the latest starts, and constant. The
/// laxity of one that runs stays the same: its latest start moves on with what it receives.
///
/// Laxities go below zero: what can no longer be in time has its latest start in the past, and comes before what still can. An
/// overloaded host then works on what is lost already. Cancel what [is hopeless](Claim::is_hopeless), or leave it behind
/// ([`MaximumUrgencyFirst`](super::MaximumUrgencyFirst), [`MaximumAccruedUtility`](super::MaximumAccruedUtility)). Without a deadline the laxity is greater than all others.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct LaxityRank {
    latest_start: Reverse<i128>,
    importance: i32,
}

impl LaxityRank {
    /// For how long a thread keeps the processor at least against those whose laxity has come to equal its own.
    pub const QUANTUM: Duration = Duration::from_millis(1);
    /// No quantum is shorter.
    pub const LEAST_QUANTUM: Duration = Duration::from_micros(1);

    /// Of a claim with these parameters.
    pub fn of(claim: &Claim) -> Self {
        Self {
            latest_start: Reverse(claim.latest_start()),
            importance: claim.parameters.importance().unwrap_or_default(),
        }
    }

    /// After how much more processor time the claim's rank is below `waiting`; `None`: never, as its latest start does not move
    /// beyond its deadline.
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

    /// A discipline's setting: not below [`LEAST_QUANTUM`](Self::LEAST_QUANTUM).
    pub(super) fn checked_quantum(quantum: Duration) -> Duration {
        quantum.max(Self::LEAST_QUANTUM)
    }
}

/// The criticality, where the parameters have one.
pub(super) fn criticality(parameters: &SchedulingParameters) -> i32 {
    parameters.criticality().unwrap_or_default()
}
