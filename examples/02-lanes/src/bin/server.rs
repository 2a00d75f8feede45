//! Works at three priorities, with one lane of one thread for each.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::{env, error::Error, thread, time::Duration};

use punctual::prelude::*;
use punctual_scheduling::{Schedule, ServerScheduler};

punctual::include_idl!("plant");
use plant::StationRef;

struct Station {
    orb: Orb,
    at_work: AtomicU32,
    may_end: AtomicU32,
}

impl Station {
    fn priority(&self) -> Result<i16, SystemException> {
        Ok(self.orb.current().priority()?.value())
    }
}

impl plant::Station for Station {
    fn work(&self) -> Result<i16, SystemException> {
        self.at_work.fetch_add(1, SeqCst);
        // In small steps, until `finish` permits the end.
        while self
            .may_end
            .fetch_update(SeqCst, SeqCst, |calls| calls.checked_sub(1))
            .is_err()
        {
            thread::sleep(Duration::from_millis(1));
        }
        self.at_work.fetch_sub(1, SeqCst);
        self.priority()
    }

    fn at_work(&self) -> Result<(u32, i16), SystemException> {
        Ok((self.at_work.load(SeqCst), self.priority()?))
    }

    fn finish(&self, calls: u32) -> Result<(), SystemException> {
        self.may_end.fetch_add(calls, SeqCst);
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let orb = Orb::builder().listen("iiop://localhost:2820").build()?;
    let poa = match env::args().nth(1) {
        None => lanes_from_code(&orb)?,
        Some(file) => ServerScheduler::new(&orb, &Schedule::read(file)?, "localhost")?
            .create_poa(&orb.root_poa(), "plant")?,
    };
    let station = Station {
        orb: orb.clone(),
        at_work: AtomicU32::new(0),
        may_end: AtomicU32::new(0),
    };
    let station: StationRef = poa.activate(station)?;
    println!("Working at {}", orb.publish("Station", &station)?);
    orb.run();
    Ok(())
}

fn lanes_from_code(orb: &Orb) -> Result<Poa, Box<dyn Error>> {
    let (low, medium, high) = (Priority::new(10_922)?, Priority::new(21_844)?, Priority::MAX);
    let pool = orb
        .threadpool()
        .lane(low, 1)
        .lane(medium, 1)
        .lane(high, 1)
        .build()?;
    let model = PriorityModel::ClientPropagated { default: low };
    Ok(orb
        .root_poa()
        .child("plant")
        .threadpool(&pool)
        .priority_model(model)
        .build()?)
}
