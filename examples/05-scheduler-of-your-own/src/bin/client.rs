//! Submits the same jobs under each scheduler, and compares the orders with the simulator.

use std::{error::Error, thread, time::Duration};

use punctual::prelude::*;
use punctual::rtscheduling::{Mechanism, RtScheduling, SchedulingError};
use scheduler_of_your_own::{HOLD, JOBS, Job, SCHEDULERS, first_come_first_served, scheduler, simulated};

punctual::include_idl!("workshop");
use workshop::BenchRef;

fn main() {
    if let Err(error) = run() {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    // No thread of the client waits for a processor.
    let scheduling = RtScheduling::builder()
        .scheduler(first_come_first_served())
        .processors(1 + JOBS.len())
        .build()?;
    let orb = Orb::builder()
        .call_timeout(Duration::from_secs(10))
        .initializer(&scheduling)
        .build()?;
    let workshop: BenchRef = orb.resolve("corbaloc::localhost:2850/Bench")?;
    for name in SCHEDULERS {
        workshop.install(name)?;
        // The client's own scheduler marshals the parameters of its jobs.
        let own = scheduler(name).expect("all names are known");
        scheduling.manager().install(own, Mechanism::ReadyQueue)?;
        let live = live(&scheduling, &workshop)?;
        let simulated = simulated(|| scheduler(name).expect("all names are known"))?;
        println!(
            "{name}\n  live:      {}\n  simulated: {}",
            live.join(" "),
            simulated.join(" ")
        );
    }
    Ok(())
}

/// Submits the jobs, each a distributable thread; returns them in the order of their completion.
fn live(scheduling: &RtScheduling, workshop: &BenchRef) -> Result<Vec<String>, Box<dyn Error>> {
    let kind = scheduling.manager().parameter_kind();
    thread::scope(|scope| {
        let submit = |job: Job, work: fn(&BenchRef, Job) -> Result<(), SystemException>| {
            scope.spawn(move || {
                let current = scheduling.current();
                current.segment(job.name, job.parameters(kind), |_| {
                    Ok::<_, SchedulingError>(work(workshop, job)?)
                })
            })
        };
        let mut submitted = vec![submit(HOLD, |workshop, _| workshop.hold(JOBS.len() as u32))];
        while !workshop.busy()? {
            thread::sleep(Duration::from_millis(1));
        }
        for (before, job) in JOBS.into_iter().enumerate() {
            // One after the other, so that the order of arrival is defined.
            while (workshop.waiting()? as usize) < before {
                thread::sleep(Duration::from_millis(1));
            }
            submitted.push(submit(job, |workshop, job| {
                workshop.work(job.name, job.milliseconds)
            }));
        }
        for job in submitted {
            job.join().expect("no job panics")?;
        }
        Ok(workshop.done()?)
    })
}
