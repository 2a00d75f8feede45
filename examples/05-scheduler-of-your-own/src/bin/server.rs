//! The workshop: an endsystem with one processor for jobs, whose scheduler can be replaced.

use std::{error::Error, mem, sync::Mutex, thread, time::Duration};

use punctual::rtscheduling::{AcceptedClaims, Mechanism, RtScheduling, ThreadStatus};
use punctual::{Peers, prelude::*};
use scheduler_of_your_own::{first_come_first_served, scheduler};

punctual::include_idl!("workshop");
use workshop::{BenchRef, NoSuchScheduler, bench::InstallError};

const MILLISECOND: Duration = Duration::from_millis(1);

struct Workshop {
    scheduling: RtScheduling,
    done: Mutex<Vec<String>>,
}

impl Workshop {
    fn count(&self, status: ThreadStatus) -> u32 {
        let here = self.scheduling.snapshot();
        here.iter().filter(|thread| thread.status == status).count() as u32
    }
}

impl workshop::Bench for Workshop {
    fn install(&self, name: &str) -> Result<(), InstallError> {
        let scheduler = scheduler(name).ok_or(NoSuchScheduler {})?;
        let manager = self.scheduling.manager();
        // Every scheduler works with a ready queue.
        let installed = manager.install(scheduler, Mechanism::ReadyQueue);
        installed.map_err(|_| NoSuchScheduler {}.into())
    }

    fn hold(&self, jobs: u32) -> Result<(), SystemException> {
        // Without a scheduling point, the scheduler regards it as running.
        while self.count(ThreadStatus::Ready) < jobs {
            thread::sleep(MILLISECOND);
        }
        Ok(())
    }

    fn busy(&self) -> Result<bool, SystemException> {
        Ok(self.count(ThreadStatus::Running) > 0)
    }

    fn waiting(&self) -> Result<u32, SystemException> {
        Ok(self.count(ThreadStatus::Ready))
    }

    fn work(&self, job: &str, milliseconds: u32) -> Result<(), SystemException> {
        for _ in 0..milliseconds {
            thread::sleep(MILLISECOND);
            // A more eligible job runs first from here.
            self.scheduling.current().scheduling_point()?;
        }
        self.done.lock().expect("no thread panics").push(job.to_owned());
        Ok(())
    }

    fn done(&self) -> Result<Vec<String>, SystemException> {
        Ok(mem::take(&mut *self.done.lock().expect("no thread panics")))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let scheduling = RtScheduling::builder()
        .scheduler(first_come_first_served())
        .accept_claims(Peers::SameHost, AcceptedClaims::all())
        .processors(1)
        .build()?;
    let orb = Orb::builder()
        .listen("iiop://localhost:2850")
        .initializer(&scheduling)
        .build()?;
    // Each waiting job has a thread; another thread answers queries.
    let pool = orb.threadpool().threads(8).build()?;
    let poa = orb.root_poa().child("workshop").threadpool(&pool).build()?;
    let done = Mutex::default();
    let workshop: BenchRef = poa.activate(Workshop { scheduling, done })?;
    println!("Working at {}", orb.publish("Bench", &workshop)?);
    orb.run();
    Ok(())
}
