//! The dispatcher of an endsystem: it determines which distributable threads run, and controls their OS
//! threads.
//!
//! The functions here are the scheduling points. Each locks the [`State`], reports what has happened, carries
//! out what the scheduler decides, and lets the calling OS thread continue or wait for its turn.
//!
//! One lock (`PiMutex`) protects the decision which threads run. After it has been released, the affected
//! threads are woken, each at its own gate, and read their state again. The scheduler is called under that
//! lock: it decides and does nothing else.
//!
//! With the ready queue, running threads have native priority 70, threads that still run although others were
//! chosen 2, and `rt-dispatch` 90. A thread that calls out or sleeps has 80, because the end of its wait is a
//! scheduling point that must not wait for a processor; lanes whose requests bring distributable threads
//! should have 80, too. Without rights, the queue is strictly cooperative.
//!
//! A thread whose claims count only within its lane has none of these priorities above its lane's, and no
//! thread of a higher lane waits for it in the queue, so that a lower lane cannot occupy a processor that a
//! higher one needs. It inherits the limit of threads that wait for its resources.

mod clock;
mod decisions;
mod entry;
mod head;
mod installed_scheduler;
mod lane_limit;
mod mechanism;
mod native_control;
mod os_thread;
mod priority_levels;
mod resource_table;
mod resources;
mod scheduling_point;
mod settings;
mod snapshot;
mod state;
mod thread_table;
mod timer;
mod wake_list;
mod watch;

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use punctual_os::{PiCondvar, PiMutex, PiMutexGuard};
use punctual_sched::dynamic::{Scheduler, SchedulingParameters, SheddingPoint, Slot, Time};
use punctual_stub::ObjectRef;
use punctual_transport::Peer;
use punctual_types::{DistributableThreadId, Minor, SystemException};

pub(crate) use clock::{instant, now};
pub use decisions::{Decision, Switch};
pub(crate) use head::Locus;
pub(crate) use lane_limit::LaneLimit;
pub use mechanism::{Mechanism, NativePriorities, Preemption};
pub(crate) use os_thread::OsThread;
pub(crate) use scheduling_point::SchedulingPoint;
pub(crate) use settings::Settings;
pub use snapshot::{ThreadSnapshot, ThreadStatus};
pub(crate) use thread_table::{Departure, Outcome};
pub(crate) use timer::Timer;
pub(crate) use watch::Watch;

use self::{
    entry::{Entry, Origin},
    head::Head,
    installed_scheduler::InstalledScheduler,
    state::State,
    wake_list::WakeList,
};
use crate::{
    error::{BuildError, Interrupted, bad_order, unknown_thread},
    storage::ThreadStorage,
};

/// The dispatcher of one endsystem.
pub(crate) struct Dispatcher {
    state: PiMutex<State>,
    /// Wakes `rt-dispatch`.
    earlier: PiCondvar,
    /// Number of times that work was shed.
    shed: AtomicU64,
}

impl Dispatcher {
    pub(crate) fn new(
        scheduler: Box<dyn Scheduler>,
        mechanism: Mechanism,
        settings: Settings,
    ) -> Result<Self, BuildError> {
        native_control::check(&*scheduler, mechanism)?;
        Ok(Self {
            state: PiMutex::new(State::new(scheduler, mechanism, settings)),
            earlier: PiCondvar::new(),
            shed: AtomicU64::new(0),
        })
    }

    /// Registers a new thread, whose first activation begins here. It is not scheduled yet.
    pub(crate) fn register(&self, id: DistributableThreadId, name: &str) -> Result<Slot, SystemException> {
        self.state.lock().threads.register(id, name, Origin::Here)
    }

    /// Registers an activation of a thread that arrived with a request of this peer. A thread that is known
    /// here must have left by a call, and must not have been spawned by the request.
    pub(crate) fn register_arrival(
        &self,
        id: DistributableThreadId,
        name: &str,
        peer: Option<Peer>,
        spawned: bool,
    ) -> Result<Slot, SystemException> {
        let mut state = self.state.lock();
        let Some(slot) = state.threads.find(id) else {
            let origin = if spawned {
                Origin::Request
            } else {
                Origin::Elsewhere
            };
            let slot = state.threads.register(id, name, origin)?;
            state.threads[slot].peers.push(peer);
            return Ok(slot);
        };
        let entry = &mut state.threads[slot];
        if spawned || !matches!(entry.head, Head::Away) || entry.calls.is_empty() {
            return Err(bad_order(Minor::DISTRIBUTABLE_THREAD_ACTIVE));
        }
        if entry.cancelled {
            return Err(Interrupted::Cancelled.exception());
        }
        entry.activations += 1;
        entry.peers.push(peer);
        Ok(slot)
    }

    /// Values that the thread has stored at this host.
    pub(crate) fn storage(&self, slot: Slot) -> ThreadStorage {
        self.state.lock().threads[slot].storage.clone()
    }

    /// Restores the values that a thread stored when it was here before.
    pub(crate) fn restore_storage(&self, slot: Slot, storage: ThreadStorage) {
        let before = std::mem::replace(&mut self.state.lock().threads[slot].storage, storage);
        drop(before);
    }

    /// Places the head at an activation: the thread begins, arrives with a request, or returns from a call.
    /// Waits for its turn.
    ///
    /// Another activation that still has the head loses it: its caller no longer waits for it.
    pub(crate) fn arrive(&self, point: SchedulingPoint, locus: Locus) -> Result<(), Interrupted> {
        let mut state = self.state.lock();
        let now = now();
        let wakes = state.place_head(point.slot, locus, now);
        self.proceed(state, point, SheddingPoint::Dispatch, wakes, now)
    }

    /// Returns the head from the call that it left by. Waits for its turn.
    pub(crate) fn come_back(&self, point: SchedulingPoint, locus: Locus) -> Result<(), Interrupted> {
        let target = self.state.lock().threads[point.slot].take_call(point.activation);
        // Dropped without the lock: the reference may be the last one.
        drop(target);
        self.arrive(point, locus)
    }

    /// Changes the segment or its parameters. Waits for the turn of the thread. `at`: whether work begins, or
    /// continues.
    pub(crate) fn change(
        &self,
        point: SchedulingPoint,
        at: SheddingPoint,
        parameters: SchedulingParameters,
        began_at: Option<Duration>,
    ) -> Result<(), Interrupted> {
        let (slot, activation) = (point.slot, point.activation);
        let mut state = self.state.lock();
        let now = now();
        let before = state.threads[slot].replace_segment(activation, (parameters, began_at));
        let before = before.ok_or(Interrupted::Cancelled)?;
        let mut wakes = state.rebase(slot, now);
        match state.update(slot, Some(slot), now) {
            Ok(more) => {
                wakes.add(more);
                self.proceed(state, point, at, wakes, now)
            }
            Err(refused) => {
                state.threads[slot].replace_segment(activation, before);
                wakes.add(state.rebase(slot, now));
                self.unlock(state, wakes);
                Err(refused)
            }
        }
    }

    /// A scheduling point without any other event; it ends a [`wait`](Self::wait). Waits for the turn of the
    /// thread.
    pub(crate) fn pass(&self, point: SchedulingPoint) -> Result<(), Interrupted> {
        let mut state = self.state.lock();
        let now = now();
        let wakes = state.yield_to_others(point, now);
        self.proceed(state, point, SheddingPoint::Checkpoint, wakes, now)
    }

    /// Takes the head away by a call; [`come_back`](Self::come_back) returns it. A thread that others passed
    /// while it ran waits for its turn first.
    pub(crate) fn leave(&self, point: SchedulingPoint, target: ObjectRef) -> Result<Locus, Interrupted> {
        self.examine(point, SheddingPoint::Checkpoint)?;
        let mut state = self.state.lock();
        if state.threads[point.slot].head.is_passed() {
            let at = SheddingPoint::Checkpoint;
            self.proceed(state, point, at, WakeList::default(), now())?;
            state = self.state.lock();
        }
        let now = now();
        match state.send_head(point, target, now) {
            Ok((locus, wakes)) => {
                self.unlock(state, wakes);
                Ok(locus)
            }
            Err(interrupted) => Err(self.interrupt(state, point, interrupted, WakeList::default(), now)),
        }
    }

    /// Suspends the head here until it [`pass`](Self::pass)es.
    pub(crate) fn wait(&self, point: SchedulingPoint) -> Result<(), Interrupted> {
        let mut state = self.state.lock();
        let now = now();
        if let Some(interrupted) = state.interruption(point, now) {
            return Err(self.interrupt(state, point, interrupted, WakeList::default(), now));
        }
        let wakes = state.suspend(point.slot, now);
        self.unlock(state, wakes);
        Ok(())
    }

    /// Ends an activation and restores the scheduling of its OS thread. After the last activation, returns
    /// what remains of the thread.
    pub(crate) fn end(&self, slot: Slot, activation: u64) -> Option<Departure> {
        let mut state = self.state.lock();
        let now = now();
        let mut wakes = state.withdraw(slot, activation, now);
        if state.threads[slot].activations == 1 {
            wakes.add(state.release_resources(slot, now));
        }
        // An activation may end within its call. Dropped without the lock, as in `come_back`.
        let target = state.threads[slot].take_call(activation);
        let departure = state.threads.release(slot);
        self.unlock(state, wakes);
        drop(target);
        departure
    }

    /// `DistributableThread::cancel`: wakes the thread where it waits here.
    pub(crate) fn cancel(&self, id: DistributableThreadId) -> Result<(), SystemException> {
        let mut state = self.state.lock();
        let slot = state.threads.find(id).ok_or_else(unknown_thread)?;
        let wakes = state.cancel(slot);
        self.unlock(state, wakes);
        Ok(())
    }

    /// Returns whether a thread was cancelled; `None`: it is unknown here.
    pub(crate) fn is_cancelled(&self, id: DistributableThreadId) -> Option<bool> {
        self.inspect_thread(id, |entry| entry.cancelled)
    }

    /// Inspects the entry of a thread; `None`: it is unknown here.
    pub(crate) fn inspect_thread<R>(
        &self,
        id: DistributableThreadId,
        inspect: impl FnOnce(&Entry) -> R,
    ) -> Option<R> {
        let state = self.state.lock();
        let slot = state.threads.find(id)?;
        Some(inspect(&state.threads[slot]))
    }

    /// Why the activation must not continue, if so.
    pub(crate) fn interruption(&self, point: SchedulingPoint) -> Option<Interrupted> {
        self.state.lock().interruption(point, now())
    }

    /// Installs another scheduler for all threads at once.
    pub(crate) fn install(
        &self,
        scheduler: Box<dyn Scheduler>,
        mechanism: Mechanism,
    ) -> Result<(), BuildError> {
        native_control::check(&*scheduler, mechanism)?;
        let max_threads = self.state.lock().threads.max_threads();
        // The memory of the new scheduler is allocated, and that of the old one freed, without the lock.
        let scheduler = InstalledScheduler::new(scheduler, max_threads);
        let mut state = self.state.lock();
        let (before, wakes) = state.install(scheduler, mechanism, now());
        self.unlock(state, wakes);
        drop(before);
        Ok(())
    }

    /// Returns whether running threads are preempted by native priorities.
    pub(crate) fn preempts(&self) -> bool {
        self.state.lock().native.preempts()
    }

    /// Returns the number of times that work was shed.
    pub(crate) fn shed(&self) -> u64 {
        self.shed.load(Ordering::Relaxed)
    }

    /// Inspects the state.
    pub(crate) fn inspect<R>(&self, inspect: impl FnOnce(&mut State) -> R) -> R {
        inspect(&mut self.state.lock())
    }

    /// Continues if it is the turn of the thread, and waits for it otherwise. Then its work may be shed.
    fn proceed<'s>(
        &'s self,
        mut state: PiMutexGuard<'s, State>,
        point: SchedulingPoint,
        mut at: SheddingPoint,
        mut wakes: WakeList,
        mut now: Time,
    ) -> Result<(), Interrupted> {
        loop {
            let gate = match state.take_turn(point, &mut wakes, now) {
                Ok(Some(gate)) => gate,
                Ok(None) => {
                    // With native priorities, the kernel may let others run before this returns.
                    self.unlock(state, wakes);
                    return self.examine(point, at);
                }
                Err(interrupted) => return Err(self.interrupt(state, point, interrupted, wakes, now)),
            };
            gate.close();
            self.unlock(state, wakes);
            gate.pass(point.deadline.map(instant));
            at = SheddingPoint::Dispatch;
            state = self.state.lock();
            wakes = WakeList::default();
            now = clock::now();
        }
    }

    /// Whether the work of a thread that has its turn is to be done.
    fn examine(&self, point: SchedulingPoint, at: SheddingPoint) -> Result<(), Interrupted> {
        match point.watch {
            Some(watch) if watch.sheds(at) => {
                self.shed.fetch_add(1, Ordering::Relaxed);
                Err(Interrupted::Hopeless)
            }
            _ => Ok(()),
        }
    }

    /// Carries out an interruption: a cancelled activation is no longer scheduled, and one whose operation is
    /// late continues to end that operation, its turn or not.
    fn interrupt(
        &self,
        mut state: PiMutexGuard<'_, State>,
        point: SchedulingPoint,
        interrupted: Interrupted,
        mut wakes: WakeList,
        now: Time,
    ) -> Interrupted {
        wakes.add(match interrupted {
            Interrupted::Cancelled => state.withdraw(point.slot, point.activation, now),
            Interrupted::DeadlinePassed | Interrupted::Hopeless => state.continue_late(point.slot, now),
            Interrupted::Refused(_) => state.suspend(point.slot, now),
        });
        self.unlock(state, wakes);
        interrupted
    }

    /// Releases the lock, and wakes the threads that it is the turn of.
    fn unlock(&self, mut state: PiMutexGuard<'_, State>, wakes: WakeList) {
        let earlier = state.timer_is_late();
        let pending = state.native.pending.take();
        drop(state);
        wakes.wake();
        if let Some(demotion) = pending {
            demotion.apply();
        }
        if earlier {
            self.earlier.notify_one();
        }
    }
}
