//! The tracker: it serves calls of distributable threads that began at the radar.

use std::sync::{
    Mutex,
    atomic::{AtomicU32, Ordering::SeqCst},
};
use std::{error::Error, mem};

use punctual::rtscheduling::{
    AcceptedClaims, EarliestDeadlineFirst, RtScheduling, Time, remote::ThreadControlSpec,
};
use punctual::{Peers, prelude::*};

punctual::include_idl!("radar");
use radar::{ConsoleRef, Sighting, TrackerRef};

struct Tracker {
    scheduling: RtScheduling,
    alert: Mutex<Sighting>,
    watching: AtomicU32,
}

impl Tracker {
    /// Returns the state of the thread that arrived with the request. Its segment here has the name of the
    /// operation.
    fn sighting(&self) -> Result<Sighting, SystemException> {
        let current = self.scheduling.current();
        let deadline = current.scheduling_parameter()?.deadline().unwrap_or(Time::NEVER);
        Ok(Sighting {
            thread: current.id()?.to_string(),
            segment: current.current_scheduling_segment_names()?.swap_remove(0),
            due_in_s: deadline.since(current.now()).as_secs_f64(),
        })
    }
}

impl radar::Tracker for Tracker {
    fn plot(&self) -> Result<Sighting, SystemException> {
        self.sighting()
    }

    fn confirm(&self, back: Option<ConsoleRef>) -> Result<u32, SystemException> {
        // The thread calls the host that it came from.
        back.map_or(Ok(0), |console| console.noted())
    }

    fn alert(&self) -> Result<(), SystemException> {
        *self.alert.lock().expect("no panic") = self.sighting()?;
        Ok(())
    }

    fn take_alert(&self) -> Result<Sighting, SystemException> {
        Ok(mem::take(&mut *self.alert.lock().expect("no panic")))
    }

    fn watch(&self) -> Result<(), SystemException> {
        self.watching.fetch_add(1, SeqCst);
        // A cancellation at any host ends this wait.
        let cancelled = self.scheduling.current().sleep_until(Time::NEVER);
        self.watching.fetch_sub(1, SeqCst);
        cancelled
    }

    fn watching(&self) -> Result<u32, SystemException> {
        Ok(self.watching.load(SeqCst))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let scheduling = RtScheduling::builder()
        .scheduler(EarliestDeadlineFirst::new())
        // Without it, the tracker would not know the threads of the radar.
        .accept_claims(Peers::SameHost, AcceptedClaims::all())
        .build()?;
    let orb = Orb::builder()
        .listen("iiop://localhost:2840")
        .initializer(&scheduling)
        .build()?;
    // Other hosts may locate and cancel threads that are here.
    scheduling.open_control(&orb, ThreadControlSpec::default())?;
    let pool = orb.threadpool().threads(3).build()?;
    let poa = orb.root_poa().child("radar").threadpool(&pool).build()?;
    let tracker: TrackerRef = poa.activate(Tracker {
        scheduling,
        alert: Mutex::default(),
        watching: AtomicU32::new(0),
    })?;
    println!("Tracking at {}", orb.publish("Tracker", &tracker)?);
    orb.run();
    Ok(())
}
