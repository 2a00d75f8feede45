//! Which distributable threads run at this endsystem, and what that means for their OS threads.
//!
//! `choice.rs` asks the scheduler and checks its answer; `state.rs` has all entries and carries the answer out; the functions here
//! are the scheduling points: each locks, tells, applies, and lets the calling OS thread go on or wait for its turn.

mod carrying_out;
mod choice;
mod decisions;
mod entry;
mod levels;
mod mechanism;
mod native;
mod resources;
mod snapshot;
mod state;
mod timer;
mod wakes;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use punctual_os::{PiCondvar, PiMutex, PiMutexGuard};
use punctual_sched::dynamic::{Scheduler, SchedulingParameters, Slot, Time};
use punctual_stub::ObjectRef;
use punctual_transport::Peer;
use punctual_types::{DistributableThreadId, Minor, SystemException};

pub use decisions::{Decision, Switch};
pub(crate) use entry::{Carrier, Head, now};
pub use mechanism::{Mechanism, NativePriorities, Preemption};
pub use snapshot::{Standing, ThreadSnapshot};
pub(crate) use state::{Ended, Fate};
pub(crate) use timer::Timer;

use self::{
    entry::{Entry, Place},
    state::State,
    wakes::Wakes,
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
}

/// What does not change.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) processors: usize,
    pub(crate) preemption: Preemption,
    pub(crate) native: NativePriorities,
    pub(crate) max_threads: usize,
    pub(crate) decisions: usize,
}

/// A visit that comes to a scheduling point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visitor {
    pub(crate) slot: Slot,
    /// Its number.
    pub(crate) visit: u64,
    /// Until when it waits: that of the innermost operation.
    pub(crate) limit: Option<Time>,
}

impl Dispatcher {
    pub(crate) fn new(
        scheduler: Box<dyn Scheduler>,
        mechanism: Mechanism,
        settings: Settings,
    ) -> Result<Self, BuildError> {
        native::check(&*scheduler, mechanism)?;
        Ok(Self {
            state: PiMutex::new(State::new(scheduler, mechanism, settings)),
            earlier: PiCondvar::new(),
        })
    }

    /// A new thread, whose first visit here begins. Nothing is scheduled yet.
    pub(crate) fn register(&self, id: DistributableThreadId, name: &str) -> Result<Slot, SystemException> {
        self.state.lock().register(id, name)
    }

    /// A visit of a thread that came with a request of this peer's. If the thread was here already, it must have left by a call, and
    /// the request cannot have spawned it.
    pub(crate) fn register_visitor(
        &self,
        id: DistributableThreadId,
        name: &str,
        peer: Option<Peer>,
        spawned: bool,
    ) -> Result<Slot, SystemException> {
        let mut state = self.state.lock();
        let Some(slot) = state.find(id) else {
            let slot = state.register(id, name)?;
            let entry = state.entry_mut(slot);
            (entry.is_native, entry.is_spawned) = (false, spawned);
            entry.peers.push(peer);
            return Ok(slot);
        };
        let entry = state.entry_mut(slot);
        if spawned || !matches!(entry.place, Place::Elsewhere) || entry.calls.is_empty() {
            return Err(bad_order(Minor::DISTRIBUTABLE_THREAD_ACTIVE));
        }
        if entry.cancelled {
            return Err(Interrupted::Cancelled.exception());
        }
        entry.visits += 1;
        entry.peers.push(peer);
        Ok(slot)
    }

    /// What it has stored at this host.
    pub(crate) fn storage(&self, slot: Slot) -> ThreadStorage {
        self.state.lock().entry(slot).storage.clone()
    }

    /// Gives a visitor back what it stored when it was here before.
    pub(crate) fn restore_storage(&self, slot: Slot, storage: ThreadStorage) {
        let before = std::mem::replace(&mut self.state.lock().entry_mut(slot).storage, storage);
        drop(before);
    }

    /// The head comes to a visit: a thread begins, arrives with a request, or returns from a call. Waits for its turn.
    ///
    /// One that another visit here still has loses it: its caller does not wait for that visit any more.
    pub(crate) fn arrive(&self, visitor: Visitor, head: Head) -> Result<(), Interrupted> {
        let mut state = self.state.lock();
        let now = now();
        let wakes = state.place_head(visitor.slot, head, now);
        self.proceed(state, visitor, wakes, now)
    }

    /// The head is back from the call that it left by, as [`arrive`](Self::arrive).
    pub(crate) fn come_back(&self, visitor: Visitor, head: Head) -> Result<(), Interrupted> {
        let target = self.state.lock().entry_mut(visitor.slot).take_call(visitor.visit);
        // Not under the lock: the reference may be the last one.
        drop(target);
        self.arrive(visitor, head)
    }

    /// The present segment is another one, or has other parameters. Waits for its turn.
    pub(crate) fn change(
        &self,
        visitor: Visitor,
        parameters: SchedulingParameters,
        began_at: Option<Duration>,
    ) -> Result<(), Interrupted> {
        let mut state = self.state.lock();
        let now = now();
        let Some(head) = state.entry_mut(visitor.slot).head_of(visitor.visit) else {
            return Err(Interrupted::Cancelled);
        };
        let before = (head.own, head.began_at);
        (head.own, head.began_at) = (parameters, began_at);
        let mut wakes = state.rebase(visitor.slot, now);
        match state.changed(visitor.slot, Some(visitor.slot), now) {
            Ok(more) => {
                wakes.add(more);
                self.proceed(state, visitor, wakes, now)
            }
            Err(refused) => {
                if let Some(head) = state.entry_mut(visitor.slot).head_mut() {
                    (head.own, head.began_at) = before;
                }
                wakes.add(state.rebase(visitor.slot, now));
                self.unlock(state, wakes);
                Err(refused)
            }
        }
    }

    /// A scheduling point without news: sees whether the thread was cancelled, its limit has passed, or others go first. Ends a
    /// [`wait`](Self::wait).
    pub(crate) fn pass(&self, visitor: Visitor) -> Result<(), Interrupted> {
        let mut state = self.state.lock();
        let now = now();
        let wakes = state.give_way(visitor, now);
        self.proceed(state, visitor, wakes, now)
    }

    /// The head leaves by a call: whoever gets it can bring it back with [`arrive`](Self::arrive). One that was passed while it ran
    /// waits for its turn first.
    pub(crate) fn leave(&self, visitor: Visitor, target: ObjectRef) -> Result<Head, Interrupted> {
        let mut state = self.state.lock();
        let mut now = now();
        if state.is_passed(visitor.slot) {
            self.proceed(state, visitor, Wakes::default(), now)?;
            state = self.state.lock();
            now = entry::now();
        }
        if let Some(interrupted) = interruption(&mut state, visitor, now) {
            return Err(self.interrupt(state, visitor, interrupted, Wakes::default(), now));
        }
        let wakes = state.suspend(visitor.slot, now);
        let entry = state.entry_mut(visitor.slot);
        let place = std::mem::replace(&mut entry.place, Place::Elsewhere);
        entry.calls.push((visitor.visit, target));
        self.unlock(state, wakes);
        match place {
            Place::Idle(head) => Ok(head),
            Place::Elsewhere | Place::Ready(_) => unreachable!("it was just suspended here"),
        }
    }

    /// The head stays here, and is not ready until it [`pass`](Self::pass)es.
    pub(crate) fn wait(&self, visitor: Visitor) -> Result<(), Interrupted> {
        let mut state = self.state.lock();
        let now = now();
        if let Some(interrupted) = interruption(&mut state, visitor, now) {
            return Err(self.interrupt(state, visitor, interrupted, Wakes::default(), now));
        }
        let wakes = state.suspend(visitor.slot, now);
        self.unlock(state, wakes);
        Ok(())
    }

    /// The visit ends: its OS thread gets its own priority back. Of the last one of the thread here, gives what is
    /// left of that.
    pub(crate) fn end(&self, slot: Slot, visit: u64) -> Option<Ended> {
        let mut state = self.state.lock();
        let now = now();
        let mut wakes = state.withdraw(slot, visit, now);
        if state.entry(slot).visits == 1 {
            wakes.add(state.release_resources(slot, now));
        }
        // One that ends in a call; dropped without the lock, as in `come_back`.
        let target = state.entry_mut(slot).take_call(visit);
        let ended = state.release(slot);
        self.unlock(state, wakes);
        drop(target);
        ended
    }

    /// `DistributableThread::cancel`: wakes the thread where it waits here.
    pub(crate) fn cancel(&self, id: DistributableThreadId) -> Result<(), SystemException> {
        let mut state = self.state.lock();
        let slot = state.find(id).ok_or_else(unknown_thread)?;
        let wakes = state.cancel(slot);
        self.unlock(state, wakes);
        Ok(())
    }

    /// Whether it was cancelled; `None`: it is not known here.
    pub(crate) fn is_cancelled(&self, id: DistributableThreadId) -> Option<bool> {
        self.look_at(id, |entry| entry.cancelled)
    }

    /// Looks at what is known of a thread; `None`: it is not known here.
    pub(crate) fn look_at<R>(&self, id: DistributableThreadId, look: impl FnOnce(&Entry) -> R) -> Option<R> {
        let state = self.state.lock();
        let slot = state.find(id)?;
        Some(look(state.entry(slot)))
    }

    /// Why the visit should not go on, if so.
    pub(crate) fn interruption(&self, visitor: Visitor) -> Option<Interrupted> {
        interruption(&mut self.state.lock(), visitor, now())
    }

    /// Another scheduler, for all threads at once.
    pub(crate) fn install(
        &self,
        scheduler: Box<dyn Scheduler>,
        mechanism: Mechanism,
    ) -> Result<(), BuildError> {
        native::check(&*scheduler, mechanism)?;
        let room = self.state.lock().settings.max_threads;
        // The memory of the new one is taken, and that of the old one given back, without the lock.
        let choice = choice::Choice::new(scheduler, room);
        let mut state = self.state.lock();
        let (before, wakes) = state.install(choice, mechanism, now());
        self.unlock(state, wakes);
        drop(before);
        Ok(())
    }

    /// Looks into the state.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&mut State) -> R) -> R {
        look(&mut self.state.lock())
    }

    /// Goes on where it is the visit's turn, and waits for it where not.
    fn proceed<'s>(
        &'s self,
        mut state: PiMutexGuard<'s, State>,
        visitor: Visitor,
        mut wakes: Wakes,
        mut now: Time,
    ) -> Result<(), Interrupted> {
        loop {
            if let Some(interrupted) = interruption(&mut state, visitor, now) {
                return Err(self.interrupt(state, visitor, interrupted, wakes, now));
            }
            if !state.entry(visitor.slot).is_ready() {
                match state.admit(visitor.slot, now) {
                    Ok(more) => wakes.add(more),
                    Err(refused) => {
                        self.unlock(state, wakes);
                        return Err(refused);
                    }
                }
            }
            let head = state
                .entry_mut(visitor.slot)
                .head_mut()
                .expect("it is ready here");
            if head.runs {
                head.parked = false;
                self.unlock(state, wakes);
                return Ok(());
            }
            if !head.parked {
                head.received_parked = head.received();
                head.parked = true;
            }
            head.gate.close();
            let gate = Arc::clone(&head.gate);
            self.unlock(state, wakes);
            gate.pass(visitor.limit.map(instant));
            state = self.state.lock();
            wakes = Wakes::default();
            now = entry::now();
        }
    }

    /// What an interruption means for the visit: a cancelled one is scheduled no more, one whose operation has taken too long goes on
    /// to end that, its turn or not.
    fn interrupt(
        &self,
        mut state: PiMutexGuard<'_, State>,
        visitor: Visitor,
        interrupted: Interrupted,
        mut wakes: Wakes,
        now: Time,
    ) -> Interrupted {
        wakes.add(match interrupted {
            Interrupted::Cancelled => state.withdraw(visitor.slot, visitor.visit, now),
            Interrupted::LimitPassed => state.go_on_late(visitor.slot, now),
            Interrupted::Refused(_) => state.suspend(visitor.slot, now),
        });
        self.unlock(state, wakes);
        interrupted
    }

    /// Lets go of the lock, and wakes whom it is the turn of.
    fn unlock(&self, mut state: PiMutexGuard<'_, State>, wakes: Wakes) {
        let earlier = state.timer_is_late();
        let lowers = state.lowers.take();
        drop(state);
        wakes.open();
        if let Some(lowering) = lowers {
            lowering.carry_out();
        }
        if earlier {
            self.earlier.notify_one();
        }
    }
}

fn interruption(state: &mut State, visitor: Visitor, now: Time) -> Option<Interrupted> {
    let entry = state.entry_mut(visitor.slot);
    if entry.cancelled || entry.head_of(visitor.visit).is_none() {
        Some(Interrupted::Cancelled)
    } else if visitor.limit.is_some_and(|limit| limit <= now) {
        Some(Interrupted::LimitPassed)
    } else {
        None
    }
}

/// The point in time as the standard library names it.
pub(crate) fn instant(time: Time) -> Instant {
    // A time that no clock reaches is a hundred years away.
    let left = time.since(now()).min(Duration::from_secs(100 * 365 * 24 * 3600));
    Instant::now() + left
}
