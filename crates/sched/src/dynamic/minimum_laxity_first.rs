use core::time::Duration;

use super::{Claim, Discipline, LaxityRank, ParameterKind, Ranked, Time};

/// MLF, also called LLF: what has the least laxity goes first; among equals the more important. RT-CORBA 1.2, `LLF_Scheduling`.
///
/// Two threads of equal laxity take turns after each [quantum](Mlf::with_quantum), not at each decision. [`LaxityRank`] says what
/// happens below zero. On one processor it meets all deadlines whenever any scheduler could, but for the quantum.
pub type MinimumLaxityFirst = Ranked<Mlf>;

/// The order of [`MinimumLaxityFirst`].
#[derive(Clone, Copy, Debug)]
pub struct Mlf {
    quantum: Duration,
}

impl Default for Mlf {
    fn default() -> Self {
        Self::with_quantum(LaxityRank::QUANTUM)
    }
}

impl Mlf {
    /// With another least quantum than [`LaxityRank::QUANTUM`]. A longer one costs fewer switches; deadlines may be missed by it.
    /// At least [`LaxityRank::LEAST_QUANTUM`].
    ///
    /// ```
    /// use core::time::Duration;
    /// use punctual_sched::dynamic::{MinimumLaxityFirst, Mlf};
    ///
    /// let scheduler = MinimumLaxityFirst::of(Mlf::with_quantum(Duration::from_micros(200)));
    /// ```
    pub fn with_quantum(quantum: Duration) -> Self {
        Self {
            quantum: LaxityRank::checked_quantum(quantum),
        }
    }
}

impl Discipline for Mlf {
    type Rank = LaxityRank;

    fn name(&self) -> &str {
        "MLF"
    }

    fn kind(&self) -> ParameterKind {
        ParameterKind::Laxity
    }

    fn rank(&self, claim: &Claim) -> LaxityRank {
        LaxityRank::of(claim)
    }

    fn quantum(&self) -> Option<Duration> {
        Some(self.quantum)
    }

    fn overtaken_after(&self, running: &Claim, waiting: &LaxityRank, _: Time) -> Option<Duration> {
        LaxityRank::overtaken_after(running, waiting)
    }
}
