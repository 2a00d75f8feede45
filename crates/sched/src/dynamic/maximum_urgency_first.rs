use core::time::Duration;

use super::{Claim, Discipline, LaxityRank, ParameterKind, Ranked, laxity::criticality};

/// MUF: the more critical goes first; among those the one with the least laxity, then the more important.
///
/// What is critical meets its deadlines as if nothing else were there, whatever the overload. Source: Stewart and Khosla,
/// Real-Time Scheduling of Sensor-Based Control Systems, 1991; \[S4\] section 3.2. Laxities: [`LaxityRank`].
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
    type Rank = (i32, LaxityRank);

    fn name(&self) -> &str {
        "MUF"
    }

    fn kind(&self) -> ParameterKind {
        ParameterKind::Urgency
    }

    fn rank(&self, claim: &Claim) -> Self::Rank {
        (criticality(&claim.parameters), LaxityRank::of(claim))
    }

    fn quantum(&self) -> Option<Duration> {
        Some(self.quantum)
    }

    fn overtaken_after(&self, running: &Claim, (waiting, laxity): &Self::Rank) -> Option<Duration> {
        match criticality(&running.parameters).cmp(waiting) {
            core::cmp::Ordering::Less => Some(Duration::ZERO),
            core::cmp::Ordering::Equal => LaxityRank::overtaken_after(running, laxity),
            core::cmp::Ordering::Greater => None,
        }
    }
}
