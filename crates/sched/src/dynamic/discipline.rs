//! Disciplines: orders of threads.

use core::time::Duration;

use super::{Claim, ParameterKind, SchedulingParameters, Time, UserParameters};

/// An order of threads, from which [`Ranked`](super::Ranked) makes a [`Scheduler`](super::Scheduler).
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::{cmp::Reverse, time::Duration};
/// use punctual::rtscheduling::{Claim, Discipline, ParameterKind, Ranked, Scheduler};
///
/// /// The shortest job runs first.
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
    /// Rank: the greatest runs first; equals run in the order in which they became ready.
    type Rank: Copy + Ord + Send;

    /// Returns the [name](super::Scheduler::name) of the scheduler.
    fn name(&self) -> &str;

    /// Returns the [kind](super::Scheduler::kind) of its parameters.
    fn kind(&self) -> ParameterKind;

    /// Returns the rank of a claim, whose parameters are of the discipline's [`kind`](Self::kind).
    ///
    /// The rank of a waiting thread must be constant, since its position in the queue is: a rank is a
    /// function of the claim, not of the time. (Laxities decrease, but all at the same rate: their rank is
    /// the latest start.) While a thread receives processor time its rank may fall if
    /// [`quantum`](Self::quantum) returns a time; it must not rise.
    fn rank(&self, claim: &Claim) -> Self::Rank;

    /// Returns the rank of a claim that [is hopeless](Claim::is_hopeless): not above its
    /// [`rank`](Self::rank), the default.
    fn late_rank(&self, claim: &Claim) -> Self::Rank {
        self.rank(claim)
    }

    /// Returns the [fixed eligibility](super::Scheduler::fixed_eligibility) of parameters. It must agree with
    /// the ranks: a claim of greater rank never has the smaller number.
    fn fixed_eligibility(&self, parameters: &SchedulingParameters) -> Option<i64> {
        let _ = parameters;
        None
    }

    /// [Marshals](super::Scheduler::marshal) parameters of its own kind.
    fn marshal(&self, parameters: &UserParameters, received: Duration) -> UserParameters {
        let _ = received;
        *parameters
    }

    /// [Unmarshals](super::Scheduler::unmarshal) parameters of its own kind.
    fn unmarshal(&self, parameters: &UserParameters) -> Option<UserParameters> {
        Some(*parameters)
    }

    /// [Adopts](super::Scheduler::adopt) parameters of another kind.
    fn adopt(&self, parameters: &SchedulingParameters, now: Time) -> Option<UserParameters> {
        let _ = (parameters, now);
        None
    }

    /// Returns `None` if a running thread keeps its rank. Otherwise returns the processor time for which a
    /// chosen thread keeps its rank before it falls: without this quantum, two threads of equal laxity would
    /// alternate at every decision. A thread of a greater rank preempts it nevertheless.
    fn quantum(&self) -> Option<Duration> {
        None
    }

    /// Returns the additional processor time after which a thread's rank falls below `waiting`; `None`:
    /// never.
    fn overtaken_after(&self, running: &Claim, waiting: &Self::Rank, now: Time) -> Option<Duration> {
        let _ = (running, waiting, now);
        None
    }
}
