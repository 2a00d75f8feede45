use std::{
    sync::{Arc, Barrier},
    time::{Duration, Instant},
};

use punctual::{Orb, Priority};
use punctual_os::{ThreadSpec, scheduling};

use crate::Error;

const YIELDS: u32 = 10_000;

/// The time of a context switch by the yield test of \[S0\] 3.1: two threads of one priority on one CPU give it to each other. With
/// the system call that does it, so rather too long.
pub(in crate::orb) fn switch_time(orb: &Orb, priority: i16) -> Result<Duration, Error> {
    let barrier = Arc::new(Barrier::new(2));
    let start = || {
        let (orb, barrier) = (orb.clone(), Arc::clone(&barrier));
        ThreadSpec::new("yield").prefault(true).spawn(move || {
            let prepared = orb.current().set_priority(Priority::new(priority)?);
            // Whoever failed must meet the other all the same, or it would wait for ever.
            barrier.wait();
            prepared?;
            let start = Instant::now();
            for _ in 0..YIELDS {
                scheduling::give_way();
            }
            Ok::<_, Error>(start.elapsed())
        })
    };
    let threads = [start()?, start()?];
    let mut elapsed = Vec::new();
    for thread in threads {
        elapsed.push(
            thread
                .join()
                .map_err(|_| "a thread of the yield test panicked")??,
        );
    }
    // The one that is done first has seen the other all the time.
    let first = elapsed.into_iter().min().unwrap_or_default();
    Ok(first / (2 * YIELDS))
}
