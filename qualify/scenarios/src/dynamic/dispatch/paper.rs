//! The turns of [Gill 2004] section 3.1, figure 6 ([`FIGURE_6`]), as a schedule.

use super::super::schedule::{Run, Schedule};
use crate::simulated::{FIGURE_6, TurnEnd};

/// Length of the schedule in units of time.
pub(super) const UNITS: u64 = 21;

/// Returns the schedule with this number of nanoseconds per unit.
///
/// The turns follow the paper's text. Where the text is ambiguous, the figure's end at T = 18 decides: DT3
/// works for 6 s ("scheduled for 3 s", then it "continues"), DT4 for 9 s. DT2 cannot run on host 2 before DT4
/// has completed, although the text names DT5 there, which has completed by then. The length of DT2's last
/// turn is not stated: 3 s here, as on host 2.
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
    fn a_thread_runs_on_one_host_and_a_host_runs_one_thread_at_a_time() {
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
    fn each_thread_works_as_long_as_the_paper_states() {
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
