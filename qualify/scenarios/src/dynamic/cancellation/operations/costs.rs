//! Costs of an arrival on this machine beyond the work of its operation: timer, hand-over, dispatching.
//!
//! An operation's execution time contains this, as the load that \[Gill 2004\] measured did. Without it, some
//! hundred arrivals per second use another sixth of a virtual processor, and critical work no longer fits.

use std::sync::Arc;

use punctual_os::Thread;
use punctual_sched::simulator::Overrun;

use super::{super::Load, Case, Endsystem, Error, Work, fly};
use crate::os::{fifo, now_ns};

/// Seconds of arrivals that are measured.
const SECONDS: u64 = 1;

/// A longer time between two readings of the clock was used by others.
const OWN_STEP_NS: u64 = 1_500;

/// Measures the processor time of an arrival, in nanoseconds: first with operations that do half of their
/// work, so that the processor has time to spare; then, where arrivals queue, under the load itself, whose
/// queues and preemptions make arrivals dearer.
pub(super) fn of_an_arrival(endsystem: &Arc<Endsystem>, case: Case) -> Result<u64, Error> {
    let half = fly(endsystem, case, SECONDS, Work::Half)?.cost_of_an_arrival_ns();
    if case.overrun() == Overrun::Skip || case.load == Load::Half {
        return Ok(half);
    }
    let all = fly(endsystem, case, SECONDS, Work::All { cost_ns: half })?;
    Ok(all.cost_of_an_arrival_ns().max(half))
}

/// Starts a thread below all others of the processor, which measures how much time they leave it.
pub(super) fn spare_time(from_ns: u64, until_ns: u64) -> std::io::Result<Thread<u64>> {
    fifo("spare-time", 1).spawn(move || {
        while now_ns() < from_ns {
            std::hint::spin_loop();
        }
        let (mut last, mut own) = (from_ns, 0);
        while last < until_ns {
            let now = now_ns();
            let step = now - last;
            if step < OWN_STEP_NS {
                own += step;
            }
            last = now;
        }
        own
    })
}
