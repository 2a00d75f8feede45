//! The dispatcher: commands in, statistics out, and its end.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use punctual_os::{PiMutex, PiMutexGuard, TaskId, Thread, clock::later, lock};
use punctual_sched::dynamic::Time;

use crate::{
    Cancellation, Command, DispatchError, LevelStatistics, Overflow, Qos, Rejected, Rejection,
    command::now,
    queue::Queued,
    state::{Shared, Slot, State},
    worker::cancel,
};

/// Queues and threads for commands, by preemption priority. Corresponds to Kokyu's `Dispatcher`. Suppliers of
/// any thread share it by reference.
///
/// All levels share one lock with priority inheritance, held for a few operations on a queue. After
/// construction, dispatching allocates nothing beyond what commands do. Dropping it cancels queued commands
/// and waits for those that are executed, unless [`end`](Self::end) was called before.
pub struct Dispatcher<C: Command = Box<dyn Command>> {
    pub(crate) shared: Arc<Shared<C>>,
    pub(crate) name: String,
    /// Locked by reconfigurations and the shutdown, one at a time.
    pub(crate) threads: PiMutex<Vec<Thread<()>>>,
    pub(crate) is_real_time: AtomicBool,
}

impl<C: Command> Dispatcher<C> {
    pub(crate) fn new(shared: Arc<Shared<C>>, name: String) -> Self {
        Self {
            shared,
            name,
            threads: lock::mutex(Vec::new()),
            is_real_time: AtomicBool::new(true),
        }
    }

    /// Queues a command for the threads of its level.
    ///
    /// # Errors
    /// The command, if its queue is full (under [`Overflow::Block`]: for the whole time), or if the
    /// dispatcher has been shut down.
    pub fn dispatch(&self, command: C, mut qos: Qos) -> Result<(), Rejected<C>> {
        let arrival = now();
        qos.released = qos.released.min(arrival);
        let mut state = self.shared.state.lock();
        let mut wait = None;
        let (place, dropped) = loop {
            if !state.accepts {
                let reason = Rejection::ShutDown;
                return Err(Rejected { command, reason });
            }
            let (place, _) = state.route(qos.preemption_priority);
            let slot = &mut state.slots[place];
            if !slot.is_full() {
                break (place, None);
            }
            match slot.level.overflow {
                Overflow::DropOldest => {
                    slot.statistics.dropped += 1;
                    break (place, slot.queue.take_oldest());
                }
                Overflow::Block(timeout) => {
                    let deadline = *wait.get_or_insert_with(|| later(Instant::now(), timeout));
                    let signals = Arc::clone(&slot.signals);
                    if !signals.room.wait_until(&mut state, deadline).0 {
                        continue;
                    }
                }
                Overflow::Reject => {}
            }
            let (place, _) = state.route(qos.preemption_priority);
            let slot = &mut state.slots[place];
            if slot.is_full() {
                slot.statistics.rejected += 1;
                let reason = Rejection::Full {
                    level: slot.level.preemption_priority,
                    capacity: slot.level.capacity,
                };
                return Err(Rejected { command, reason });
            }
        };
        let sequence = state.sequence;
        state.sequence += 1;
        let is_own = state.route(qos.preemption_priority).1;
        let slot = &mut state.slots[place];
        slot.statistics.misdirected += u64::from(!is_own);
        slot.push(Queued {
            command,
            qos,
            sequence,
            arrival,
            retries: 0,
        });
        let signals = Arc::clone(&slot.signals);
        drop(state);
        signals.work.notify_one();
        if let Some(mut dropped) = dropped {
            cancel(&mut dropped.command, Cancellation::Dropped);
        }
        Ok(())
    }

    /// Changes the urgency of a queued command, for example because other work has taken the place of the
    /// command's; it keeps its place in the order of arrival, unless [`Qos::released`] is set, and moves to
    /// another level if its preemption priority becomes that of one, also if the queue there is full. Returns
    /// `false` if no queued command is it, apart from those that wait to be retried.
    ///
    /// Costs time proportional to the number of queued commands. Both functions are called with the lock of
    /// the dispatcher held: they must be short, and must not use the dispatcher.
    pub fn reschedule(&self, is_it: impl Fn(&C) -> bool, change: impl FnOnce(&mut C, &mut Qos)) -> bool {
        let mut state = self.shared.state.lock();
        let mut slots = state.slots.iter_mut();
        let found = slots.find_map(|slot| Some((slot.queue.remove(&is_it)?, Arc::clone(&slot.signals))));
        let Some((mut queued, former)) = found else {
            return false;
        };
        let released = queued.qos.released;
        change(&mut queued.command, &mut queued.qos);
        if queued.qos.released == Time::NEVER {
            queued.qos.released = released;
        }
        let (place, _) = state.route(queued.qos.preemption_priority);
        let slot = &mut state.slots[place];
        slot.queue.adopt(queued, None);
        slot.note_length();
        let signals = Arc::clone(&slot.signals);
        drop(state);
        if !Arc::ptr_eq(&signals, &former) {
            former.room.notify_one();
            signals.work.notify_one();
        }
        true
    }

    /// Begins to execute commands, if the dispatcher was built [held](crate::DispatcherBuilder::held).
    pub fn activate(&self) {
        let mut state = self.shared.state.lock();
        state.is_held = false;
        wake_all(state);
    }

    /// Returns whether all threads have the scheduling that their levels request.
    pub fn is_real_time(&self) -> bool {
        self.is_real_time.load(Ordering::Relaxed)
    }

    /// Returns the statistics of all levels, from the highest preemption priority to the lowest.
    pub fn statistics(&self) -> Vec<LevelStatistics> {
        let state = self.shared.state.lock();
        let of_slot = |slot: &Slot<C>| LevelStatistics {
            queued: slot.queue.len(),
            ..slot.statistics
        };
        state.slots.iter().map(of_slot).collect()
    }

    /// Returns the sums of the counters of levels that reconfigurations have removed.
    pub fn removed_statistics(&self) -> LevelStatistics {
        self.shared.state.lock().removed
    }

    /// Waits until nothing is queued or executed; returns `false` if the timeout expires first.
    pub fn wait_until_idle(&self, timeout: Duration) -> bool {
        let mut state = self.shared.state.lock();
        let deadline = later(Instant::now(), timeout);
        let busy = |state: &mut State<C>| !state.is_idle();
        !self.shared.idle.wait_while_until(&mut state, deadline, busy).0
    }

    /// Accepts no further command, waits this long for those that are queued, cancels the rest, and ends the
    /// threads. Commands that are executed are waited for without a limit. From within a command, its own
    /// thread is not waited for.
    ///
    /// # Errors
    /// [`DispatchError::Undispatched`] with the number of cancelled commands.
    pub fn shutdown(&self, timeout: Duration) -> Result<(), DispatchError> {
        {
            let mut state = self.shared.state.lock();
            state.accepts = false;
            wake_all(state);
        }
        self.wait_until_idle(timeout);
        let number = self.cancel_queued();
        self.join();
        match number {
            0 => Ok(()),
            number => Err(DispatchError::Undispatched(number)),
        }
    }

    /// Accepts no further command, cancels those that are queued, and ends the threads. Waits this long at
    /// most for commands that are executed, but not for one that calls this; returns whether they have ended.
    ///
    /// Otherwise the threads end after their commands, also if the dispatcher is dropped before: dropping it
    /// then does not wait. [`has_ended`](Self::has_ended) shows it.
    pub fn end(&self, timeout: Duration) -> bool {
        self.cancel_queued();
        let own = TaskId::current_thread();
        let is_own = self.threads.lock().iter().any(|thread| thread.tid() == own);
        let mut state = self.shared.state.lock();
        let busy = |state: &mut State<C>| state.executing > usize::from(is_own);
        let deadline = later(Instant::now(), timeout);
        let is_late = self.shared.idle.wait_while_until(&mut state, deadline, busy).0;
        drop(state);
        if !is_late {
            self.join();
        }
        !is_late
    }

    /// Whether all threads have ended.
    pub fn has_ended(&self) -> bool {
        self.threads.lock().iter().all(Thread::is_finished)
    }

    /// Lets the threads end after their present commands; returns the number of commands that were queued.
    fn cancel_queued(&self) -> usize {
        let mut state = self.shared.state.lock();
        let discarded = state.discard();
        (state.accepts, state.ends) = (false, true);
        wake_all(state);
        let number = discarded.len();
        for mut queued in discarded {
            cancel(&mut queued.command, Cancellation::ShutDown);
        }
        number
    }

    /// Waits for the threads, except the one that calls this.
    fn join(&self) {
        let own = TaskId::current_thread();
        let is_other = |thread: &mut Thread<()>| thread.tid() != own;
        let others: Vec<_> = self.threads.lock().extract_if(.., is_other).collect();
        for thread in others {
            // Its function catches panics of commands.
            let _ = thread.join();
        }
    }
}

/// Unlocks, and wakes all threads and suppliers.
pub(crate) fn wake_all<C>(state: PiMutexGuard<'_, State<C>>) {
    for slot in &state.slots {
        slot.signals.work.notify_all();
        slot.signals.room.notify_all();
    }
}

impl<C: Command> Drop for Dispatcher<C> {
    fn drop(&mut self) {
        if !self.shared.state.lock().ends {
            // Cancelled commands have been notified.
            let _ = self.shutdown(Duration::ZERO);
        }
    }
}
