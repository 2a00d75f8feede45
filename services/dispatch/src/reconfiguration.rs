//! Start of threads, and change of the levels while commands are queued.

use std::sync::{Arc, atomic::Ordering};

use punctual_os::{Granted, Notice, ThreadSpec};

use crate::{
    Command, DispatchError, Dispatcher, Level, LevelStatistics, dispatcher::wake_all, level, queue::Queue,
    state::Slot, worker::Worker,
};

static DENIED: Notice = Notice::new(
    "punctual: real-time scheduling of the dispatcher's threads is denied; they run in the ordinary class \
     (grant it with `ulimit -r 99` or CAP_SYS_NICE; `punctual doctor` prints the commands)\n",
);

impl<C: Command> Dispatcher<C> {
    /// Replaces the levels without losing a command, for example by those of a new schedule.
    ///
    /// Queued commands move to the level of their preemption priority, or to the lowest one, in the order of
    /// their arrival, and are then ordered as that level orders them. Levels that keep their preemption
    /// priority keep their threads, which adopt the new scheduling before their next command. A queue that
    /// holds more commands than its new capacity accepts new ones when it has room again. Threads of removed
    /// levels end after their present commands.
    ///
    /// # Errors
    /// As for [`DispatcherBuilder::build`](crate::DispatcherBuilder::build). The levels have changed only if
    /// the error is [`DispatchError::Thread`].
    pub fn reconfigure(&self, levels: impl IntoIterator<Item = Level>) -> Result<(), DispatchError> {
        let levels = level::check(levels.into_iter().collect())?;
        {
            // Reserved before the lock is taken.
            let mut slots: Vec<Slot<C>> = levels.into_iter().map(Slot::new).collect();
            let mut state = self.shared.state.lock();
            if !state.accepts {
                return Err(DispatchError::ShutDown);
            }
            std::mem::swap(&mut state.slots, &mut slots);
            for mut old in slots {
                let (place, is_kept) = state.route(old.level.preemption_priority);
                let mut waiting = std::mem::replace(&mut old.queue, Queue::empty());
                waiting.drain(|queued, begins| {
                    let (target, _) = state.route(queued.qos.preemption_priority);
                    state.slots[target].queue.adopt(queued, begins);
                });
                if is_kept {
                    let slot = &mut state.slots[place];
                    slot.alive = old.alive;
                    slot.signals = old.signals;
                    slot.statistics = old.statistics;
                } else {
                    add(&mut state.removed, &old.statistics);
                    old.signals.work.notify_all();
                    old.signals.room.notify_all();
                }
            }
            for slot in &mut state.slots {
                slot.note_length();
            }
            state.generation += 1;
            wake_all(state);
        }
        self.start_threads()
    }

    /// Starts the threads that levels lack.
    pub(crate) fn start_threads(&self) -> Result<(), DispatchError> {
        let mut threads = self.threads.lock();
        threads.retain(|thread| !thread.is_finished());
        loop {
            let mut state = self.shared.state.lock();
            let generation = state.generation;
            let Some(slot) = state
                .slots
                .iter_mut()
                .find(|slot| slot.alive < slot.level.threads)
            else {
                return Ok(());
            };
            slot.alive += 1;
            let level = slot.level.clone();
            let worker = Worker {
                shared: Arc::clone(&self.shared),
                preemption_priority: level.preemption_priority,
                signals: Arc::clone(&slot.signals),
                generation,
            };
            let signals = Arc::clone(&slot.signals);
            drop(state);
            let spec = ThreadSpec::new(format!("{}-{}", self.name, level.preemption_priority))
                .scheduling(level.scheduling)
                .affinity(level.cpus.clone())
                .prefault_bytes(ThreadSpec::USUAL_PREFAULT_BYTES);
            match spec.spawn(move || worker.run()) {
                Ok(thread) => {
                    if matches!(thread.granted(), Granted::Denied(_)) {
                        DENIED.send();
                        self.is_real_time.store(false, Ordering::Relaxed);
                    }
                    threads.push(thread);
                }
                Err(error) => {
                    let mut state = self.shared.state.lock();
                    if let Some(place) = state.place_of(level.preemption_priority, &signals) {
                        state.slots[place].alive -= 1;
                    }
                    let level = level.preemption_priority;
                    return Err(DispatchError::Thread { level, error });
                }
            }
        }
    }
}

fn add(sum: &mut LevelStatistics, removed: &LevelStatistics) {
    sum.high_water = sum.high_water.max(removed.high_water);
    for (sum, one) in [
        (&mut sum.executed, removed.executed),
        (&mut sum.late, removed.late),
        (&mut sum.rejected, removed.rejected),
        (&mut sum.dropped, removed.dropped),
        (&mut sum.cancelled_before, removed.cancelled_before),
        (&mut sum.cancelled_at_checkpoint, removed.cancelled_at_checkpoint),
        (&mut sum.retried, removed.retried),
        (&mut sum.panicked, removed.panicked),
        (&mut sum.discarded, removed.discarded),
        (&mut sum.misdirected, removed.misdirected),
    ] {
        *sum += one;
    }
}
