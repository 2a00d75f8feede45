//! A thread of a level: takes the most urgent command, executes or cancels it, and counts what became of it.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use punctual_os::{PiMutexGuard, affinity, clock, scheduling};
use punctual_sched::dynamic::{SheddingPolicy, Time};

use crate::{
    Cancellation, Command, Execution, Hopeless, Level, LevelStatistics,
    command::now,
    queue::{Next, Queued},
    state::{Shared, Signals, State},
};

pub(crate) struct Worker<C> {
    pub(crate) shared: Arc<Shared<C>>,
    pub(crate) preemption_priority: u32,
    pub(crate) signals: Arc<Signals>,
    /// Configuration under which it runs.
    pub(crate) generation: u64,
}

/// How the execution of a command ended.
enum End<C> {
    Executed { is_late: bool },
    Hopeless(Queued<C>),
    Panicked,
}

impl<C: Command> Worker<C> {
    /// Serves the level until that has too many threads, is removed, or the dispatcher ends.
    pub(crate) fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.state.lock();
        self.serve(&mut state);
        shared.idle.notify_all();
    }

    fn serve(&mut self, state: &mut PiMutexGuard<'_, State<C>>) {
        while let Some(place) = state.place_of(self.preemption_priority, &self.signals) {
            let slot = &mut state.slots[place];
            if slot.alive > slot.level.threads {
                slot.alive -= 1;
                return;
            }
            if state.ends {
                return;
            }
            if state.generation != self.generation {
                self.generation = state.generation;
                let level = state.slots[place].level.clone();
                PiMutexGuard::unlocked(state, || adopt(&level));
            } else if state.is_held {
                self.signals.work.wait(state);
            } else {
                self.step(state, place);
            }
        }
    }

    fn step(&self, state: &mut PiMutexGuard<'_, State<C>>, place: usize) {
        let slot = &mut state.slots[place];
        let shedding = slot.level.shedding;
        match slot.queue.next(now(), shedding) {
            Next::Wait(until) => self.wait(state, until),
            Next::Deferred => slot.statistics.retried += 1,
            Next::SetAside => PiMutexGuard::unlocked(state, || {}),
            Next::Cancel(mut queued) => {
                slot.statistics.cancelled_before += 1;
                state.executing += 1;
                PiMutexGuard::unlocked(state, || {
                    self.signals.room.notify_one();
                    cancel(&mut queued.command, Cancellation::Hopeless);
                    drop(queued);
                });
                state.executing -= 1;
            }
            Next::Execute(queued) => {
                state.executing += 1;
                let end = PiMutexGuard::unlocked(state, || {
                    self.signals.room.notify_one();
                    execute(queued, shedding)
                });
                self.count(state, end);
                state.executing -= 1;
            }
        }
    }

    fn wait(&self, state: &mut PiMutexGuard<'_, State<C>>, until: Option<Time>) {
        if state.is_idle() {
            self.shared.idle.notify_all();
        }
        match until {
            None => self.signals.work.wait(state),
            Some(until) => {
                let deadline = Instant::now() + until.since(now());
                // Regardless of what ended the wait, the queue is checked again.
                let _ = self.signals.work.wait_until(state, deadline);
            }
        }
    }

    fn count(&self, state: &mut PiMutexGuard<'_, State<C>>, end: End<C>) {
        let place = state.place_of(self.preemption_priority, &self.signals);
        let refused = {
            let State { slots, removed, .. } = &mut **state;
            let slot = place.map(|place| &mut slots[place]);
            match (end, slot) {
                (End::Hopeless(queued), Some(slot)) if slot.level.shedding.is_idempotent() => {
                    match slot.queue.retry(queued, now(), slot.level.shedding) {
                        Ok(()) => {
                            slot.statistics.retried += 1;
                            None
                        }
                        Err(queued) => {
                            slot.statistics.cancelled_at_checkpoint += 1;
                            Some(queued)
                        }
                    }
                }
                (end, slot) => note(slot.map_or(removed, |slot| &mut slot.statistics), end),
            }
        };
        if let Some(mut queued) = refused {
            PiMutexGuard::unlocked(state, || {
                cancel(&mut queued.command, Cancellation::Hopeless);
                drop(queued);
            });
        }
    }
}

/// Counts the end of a command; returns one that has to be told.
fn note<C>(statistics: &mut LevelStatistics, end: End<C>) -> Option<Queued<C>> {
    match end {
        End::Executed { is_late } => {
            statistics.executed += 1;
            statistics.late += u64::from(is_late);
            None
        }
        End::Panicked => {
            statistics.panicked += 1;
            None
        }
        End::Hopeless(queued) => {
            statistics.cancelled_at_checkpoint += 1;
            Some(queued)
        }
    }
}

fn execute<C: Command>(mut queued: Queued<C>, shedding: SheddingPolicy) -> End<C> {
    let cpu_time_before = if shedding.examines_checkpoints() {
        clock::thread_cpu_time()
    } else {
        Duration::ZERO
    };
    let execution = Execution {
        qos: queued.qos,
        shedding,
        cpu_time_before,
    };
    let result = catch_unwind(AssertUnwindSafe(|| queued.command.execute(&execution)));
    match result {
        Ok(Ok(())) => {
            let is_late = queued.qos.deadline < Time::NEVER && now() > queued.qos.deadline;
            // Its captures are dropped here, outside the lock, because they may run any code.
            let released = catch_unwind(AssertUnwindSafe(|| drop(queued)));
            match released {
                Ok(()) => End::Executed { is_late },
                Err(_) => End::Panicked,
            }
        }
        Ok(Err(Hopeless)) => End::Hopeless(queued),
        Err(_) => End::Panicked,
    }
}

/// Tells a command that it is cancelled; a panic has no further effect.
pub(crate) fn cancel<C: Command>(command: &mut C, cancellation: Cancellation) {
    let _ = catch_unwind(AssertUnwindSafe(|| command.cancelled(cancellation)));
}

/// Applies a changed configuration to this thread. Where the right is missing, it stays as it is, as a new
/// thread would.
fn adopt(level: &Level) {
    let _ = scheduling::set_current(level.scheduling);
    if let Some(cpus) = &level.cpus {
        let _ = affinity::set_current(cpus);
    }
}
