use core::time::Duration;

use super::{Claim, ParameterKind, SchedulingParameters, Time};

/// An order of threads, which [`Ranked`](super::Ranked) makes a [`Scheduler`](super::Scheduler) of.
///
/// ```
/// use core::{cmp::Reverse, time::Duration};
/// use punctual_sched::dynamic::{Claim, Discipline, ParameterKind, Ranked, Scheduler};
///
/// /// What takes the least goes first.
/// struct ShortestFirst;
///
/// impl Discipline for ShortestFirst {
///     type Rank = Reverse<Duration>;
///
///     fn name(&self) -> &str {
///         "SJF"
///     }
///
///     fn kind(&self) -> ParameterKind {
///         ParameterKind::Laxity
///     }
///
///     fn rank(&self, claim: &Claim) -> Self::Rank {
///         Reverse(claim.parameters.execution_time().unwrap_or(Duration::MAX))
///     }
/// }
///
/// let scheduler: Box<dyn Scheduler> = Box::new(Ranked::of(ShortestFirst));
/// assert_eq!(scheduler.name(), "SJF");
/// ```
pub trait Discipline: Send {
    /// Greater goes first. Equals go in the order in which they became ready.
    type Rank: Copy + Ord + Send;

    /// See [`Scheduler::name`](super::Scheduler::name).
    fn name(&self) -> &str;

    /// See [`Scheduler::kind`](super::Scheduler::kind).
    fn kind(&self) -> ParameterKind;

    /// Where a claim stands. Its parameters are of the discipline's [`kind`](Self::kind).
    ///
    /// While a thread waits its rank must stay the same, or it would be out of place in the queue: a rank is a function of the
    /// claim, not of the time. (Laxities shrink, but all at the same speed: their rank is the latest start.) As a thread receives
    /// processor time its rank may fall, where [`quantum`](Self::quantum) says so; it must not rise.
    fn rank(&self, claim: &Claim) -> Self::Rank;

    /// Where a claim stands once it [is hopeless](Claim::is_hopeless): not before its [`rank`](Self::rank), which it is by default.
    fn late_rank(&self, claim: &Claim) -> Self::Rank {
        self.rank(claim)
    }

    /// See [`Scheduler::fixed_eligibility`](super::Scheduler::fixed_eligibility). Must agree with the ranks: of two claims the
    /// one with the greater rank never has the smaller number.
    fn fixed_eligibility(&self, parameters: &SchedulingParameters) -> Option<i64> {
        let _ = parameters;
        None
    }

    /// `None` where a thread keeps its rank as it runs. Else for how much processor time a thread that has been chosen keeps it,
    /// before its rank falls with what it receives: without such a least time two threads of equal laxity take turns at every
    /// decision. In that time a thread whose rank is greater than the one it was chosen with displaces it all the same.
    fn quantum(&self) -> Option<Duration> {
        None
    }

    /// After how much more processor time a thread's rank falls below `waiting`; `None`: never.
    fn overtaken_after(&self, running: &Claim, waiting: &Self::Rank, now: Time) -> Option<Duration> {
        let _ = (running, waiting, now);
        None
    }
}
