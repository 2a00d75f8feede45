//! Length of a run.

/// Length of a run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Length {
    /// A short run, for a first impression.
    Quick,
    /// Enough for figures that can be relied on.
    Full,
    /// The durations of the papers, where they state them.
    Paper,
}

impl Length {
    /// Returns its name in parameters.
    pub(crate) fn name(self) -> &'static str {
        self.pick("quick", "full", "paper")
    }

    /// Selects one of three values. Most benchmarks use the same value for `full` and `paper`.
    pub(crate) fn pick<T>(self, quick: T, full: T, paper: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Full => full,
            Self::Paper => paper,
        }
    }
}
