//! The rights that live measurements need.

use punctual_harness::Outcome;

/// The highest priority that is needed: for the 90 waiters of the semaphore, their driver, and the watchdog.
const HIGHEST: i16 = 95;

/// Returns why the priorities of live measurements are not permitted, if so.
pub(crate) fn no_rights(outcome: &Outcome) -> Option<String> {
    let highest = outcome.machine().highest_realtime_priority.unwrap_or(0);
    if highest >= HIGHEST {
        return None;
    }
    let here = match highest {
        0 => "this process may not use them".to_owned(),
        highest => format!("this process may use at most {highest}"),
    };
    Some(format!(
        "it needs SCHED_FIFO priorities up to {HIGHEST}, but {here}; `punctual doctor` prints how to permit \
         them"
    ))
}
