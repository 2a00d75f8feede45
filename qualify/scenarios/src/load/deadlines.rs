//! Which share of its deadlines a client made.

use punctual_harness::{Hole, holes::lost_to_holes};

use super::task::Report;

/// What a deadline is. Source: TAO's Thread_Pool test.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Counting {
    /// The call starts in its period, as in the figures of [Pyarali 2002].
    Start,
    /// The call also returns in its period.
    End,
}

/// A share of deadlines, in percent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Share {
    /// Of those made.
    pub(crate) raw: f64,
    /// Of those made or lost while the kernel or the host held the CPU.
    pub(crate) corrected: f64,
}

/// How many deadlines of a client a hole has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Lost {
    missed: usize,
    late: usize,
}

impl Lost {
    pub(super) fn of(report: &Report, holes: &[Hole]) -> Self {
        let lost = |spans| {
            lost_to_holes(spans, holes)
                .into_iter()
                .filter(|lost| *lost)
                .count()
        };
        Self {
            missed: lost(&report.missed),
            late: lost(&report.late),
        }
    }
}

impl Share {
    /// A client without a pace has no deadlines: not a number.
    pub(super) fn of(report: &Report, lost: Lost, counting: Counting) -> Self {
        let (made, lost) = match counting {
            Counting::Start => (report.calls.len(), lost.missed),
            Counting::End => (report.calls.len() - report.late.len(), lost.missed + lost.late),
        };
        let percent = |count: usize| 100.0 * count as f64 / f64::from(report.periods);
        Self {
            raw: percent(made),
            corrected: percent(made + lost),
        }
    }

    /// What a hole has cost.
    pub(crate) fn lost(self) -> f64 {
        self.corrected - self.raw
    }

    /// Whether it counts as all of them: what the host takes from a client is seldom a recorded hole.
    pub(crate) fn is_all(self) -> bool {
        self.corrected >= 99.0
    }

    /// Whether a client made at least the share that another one made, where all of them is all of them.
    pub(crate) fn at_least(self, other: Self) -> bool {
        self.corrected >= other.corrected || self.is_all()
    }
}

#[cfg(test)]
mod tests {
    use punctual_harness::{Span, holes::HoleSource};

    use super::*;

    fn span(start_ns: u64, end_ns: u64) -> Span {
        Span { start_ns, end_ns }
    }

    fn report() -> Report {
        Report {
            periods: 10,
            calls: vec![span(0, 1); 6],
            missed: vec![span(10, 20), span(20, 30), span(90, 100), span(100, 110)],
            late: vec![span(15, 18), span(200, 210)],
            elapsed_s: 1.0,
        }
    }

    #[test]
    fn both_ways_of_counting_stand_with_and_without_holes() {
        let hole = Hole {
            start_ns: 16,
            length_ns: 10,
            source: HoleSource::Idle,
        };
        let lost = Lost::of(&report(), &[hole]);
        assert_eq!(lost, Lost { missed: 2, late: 1 });
        let start = Share::of(&report(), lost, Counting::Start);
        assert_eq!((start.raw, start.corrected), (60.0, 80.0));
        let end = Share::of(&report(), lost, Counting::End);
        assert_eq!((end.raw, end.corrected), (40.0, 70.0));
        assert_eq!(Share::of(&report(), Lost::default(), Counting::Start).lost(), 0.0);
    }

    #[test]
    fn all_is_all() {
        let share = |corrected| Share {
            raw: corrected,
            corrected,
        };
        assert!(share(99.2).at_least(share(100.0)));
        assert!(share(50.0).at_least(share(50.0)));
        assert!(!share(98.0).at_least(share(98.5)));
    }

    #[test]
    fn without_periods_there_is_no_share() {
        let share = Share::of(&Report::default(), Lost::default(), Counting::Start);
        assert!(share.raw.is_nan() && !share.is_all());
    }
}
