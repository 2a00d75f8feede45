//! Orders of admission, and the dispatch that goes with them.

use std::{cmp::Reverse, time::Duration};

use super::{Criticality, Queue};

/// How operations are admitted and dispatched.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Strategy {
    /// The shortest period first, each source with all its rates; a static level per period.
    Rms,
    /// The lowest rates of all sources first, then the next ones; a static level per period.
    RmsFair,
    /// The most critical first, each source with all its rates; a level per criticality, by laxity within:
    /// what can no longer be in time follows what still can, as under
    /// [`MaximumUrgencyFirst`](punctual_sched::dynamic::MaximumUrgencyFirst).
    Muf,
    /// The lowest rates of all sources first, the most critical ones first; a level per criticality, by
    /// laxity within.
    MufFair,
    /// The lowest rates of all sources first, then the rest in the order of priority: critical ones by rate,
    /// with static levels; all others in one level, by laxity.
    RmsMlf,
    /// The lowest rates first; one level, by deadline.
    Edf,
    /// The lowest rates first; one level, by laxity.
    Mlf,
}

/// Names as in TAO's documentation.
const NAMES: [(&str, Strategy); 7] = [
    ("RMS", Strategy::Rms),
    ("RMS_FAIR", Strategy::RmsFair),
    ("MUF", Strategy::Muf),
    ("MUF_FAIR", Strategy::MufFair),
    ("RMS_MLF", Strategy::RmsMlf),
    ("EDF", Strategy::Edf),
    ("MLF", Strategy::Mlf),
];

impl std::fmt::Display for Strategy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = NAMES.iter().find(|(_, strategy)| strategy == self);
        f.write_str(name.map_or("", |(name, _)| name))
    }
}

/// Upper or lower case; hyphens stand for underscores.
impl std::str::FromStr for Strategy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = text.to_uppercase().replace('-', "_");
        let found = NAMES.iter().find(|(name, _)| *name == wanted);
        let known = || NAMES.map(|(name, _)| name).join(", ");
        found
            .map(|(_, strategy)| *strategy)
            .ok_or_else(|| format!("unknown strategy `{text}`; use one of {}", known()))
    }
}

/// Key of a level.
pub(super) type Level = (Reverse<Criticality>, Duration);

impl Strategy {
    /// Returns the criticality by which sources are admitted: that of their operation, or the same for all.
    pub(super) fn criticality(self, criticality: Criticality) -> Criticality {
        match self {
            Self::Rms | Self::RmsFair | Self::Edf | Self::Mlf => Criticality::VeryLow,
            Self::Muf | Self::MufFair | Self::RmsMlf => criticality,
        }
    }

    /// Returns the round of admission in which a rate is, by its number: ascending with the rates, each one
    /// the same or the next.
    pub(super) fn round(self, tuple: u32) -> u32 {
        match self {
            Self::Rms | Self::Muf => 0,
            Self::RmsFair | Self::Edf | Self::Mlf | Self::MufFair => tuple,
            Self::RmsMlf => u32::from(tuple > 0),
        }
    }

    /// Returns whether critical work has a threshold of its own.
    pub(super) fn knows_criticality(self) -> bool {
        matches!(self, Self::Muf | Self::MufFair | Self::RmsMlf)
    }

    /// Returns the level of an operation: equal keys share one, the smallest is dispatched first.
    pub(super) fn level(self, criticality: Criticality, period: Duration) -> Level {
        let same = Reverse(Criticality::VeryLow);
        match self {
            Self::Rms | Self::RmsFair => (same, period),
            Self::Muf | Self::MufFair => (Reverse(criticality), Duration::ZERO),
            Self::RmsMlf if criticality.is_critical() => (Reverse(Criticality::High), period),
            Self::RmsMlf | Self::Edf | Self::Mlf => (same, Duration::ZERO),
        }
    }

    /// Returns the order within a level.
    pub(super) fn queue(self, (criticality, _): Level) -> Queue {
        match self {
            Self::Rms | Self::RmsFair => Queue::Static,
            Self::RmsMlf if criticality.0.is_critical() => Queue::Static,
            Self::Edf => Queue::Deadline,
            Self::Muf | Self::MufFair | Self::RmsMlf | Self::Mlf => Queue::Laxity,
        }
    }
}
