//! Maximum urgency first.

use core::{cmp::Ordering, time::Duration};

use super::{Claim, Discipline, LaxityRank, ParameterKind, Ranked, Time, laxity::criticality};

/// MUF: the greatest criticality runs first; among equals the least laxity, then the greatest importance.
///
/// Critical work meets its deadlines as if no other work existed, under any overload.
/// [Hopeless](Claim::is_hopeless) work follows work of the same criticality that can still be in time: with
/// its negative laxity it would precede it, and an overloaded host would miss one deadline after the other.
/// Source: \[Stewart 1991\]; \[Gill 2004\] section 3.2, whose queues serve late work last
/// (`ACE_Dynamic_Message_Queue`). Laxities: [`LaxityRank`].
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MaximumUrgencyFirst, Scheduler, SchedulingParameters, Slot, Time};
///
/// let mut scheduler = MaximumUrgencyFirst::new();
/// let due = |criticality, deadline| SchedulingParameters::Urgency {
///     criticality,
///     deadline,
///     execution_time: Duration::ZERO,
///     importance: 0,
/// };
/// scheduler.ready(Slot(0), &due(0, Time(10)), Duration::ZERO, Time(0));
/// scheduler.ready(Slot(1), &due(4, Time(20)), Duration::ZERO, Time(0));
///
/// let mut chosen = Vec::new();
/// scheduler.choose(1, Time(0), &|_| Duration::ZERO, &mut chosen);
/// assert_eq!(chosen, [Slot(1)]);
/// ```
pub type MaximumUrgencyFirst = Ranked<Muf>;

/// The order of [`MaximumUrgencyFirst`].
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{Discipline, MaximumUrgencyFirst, Muf};
///
/// // Two threads of equal laxity alternate five times in a millisecond.
/// let scheduler = MaximumUrgencyFirst::of(Muf::with_quantum(Duration::from_micros(200)));
/// assert_eq!(scheduler.discipline().quantum(), Some(Duration::from_micros(200)));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Muf {
    quantum: Duration,
}

impl Default for Muf {
    fn default() -> Self {
        Self::with_quantum(LaxityRank::QUANTUM)
    }
}

impl Muf {
    /// Uses another quantum than [`LaxityRank::QUANTUM`]; see
    /// [`Mlf::with_quantum`](super::Mlf::with_quantum). More critical work does not wait for it.
    pub fn with_quantum(quantum: Duration) -> Self {
        Self {
            quantum: LaxityRank::checked_quantum(quantum),
        }
    }
}

impl Discipline for Muf {
    /// Criticality, whether the deadline can be met, laxity.
    type Rank = (i32, bool, LaxityRank);

    fn name(&self) -> &str {
        "MUF"
    }

    fn kind(&self) -> ParameterKind {
        ParameterKind::Urgency
    }

    fn rank(&self, claim: &Claim) -> Self::Rank {
        (criticality(&claim.parameters), true, LaxityRank::of(claim))
    }

    fn late_rank(&self, claim: &Claim) -> Self::Rank {
        (criticality(&claim.parameters), false, LaxityRank::of(claim))
    }

    fn quantum(&self) -> Option<Duration> {
        Some(self.quantum)
    }

    fn overtaken_after(
        &self,
        running: &Claim,
        (waiting, in_time, laxity): &Self::Rank,
        now: Time,
    ) -> Option<Duration> {
        let is_in_time = !running.is_hopeless(now);
        match criticality(&running.parameters).cmp(waiting) {
            Ordering::Less => return Some(Duration::ZERO),
            Ordering::Greater => return None,
            Ordering::Equal => {}
        }
        let by_laxity = || LaxityRank::overtaken_after(running, laxity);
        // Work that exceeds its declared execution time is late from its deadline on.
        let deadline = running
            .parameters
            .deadline()
            .filter(|deadline| *deadline != Time::NEVER);
        let by_lateness = deadline.map(|deadline| deadline.since(now) + Duration::from_nanos(1));
        match (is_in_time, in_time) {
            (false, true) => Some(Duration::ZERO),
            (false, false) => by_laxity(),
            (true, false) => by_lateness,
            (true, true) => [by_laxity(), by_lateness].into_iter().flatten().min(),
        }
    }
}
