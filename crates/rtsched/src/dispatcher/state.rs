use std::{collections::HashMap, sync::Arc};

use punctual_sched::dynamic::{SchedulingParameters, Slot, Time, TranslationDefaults};
use punctual_types::{Completion, DistributableThreadId, Minor, SystemException, SystemExceptionKind};

use super::{
    Mechanism, Settings, Visitor,
    choice::Choice,
    decisions::{Decisions, Switch, ThreadName},
    entry::{Entry, Head, Native, Place},
    levels::Levels,
    native::{self, Lowering},
    resources::ResourceTable,
    wakes::Wakes,
};
use crate::{error::Interrupted, storage::ThreadStorage};

/// Everything under the dispatcher's lock.
pub(crate) struct State {
    pub(super) choice: Choice,
    pub(super) mechanism: Mechanism,
    pub(super) settings: Settings,
    pub(super) entries: Vec<Entry>,
    free: Vec<Slot>,
    by_id: HashMap<DistributableThreadId, Slot>,
    /// Those that run: with the ready queue those that were let run, else those that the scheduler would.
    pub(super) running: Vec<Slot>,
    pub(super) levels: Levels,
    pub(super) decisions: Decisions,
    pub(super) resources: ResourceTable,
    /// The kernel has refused a native priority.
    pub(super) denied: bool,
    /// Until when `rt-dispatch` sleeps; `None`: there is no such thread, or it is awake.
    pub(super) timer_until: Option<Time>,
    pub(super) ends: bool,
    /// What the caller has to do to itself once it has let go of the lock.
    pub(super) lowers: Option<Lowering>,
}

impl State {
    pub(super) fn new(
        scheduler: Box<dyn punctual_sched::dynamic::Scheduler>,
        mechanism: Mechanism,
        settings: Settings,
    ) -> Self {
        let room = settings.max_threads;
        Self {
            choice: Choice::new(scheduler, room),
            mechanism,
            entries: Vec::with_capacity(room),
            free: Vec::with_capacity(room),
            // Twice the room: with as many free places a table cleans up in place and does not grow.
            by_id: HashMap::with_capacity(2 * room),
            running: Vec::with_capacity(room),
            levels: Levels::new(settings.native.levels.clone()),
            decisions: Decisions::new(settings.decisions),
            resources: ResourceTable::new(room),
            denied: false,
            timer_until: None,
            ends: false,
            lowers: None,
            settings,
        }
    }

    pub(super) fn entry(&self, slot: Slot) -> &Entry {
        &self.entries[slot.0 as usize]
    }

    pub(super) fn entry_mut(&mut self, slot: Slot) -> &mut Entry {
        &mut self.entries[slot.0 as usize]
    }

    pub(super) fn find(&self, id: DistributableThreadId) -> Option<Slot> {
        self.by_id.get(&id).copied()
    }

    /// All that are known here.
    pub(super) fn known(&self) -> impl Iterator<Item = &Entry> {
        self.by_id.values().map(|slot| self.entry(*slot))
    }

    /// How many threads are known here.
    pub(crate) fn threads(&self) -> usize {
        self.by_id.len()
    }

    pub(crate) fn mechanism(&self) -> Mechanism {
        self.mechanism
    }

    pub(crate) fn scheduler_name(&self) -> &str {
        self.choice.name()
    }

    pub(crate) fn scheduler_failures(&self) -> u64 {
        self.choice.failures()
    }

    pub(crate) fn kind(&self) -> punctual_sched::dynamic::ParameterKind {
        self.choice.kind()
    }

    pub(crate) fn decisions(&mut self) -> &mut Decisions {
        &mut self.decisions
    }

    /// A new entry with one visit.
    pub(super) fn register(
        &mut self,
        id: DistributableThreadId,
        name: &str,
    ) -> Result<Slot, SystemException> {
        if self.by_id.len() == self.settings.max_threads {
            return Err(SystemException::new(
                SystemExceptionKind::ImpLimit,
                Minor::TOO_MANY_DISTRIBUTABLE_THREADS,
                Completion::No,
            ));
        }
        let slot = if let Some(slot) = self.free.pop() {
            slot
        } else {
            self.entries.push(Entry::default());
            Slot(self.entries.len() as u32 - 1)
        };
        // What is in its vectors has been removed; their memory stays.
        let entry = self.entry_mut(slot);
        entry.id = id;
        entry.name = ThreadName::new(name);
        entry.visits = 1;
        entry.is_native = true;
        entry.is_spawned = false;
        entry.cancelled = false;
        self.by_id.insert(id, slot);
        Ok(slot)
    }

    /// A visit less; of the last one, gives what is left of the thread.
    pub(super) fn release(&mut self, slot: Slot) -> Option<Ended> {
        let entry = self.entry_mut(slot);
        entry.visits -= 1;
        if !entry.is_native || entry.visits > 0 {
            entry.peers.pop();
        }
        if entry.visits > 0 {
            return None;
        }
        let id = entry.id;
        let ended = Ended {
            storage: std::mem::take(&mut entry.storage),
            fate: match entry {
                Entry { is_native: true, .. } => Fate::Ended,
                Entry { is_spawned: true, .. } | Entry { cancelled: true, .. } => Fate::EndedOnLane,
                _ => Fate::MayReturn,
            },
        };
        entry.place = Place::Elsewhere;
        entry.calls.clear();
        entry.peers.clear();
        self.by_id.remove(&id);
        self.free.push(slot);
        Some(ended)
    }

    /// The head is here from now on, at this visit. One that another visit had is taken from it: the caller does not wait for
    /// that one any more.
    pub(super) fn place_head(&mut self, slot: Slot, head: Head, now: Time) -> Wakes {
        let mut wakes = Wakes::default();
        if let Some(other) = self
            .entry(slot)
            .head()
            .map(|head| (head.visit, Arc::clone(&head.gate), head.handed))
        {
            let (visit, gate, handed) = other;
            // It does not wait for a resource any more either, nor has it one that it has not seen.
            wakes.add(self.stop_waiting(slot, now));
            wakes.add(self.withdraw(slot, visit, now));
            if let Some(resource) = handed {
                wakes.add(self.release_resource(resource, slot, None, now));
            }
            wakes.push(&gate);
        }
        self.entry_mut(slot).place = Place::Idle(head);
        wakes.add(self.rebase(slot, now));
        wakes
    }

    /// The head, which is here, gets ready.
    pub(super) fn admit(&mut self, slot: Slot, now: Time) -> Result<Wakes, Interrupted> {
        let parameters = self.parameters(slot, now);
        let mechanism = self.mechanism;
        let entry = self.entry_mut(slot);
        if mechanism == Mechanism::KernelDeadline {
            let head = entry.head_mut().expect("it is here");
            // One that was away or asleep still has what the kernel has admitted, unless its OS thread served another one meanwhile.
            if head.native != Native::Deadline || !native::has_reservation(head) {
                native::reserve(head, &parameters, now).map_err(Interrupted::Refused)?;
            }
        } else if mechanism == Mechanism::ReadyQueue
            && !self.preempts()
            && let Some(head) = self.entry_mut(slot).head_mut()
        {
            // What a mechanism before has made of its OS thread.
            native::restore(head);
        }
        let entry = self.entry_mut(slot);
        let Place::Idle(mut head) = std::mem::replace(&mut entry.place, Place::Elsewhere) else {
            unreachable!("it is here, and was not ready");
        };
        head.runs = mechanism != Mechanism::ReadyQueue;
        head.parked = false;
        let received = head.received();
        entry.place = Place::Ready(head);
        self.choice.ready(slot, &parameters, received, now);
        self.find_level(slot, &parameters, Some(slot));
        Ok(self.reschedule(Some(slot), now))
    }

    /// The parameters of a head have changed. `caller`: who is at a scheduling point.
    pub(super) fn changed(
        &mut self,
        slot: Slot,
        caller: Option<Slot>,
        now: Time,
    ) -> Result<Wakes, Interrupted> {
        if !self.entry(slot).is_ready() {
            return Ok(Wakes::default());
        }
        let parameters = self.parameters(slot, now);
        let mechanism = self.mechanism;
        let head = self.entry_mut(slot).head_mut().expect("it is ready");
        if mechanism == Mechanism::KernelDeadline {
            native::reserve(head, &parameters, now).map_err(Interrupted::Refused)?;
        }
        let received = head.received();
        self.choice.update(slot, &parameters, received, now);
        self.find_level(slot, &parameters, caller);
        Ok(self.reschedule(caller, now))
    }

    /// The head waits here, or is about to leave: it is not ready any more.
    pub(super) fn unready(&mut self, slot: Slot, now: Time) -> Wakes {
        let entry = self.entry_mut(slot);
        let Place::Ready(mut head) = std::mem::replace(&mut entry.place, Place::Elsewhere) else {
            unreachable!("only called for one that is ready");
        };
        head.runs = false;
        head.parked = false;
        let level = head.level.take();
        let is_managed = head.native != Native::Own;
        entry.place = Place::Idle(head);
        if let Some(level) = level {
            self.levels.leave(level);
        }
        self.choice.remove(slot, now);
        if let Some(at) = self.running.iter().position(|running| *running == slot) {
            self.running.swap_remove(at);
            self.note(slot, Switch::Suspended, now);
        }
        if is_managed && self.preempts() {
            self.make_native(slot, Native::At(self.settings.native.blocked));
        }
        self.reschedule(None, now)
    }

    /// A thread that is told that its operation's time is up goes on with that, as one that was passed while it ran where it is not
    /// its turn: not above those whose turn it is.
    pub(super) fn go_on_late(&mut self, slot: Slot, now: Time) -> Wakes {
        let mut wakes = Wakes::default();
        if !self.entry(slot).is_ready() {
            // What the kernel does not admit is told at its next scheduling point.
            wakes.add(self.admit(slot, now).unwrap_or_default());
        }
        if self.is_passed(slot) {
            self.entry_mut(slot).head_mut().expect("it is ready").parked = false;
            if self.preempts() {
                self.make_native(slot, Native::At(self.settings.native.inactive));
            }
        }
        wakes
    }

    /// Whether it is ready, and it is not its turn.
    pub(super) fn is_passed(&self, slot: Slot) -> bool {
        matches!(&self.entry(slot).place, Place::Ready(head) if !head.runs)
    }

    /// As [`unready`](Self::unready), and nothing where it was not.
    pub(super) fn suspend(&mut self, slot: Slot, now: Time) -> Wakes {
        if self.entry(slot).is_ready() {
            self.unready(slot, now)
        } else {
            Wakes::default()
        }
    }

    /// The visit, if it has the head, has it no more: its OS thread is its owner's again.
    pub(super) fn withdraw(&mut self, slot: Slot, visit: u64, now: Time) -> Wakes {
        if self.entry_mut(slot).head_of(visit).is_none() {
            return Wakes::default();
        }
        let wakes = self.suspend(slot, now);
        let entry = self.entry_mut(slot);
        if let Some(head) = entry.head_mut() {
            native::restore(head);
        }
        entry.place = Place::Elsewhere;
        wakes
    }

    /// Marks it, and wakes it where it waits.
    pub(super) fn cancel(&mut self, slot: Slot) -> Wakes {
        let mut wakes = Wakes::default();
        let entry = self.entry_mut(slot);
        entry.cancelled = true;
        if let Some(head) = entry.head() {
            wakes.push(&head.gate);
        }
        wakes
    }

    /// Another scheduler. Gives back the one before, to be dropped without the lock.
    pub(super) fn install(&mut self, choice: Choice, mechanism: Mechanism, now: Time) -> (Choice, Wakes) {
        let before = std::mem::replace(&mut self.choice, choice);
        self.choice.add_failures(before.failures());
        self.mechanism = mechanism;
        self.levels.clear();
        self.denied = false;
        self.translate_resources(now);
        let mut wakes = Wakes::default();
        for number in 0..self.entries.len() {
            let slot = Slot(number as u32);
            if !self.entry(slot).is_ready() {
                continue;
            }
            let parameters = self.parameters(slot, now);
            let preempts = self.preempts();
            let head = self.entry_mut(slot).head_mut().expect("it is ready");
            head.level = None;
            if mechanism == Mechanism::KernelDeadline {
                // Who is not admitted runs on as it is until its next segment, which says so.
                let _ = native::reserve(head, &parameters, now);
            } else if !preempts {
                native::restore(head);
            }
            if mechanism != Mechanism::ReadyQueue {
                head.runs = true;
                if head.parked {
                    wakes.push(&head.gate);
                }
            }
            let received = head.received();
            let runs = head.runs;
            self.choice.ready(slot, &parameters, received, now);
            self.find_level(slot, &parameters, None);
            if runs && !self.running.contains(&slot) {
                self.running.push(slot);
                self.note(slot, Switch::Resumed, now);
            }
        }
        wakes.add(self.reschedule(None, now));
        for number in 0..self.entries.len() {
            if !self.preempts() {
                break;
            }
            // One that is not at its gate was passed while it ran, by this scheduler or the one before.
            let native = match &self.entries[number].place {
                Place::Ready(head) if head.runs => self.settings.native.active,
                Place::Ready(head) if !head.parked => self.settings.native.inactive,
                Place::Ready(_) | Place::Idle(_) | Place::Elsewhere => continue,
            };
            self.make_native(Slot(number as u32), Native::At(native));
        }
        (before, wakes)
    }

    /// A thread that runs on although others go first, because it could not be kept from it, is at a scheduling point.
    pub(super) fn give_way(&mut self, visitor: Visitor, now: Time) -> Wakes {
        let is_here = self.entry_mut(visitor.slot).head_of(visitor.visit).is_some();
        if is_here && self.entry(visitor.slot).is_ready() && !self.preempts() {
            self.reschedule(Some(visitor.slot), now)
        } else {
            Wakes::default()
        }
    }

    /// `rt-dispatch` chooses again, because it is time.
    pub(super) fn reconsider(&mut self, now: Time) -> Wakes {
        self.reschedule(None, now)
    }

    /// Whether `rt-dispatch` sleeps for longer than it may.
    pub(super) fn timer_is_late(&mut self) -> bool {
        let wanted = self.choice.reconsider_at.unwrap_or(Time::NEVER);
        match self.timer_until {
            Some(until) if wanted < until => {
                self.timer_until = None;
                true
            }
            _ => false,
        }
    }

    /// What the scheduler is to know a thread by.
    fn parameters(&self, slot: Slot, now: Time) -> SchedulingParameters {
        let defaults = TranslationDefaults {
            now,
            ..TranslationDefaults::default()
        };
        let head = self.entry(slot).head().expect("its head is here");
        head.parameters().translated(self.choice.kind(), &defaults)
    }
}

/// What is left of a thread that ends here, or leaves for good.
pub(crate) struct Ended {
    pub(crate) storage: ThreadStorage,
    pub(crate) fate: Fate,
}

/// What has become of a thread that has no visit here any more.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fate {
    /// It began here, so it has ended; on an OS thread of the application's.
    Ended,
    /// It came with a oneway request, or was cancelled: it has ended, on an OS thread that serves others, too.
    EndedOnLane,
    /// It is elsewhere.
    MayReturn,
}
