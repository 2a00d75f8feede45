use core::{cmp::Ordering, time::Duration};

use super::{Claim, Discipline, LaxityRank, ParameterKind, Ranked, Time, laxity::criticality};

/// MUF: the more critical goes first; among those the one with the least laxity, then the more important.
///
/// What is critical meets its deadlines as if nothing else were there, whatever the overload. What [is hopeless](Claim::is_hopeless)
/// goes behind what is as critical and can still be in time: with a negative laxity it would go before, and an overloaded host lose
/// one after the other. Source: Stewart and Khosla, Real-Time Scheduling of Sensor-Based Control Systems, 1991; \[S4\] section 3.2,
/// whose queues take what is late last (`ACE_Dynamic_Message_Queue`). Laxities: [`LaxityRank`].
pub type MaximumUrgencyFirst = Ranked<Muf>;

/// The order of [`MaximumUrgencyFirst`].
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
    /// With another least quantum than [`LaxityRank::QUANTUM`]; see [`Mlf::with_quantum`](super::Mlf::with_quantum). The more
    /// critical does not wait for it.
    pub fn with_quantum(quantum: Duration) -> Self {
        Self {
            quantum: LaxityRank::checked_quantum(quantum),
        }
    }
}

impl Discipline for Muf {
    /// Criticality, whether it can be in time, laxity.
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
        // One that takes longer than it said is late from its deadline on.
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
