//! Threads that execute arrivals: one holds each arrival from its release to its end.
//!
//! So every arrival is a thread of its own for the scheduler, as in the model, and a late one can be passed
//! by the next arrival of the same operation.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use punctual_os::{Gate, PiMutex};

/// A pool of threads that wait for jobs.
pub(super) struct Workers<J> {
    idle: PiMutex<Vec<Arc<Seat<J>>>>,
    seats: Vec<Arc<Seat<J>>>,
    is_closed: AtomicBool,
}

/// The place of one thread.
struct Seat<J> {
    gate: Gate,
    job: PiMutex<Option<J>>,
}

impl<J> Workers<J> {
    /// Creates the places of this number of threads, each of which must call [`serve`](Self::serve).
    pub(super) fn new(threads: usize) -> Self {
        let seat = |_| {
            let (gate, job) = (Gate::new(), PiMutex::new(None));
            Arc::new(Seat { gate, job })
        };
        let seats: Vec<_> = (0..threads).map(seat).collect();
        Self {
            idle: PiMutex::new(seats.clone()),
            seats,
            is_closed: AtomicBool::new(false),
        }
    }

    /// Hands a job to an idle thread; returns `false` if there is none.
    pub(super) fn submit(&self, job: J) -> bool {
        let Some(seat) = self.idle.lock().pop() else {
            return false;
        };
        *seat.job.lock() = Some(job);
        seat.gate.open();
        true
    }

    /// Executes jobs on the calling thread until the pool is closed.
    pub(super) fn serve(&self, number: usize, mut execute: impl FnMut(J)) {
        let seat = &self.seats[number];
        loop {
            seat.gate.pass(None);
            let job = seat.job.lock().take();
            if let Some(job) = job {
                execute(job);
                self.idle.lock().push(Arc::clone(seat));
            }
            if self.is_closed.load(Ordering::SeqCst) {
                return;
            }
        }
    }

    /// Lets each thread end, after its job.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        for seat in &self.seats {
            seat.gate.open();
        }
    }
}

#[cfg(test)]
mod tests {
    use punctual_os::ThreadSpec;

    use super::*;

    #[test]
    fn every_job_is_executed_by_a_thread_of_its_own() {
        let workers = Arc::new(Workers::new(3));
        // A gate lets one thread pass.
        let gates = Arc::new([(); 3].map(|()| Gate::new()));
        let threads: Vec<_> = (0..3)
            .map(|number| {
                let (workers, gates) = (Arc::clone(&workers), Arc::clone(&gates));
                let serve = move || {
                    let mut done = Vec::new();
                    workers.serve(number, |job: usize| {
                        gates[job - 1].pass(None);
                        done.push(job);
                    });
                    done
                };
                ThreadSpec::new("worker").spawn(serve).unwrap()
            })
            .collect();
        assert!((1..=3).all(|job| workers.submit(job)));
        assert!(!workers.submit(4), "each thread has a job");
        workers.close();
        gates.iter().for_each(Gate::open);
        let mut done: Vec<usize> = threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect();
        done.sort_unstable();
        assert_eq!(done, [1, 2, 3]);
    }
}
