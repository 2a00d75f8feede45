//! Shares of deadlines that clients meet.

use punctual_harness::{Hole, withheld_cpu::lost_to_holes};

use super::task::Report;

/// The definition of a met deadline. Source: TAO's Thread_Pool test.
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
    /// Deadlines met.
    pub(crate) raw: f64,
    /// Deadlines met, or lost while the kernel or the host held the CPU.
    pub(crate) corrected: f64,
}

/// The numbers of deadlines that a client lost to holes.
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
    /// Returns the share; NaN for a continuous client, which has no deadlines.
    pub(super) fn of(report: &Report, lost: Lost, counting: Counting) -> Self {
        let (met, lost) = match counting {
            Counting::Start => (report.calls.len(), lost.missed),
            Counting::End => (report.calls.len() - report.late.len(), lost.missed + lost.late),
        };
        let percent = |count: usize| 100.0 * count as f64 / f64::from(report.periods);
        Self {
            raw: percent(met),
            corrected: percent(met + lost),
        }
    }

    /// Returns the share lost to holes.
    pub(crate) fn lost(self) -> f64 {
        self.corrected - self.raw
    }

    /// Returns whether the share counts as all: time taken by the host is seldom a recorded hole.
    pub(crate) fn is_all(self) -> bool {
        self.corrected >= 99.0
    }

    /// Returns whether this share is at least the other one, or counts as all.
    pub(crate) fn at_least(self, other: Self) -> bool {
        self.corrected >= other.corrected || self.is_all()
    }
}

#[cfg(test)]
mod tests {
    use punctual_harness::{Span, withheld_cpu::HoleSource};

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
            ..Report::default()
        }
    }

    #[test]
    fn shares_are_counted_by_start_and_end_with_and_without_holes() {
        let hole = Hole {
            start_ns: 16,
            length_ns: 10,
            source: HoleSource::OtherTasks,
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
    fn shares_above_99_percent_count_as_all() {
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
