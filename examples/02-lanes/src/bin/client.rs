//! Saturates the low-priority lane and calls at higher priorities meanwhile.

use std::{error::Error, thread, time::Duration};

use punctual::prelude::*;

punctual::include_idl!("plant");
use plant::StationRef;

const WORKERS: u32 = 3;

fn main() {
    if let Err(error) = run() {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    // No call waits forever: one that takes longer ends with TIMEOUT.
    let orb = Orb::builder().call_timeout(Duration::from_secs(10)).build()?;
    let station: StationRef = orb.resolve("corbaloc::localhost:2820/Station")?;
    let (low, medium, high) = (Priority::new(10_922)?, Priority::new(21_844)?, Priority::MAX);

    thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|_| {
                scope.spawn(|| {
                    orb.current().set_priority(low)?;
                    station.work()
                })
            })
            .collect();

        orb.current().set_priority(high)?;
        // The low-priority lane has one thread, which is at work now; the two other calls wait for it.
        while station.at_work()?.0 == 0 {
            thread::sleep(Duration::from_millis(1));
        }
        let (at_work, answered_at) = station.at_work()?;
        println!("high:   answered at {answered_at}, while {at_work} of {WORKERS} was at work");
        orb.current().set_priority(medium)?;
        let (at_work, answered_at) = station.at_work()?;
        println!("medium: answered at {answered_at}, while {at_work} of {WORKERS} was at work");

        station.finish(WORKERS)?;
        for worker in workers {
            let worked_at = worker.join().expect("it does not panic")?;
            println!("low:    done, worked at {worked_at}");
        }
        Ok(())
    })
}
