//! Disciplines defined by a function.

use alloc::{borrow::ToOwned, string::String};

use super::{Claim, Discipline, ParameterKind, Ranked};

/// A discipline defined by a function.
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use punctual::rtscheduling::{Discipline, ParameterKind, Ranked, Scheduler};
///
/// let scheduler = Ranked::by("least important first", ParameterKind::Importance, |claim| {
///     claim.parameters.importance().map(core::cmp::Reverse)
/// });
/// // The discipline of the scheduler is a `ByRank`.
/// assert_eq!(scheduler.discipline().kind(), ParameterKind::Importance);
/// assert_eq!(scheduler.name(), "least important first");
/// ```
#[derive(Clone, Debug)]
pub struct ByRank<F> {
    name: String,
    kind: ParameterKind,
    rank: F,
}

impl<F, R> Ranked<ByRank<F>>
where
    F: Fn(&Claim) -> R + Send,
    R: Copy + Ord + Send,
{
    /// Creates a scheduler from a function: the thread whose claim has the greatest `rank` runs first. The
    /// claims have parameters of `kind`. The rank must not depend on received processor time once a thread is
    /// ready; see [`Discipline::rank`].
    ///
    /// ```
    /// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
    /// use core::{cmp::Reverse, time::Duration};
    /// use punctual::rtscheduling::{ParameterKind, Ranked, Scheduler, SchedulingParameters, Slot, Time};
    ///
    /// let mut shortest_first = Ranked::by("SJF", ParameterKind::Laxity, |claim| {
    ///     Reverse(claim.parameters.execution_time())
    /// });
    /// let takes = |milliseconds| SchedulingParameters::Laxity {
    ///     deadline: Time::NEVER,
    ///     execution_time: Duration::from_millis(milliseconds),
    ///     importance: 0,
    /// };
    /// shortest_first.ready(Slot(0), &takes(5), Duration::ZERO, Time(0));
    /// shortest_first.ready(Slot(1), &takes(2), Duration::ZERO, Time(0));
    ///
    /// let mut chosen = Vec::new();
    /// shortest_first.choose(1, Time(0), &|_| Duration::ZERO, &mut chosen);
    /// assert_eq!(chosen, [Slot(1)]);
    /// ```
    pub fn by(name: &str, kind: ParameterKind, rank: F) -> Self {
        Self::of(ByRank {
            name: name.to_owned(),
            kind,
            rank,
        })
    }
}

impl<F, R> Discipline for ByRank<F>
where
    F: Fn(&Claim) -> R + Send,
    R: Copy + Ord + Send,
{
    type Rank = R;

    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> ParameterKind {
        self.kind
    }

    fn rank(&self, claim: &Claim) -> R {
        (self.rank)(claim)
    }
}
