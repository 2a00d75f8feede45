//! Who runs where in [Gill 2004] section 3.1, figure 6: [`FIGURE_6`], as a schedule.
//!
//! The table is the paper's text. Where that leaves something open, the figure's end at T = 18 decides: DT3
//! works for 6 s ("scheduled for 3 s", then it "continues"), DT4 for 9. DT2 cannot run on host 2 before DT4
//! has completed, although the text names DT5 there, which has completed by then. How long DT2 works at its
//! end is not said: 3 s here, as long as on host 2.

use super::super::schedule::{Run, Schedule};
use crate::studies::{FIGURE_6, TurnEnd};

/// The whole of it, in units of time.
pub(super) const UNITS: u64 = 21;

/// The schedule, with so many nanoseconds for each of the paper's seconds.
pub(super) fn schedule(unit_ns: u64) -> Schedule {
    let runs = FIGURE_6.iter().map(|turn| Run {
        host: turn.host as u8 + 1,
        thread: turn.thread as u8 + 1,
        from: u64::from(turn.from) * unit_ns,
        to: u64::from(turn.to) * unit_ns,
        ended: turn.end != TurnEnd::Suspended,
    });
    Schedule::of(runs.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_in_two_places_and_no_processor_has_two() {
        let schedule = schedule(1);
        let runs = schedule.runs();
        assert_eq!(runs.iter().map(|run| run.to).max(), Some(UNITS));
        for (place, one) in runs.iter().enumerate() {
            for other in &runs[place + 1..] {
                let together = one.from < other.to && other.from < one.to;
                assert!(!together || (one.host != other.host && one.thread != other.thread));
            }
        }
    }

    #[test]
    fn everybody_works_as_long_as_the_text_says() {
        let schedule = schedule(1);
        let worked = |thread, host| {
            let runs = schedule
                .runs()
                .iter()
                .filter(|run| (run.thread, run.host) == (thread, host));
            runs.map(|run| run.to - run.from).sum::<u64>()
        };
        assert_eq!((worked(1, 1), worked(1, 2)), (6, 3));
        assert_eq!((worked(2, 1), worked(2, 2)), (9, 3));
        assert_eq!((worked(3, 1), worked(4, 2), worked(5, 2)), (6, 9, 3));
    }
}
