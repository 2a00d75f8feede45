//! Storage of distributable threads that have left this host and may return.

use std::{
    collections::{HashMap, VecDeque},
    time::{Duration, Instant},
};

use punctual_os::{PiCondvar, PiMutex};
use punctual_sched::dynamic::Time;
use punctual_types::DistributableThreadId;

use super::ThreadStorage;

/// Limits on the storage that is retained for distributable threads that have left.
///
/// ```
/// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
/// use std::time::Duration;
/// use punctual::rtscheduling::{RtScheduling, storage::RetentionLimits};
///
/// let limits = RetentionLimits { max_threads: 1_000, max_age: Duration::from_secs(10) };
/// let scheduling = RtScheduling::builder().retention_limits(limits).build()?;
/// # Ok::<(), punctual_rtsched::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RetentionLimits {
    /// Maximum number of threads; 256 by default. Above it, the storage of the thread that left first is
    /// forgotten.
    pub max_threads: usize,
    /// Maximum time since the thread left; 60 s by default.
    pub max_age: Duration,
}

/// The storage of distributable threads that are at other hosts and may return.
///
/// A host is not notified when a thread that began elsewhere ends, so it retains for a while what the thread
/// stored. Forgotten storage is not destroyed at once: threads arrive and leave on lanes, and destructors are
/// code of the application. It waits for [`destroy_forgotten`](Self::destroy_forgotten), which a
/// [`Housekeeper`](super::Housekeeper) or the application calls. Without such a call, at most
/// [`max_threads`](RetentionLimits::max_threads) wait; above that number, each lane that forgets one destroys
/// one, which is counted.
///
/// Storage without values is not retained, so threads that store nothing cost nothing.
///
/// ```
/// # mod punctual {
/// #     pub mod rtscheduling { pub use {
/// #         punctual_rtsched::*, punctual_sched::dynamic::*, punctual_types::DistributableThreadId,
/// #     }; }
/// # }
/// use punctual::rtscheduling::{DistributableThreadId, Time};
/// use punctual::rtscheduling::storage::{RetainedStorage, RetentionLimits, ThreadStorage, WordKey};
///
/// let seen = WordKey::<u32>::new()?;
/// let retained = RetainedStorage::new(RetentionLimits::default());
/// let id = DistributableThreadId(7);
/// let storage = ThreadStorage::new();
/// storage.enter(|| seen.set(1))?;
/// retained.retain(id, storage, Time(0));
/// let storage = retained.restore(id, Time(1_000)).expect("it left a microsecond ago");
/// assert_eq!(storage.enter(|| seen.get())?, Some(1));
/// # Ok::<(), punctual_rtsched::storage::StorageError>(())
/// ```
#[derive(Debug)]
pub struct RetainedStorage {
    limits: RetentionLimits,
    state: PiMutex<State>,
    /// Signals forgotten storage, and the first storage that ages.
    changed: PiCondvar,
}

/// Retained storage in the order of departures, as a doubly linked list in slots that are allocated at the
/// start.
#[derive(Debug)]
struct State {
    /// Index in `slots`.
    by_id: HashMap<DistributableThreadId, usize>,
    slots: Vec<Slot>,
    /// First free slot.
    free: usize,
    oldest: usize,
    newest: usize,
    forgotten: VecDeque<ThreadStorage>,
    destroyed_by_lanes: u64,
    stopped: bool,
}

#[derive(Debug)]
struct Slot {
    retained: Option<Retained>,
    older: usize,
    /// Next storage in the order of departures; for a free slot, the next free one.
    newer: usize,
}

/// Storage of one thread.
#[derive(Debug)]
struct Retained {
    id: DistributableThreadId,
    storage: ThreadStorage,
    left: Time,
}

const NONE: usize = usize::MAX;

/// Minimum wait of the housekeeper: it destroys storage that ages at nearly the same time together.
const SHORTEST_WAIT: Duration = Duration::from_millis(10);

impl RetentionLimits {
    /// The default limits.
    pub const DEFAULT: Self = Self {
        max_threads: 256,
        max_age: Duration::from_secs(60),
    };
}

impl Default for RetentionLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl RetainedStorage {
    /// Creates an empty store, with memory for the maximum number of threads.
    pub fn new(limits: RetentionLimits) -> Self {
        let slot = |number: usize| Slot {
            retained: None,
            older: NONE,
            newer: if number + 1 < limits.max_threads {
                number + 1
            } else {
                NONE
            },
        };
        let state = State {
            by_id: HashMap::with_capacity(limits.max_threads),
            slots: (0..limits.max_threads).map(slot).collect(),
            free: if limits.max_threads == 0 { NONE } else { 0 },
            oldest: NONE,
            newest: NONE,
            forgotten: VecDeque::with_capacity(2 * limits.max_threads + 2),
            destroyed_by_lanes: 0,
            stopped: false,
        };
        Self {
            limits,
            state: PiMutex::new(state),
            changed: PiCondvar::new(),
        }
    }

    /// Retains the storage of a thread that leaves. Does not allocate, and calls no destructor unless too
    /// much forgotten storage waits.
    pub fn retain(&self, id: DistributableThreadId, storage: ThreadStorage, now: Time) {
        if storage.is_empty() {
            return;
        }
        let mut state = self.state.lock();
        state.forget(id);
        if state.free == NONE {
            state.forget_oldest();
        }
        let was_empty = state.oldest == NONE;
        let before = state.forgotten.len();
        if state.free == NONE {
            state.forgotten.push_back(storage);
        } else {
            state.push(Retained {
                id,
                storage,
                left: now,
            });
        }
        state.forget_aged(now, self.limits.max_age);
        let wakes = was_empty || state.forgotten.len() != before || before > 0;
        let excess = state.take_excess(self.limits.max_threads);
        drop(state);
        if wakes {
            self.changed.notify_one();
        }
        drop(excess);
    }

    /// Returns the storage of a thread that comes back; `None` where it stored nothing, or its storage has
    /// been forgotten.
    pub fn restore(&self, id: DistributableThreadId, now: Time) -> Option<ThreadStorage> {
        let mut state = self.state.lock();
        state.forget_aged(now, self.limits.max_age);
        state.remove(id).map(|retained| retained.storage)
    }

    /// Forgets the storage of a thread that is known to have ended.
    pub fn forget(&self, id: DistributableThreadId) {
        let mut state = self.state.lock();
        state.forget(id);
        let excess = state.take_excess(self.limits.max_threads);
        drop(state);
        self.changed.notify_one();
        drop(excess);
    }

    /// Takes the storage of a thread that has ended on an OS thread that must not call its destructors.
    pub fn discard(&self, storage: ThreadStorage) {
        if storage.is_empty() {
            return;
        }
        let mut state = self.state.lock();
        state.forgotten.push_back(storage);
        let excess = state.take_excess(self.limits.max_threads);
        drop(state);
        self.changed.notify_one();
        drop(excess);
    }

    /// Calls the destructors of forgotten storage on the calling OS thread; returns the number of
    /// distributable threads that it belonged to.
    pub fn destroy_forgotten(&self, now: Time) -> usize {
        self.state.lock().forget_aged(now, self.limits.max_age);
        let mut destroyed = 0;
        loop {
            let next = self.state.lock().forgotten.pop_front();
            match next {
                Some(storage) => drop(storage),
                None => return destroyed,
            }
            destroyed += 1;
        }
    }

    /// Returns the number of threads whose storage is retained.
    pub fn len(&self) -> usize {
        self.state.lock().by_id.len()
    }

    /// Returns whether no storage is retained.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of threads whose storage a lane destroyed because too much forgotten storage
    /// waited.
    pub fn destroyed_by_lanes(&self) -> u64 {
        self.state.lock().destroyed_by_lanes
    }

    /// Waits for forgotten storage; returns `false` after [`stop`](Self::stop).
    pub(super) fn wait(&self, now: impl Fn() -> Time) -> bool {
        let mut state = self.state.lock();
        loop {
            if state.stopped {
                return false;
            }
            let now = now();
            state.forget_aged(now, self.limits.max_age);
            if !state.forgotten.is_empty() {
                return true;
            }
            match state.oldest() {
                None => self.changed.wait(&mut state),
                Some(oldest) => {
                    let remaining = (oldest.left + self.limits.max_age).since(now);
                    let deadline = Instant::now() + remaining.max(SHORTEST_WAIT);
                    let _ = self.changed.wait_until(&mut state, deadline);
                }
            }
        }
    }

    /// Ends [`wait`](Self::wait).
    pub(super) fn stop(&self) {
        self.state.lock().stopped = true;
        self.changed.notify_all();
    }
}

impl State {
    /// Adds storage in a free slot, which must exist.
    fn push(&mut self, retained: Retained) {
        let slot = self.free;
        self.free = self.slots[slot].newer;
        self.by_id.insert(retained.id, slot);
        self.slots[slot] = Slot {
            retained: Some(retained),
            older: self.newest,
            newer: NONE,
        };
        match self.newest {
            NONE => self.oldest = slot,
            newest => self.slots[newest].newer = slot,
        }
        self.newest = slot;
    }

    fn remove(&mut self, id: DistributableThreadId) -> Option<Retained> {
        let slot = self.by_id.remove(&id)?;
        let freed = Slot {
            retained: None,
            older: NONE,
            newer: self.free,
        };
        let Slot {
            retained,
            older,
            newer,
        } = std::mem::replace(&mut self.slots[slot], freed);
        self.free = slot;
        match older {
            NONE => self.oldest = newer,
            older => self.slots[older].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => self.slots[newer].older = older,
        }
        retained
    }

    fn forget(&mut self, id: DistributableThreadId) {
        let retained = self.remove(id);
        self.forgotten.extend(retained.map(|retained| retained.storage));
    }

    fn forget_oldest(&mut self) {
        if let Some(id) = self.oldest().map(|oldest| oldest.id) {
            self.forget(id);
        }
    }

    fn forget_aged(&mut self, now: Time, max_age: Duration) {
        while self
            .oldest()
            .is_some_and(|oldest| now.since(oldest.left) > max_age)
        {
            self.forget_oldest();
        }
    }

    fn oldest(&self) -> Option<&Retained> {
        self.slots.get(self.oldest)?.retained.as_ref()
    }

    /// Takes storage that the caller has to destroy itself.
    fn take_excess(&mut self, limit: usize) -> Option<ThreadStorage> {
        if self.forgotten.len() <= limit {
            return None;
        }
        self.destroyed_by_lanes += 1;
        self.forgotten.pop_front()
    }
}
