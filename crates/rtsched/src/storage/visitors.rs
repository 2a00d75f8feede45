use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use punctual_os::{PiCondvar, PiMutex};
use punctual_sched::dynamic::Time;
use punctual_types::DistributableThreadId;

use super::ThreadStorage;

/// For how long the storage of distributable threads that have left is kept.
///
/// ```
/// use std::time::Duration;
/// use punctual_rtsched::{RtScheduling, storage::VisitorLimits};
///
/// let limits = VisitorLimits { max_visitors: 1_000, max_age: Duration::from_secs(10) };
/// let scheduling = RtScheduling::builder().visitor_limits(limits).build()?;
/// # Ok::<(), punctual_rtsched::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct VisitorLimits {
    /// Of so many; 256 by default. One more, and the one that has been away longest is forgotten.
    pub max_visitors: usize,
    /// So long after they left; 60 s by default.
    pub max_age: Duration,
}

/// The storage of distributable threads that are elsewhere and may come back.
///
/// A host is not told when a thread that has visited it ends, so it keeps what the thread stored for a while. What is forgotten is
/// not destroyed here: lanes come and go, and destructors are programs of the user's. It waits for
/// [`destroy_forgotten`](Self::destroy_forgotten), which a [`Housekeeper`](super::Housekeeper) calls, or the user at a time of his
/// own. While nobody does, as many wait as visitors are kept; then whoever forgets one more destroys one itself, which is counted.
///
/// Storage without values is not kept, so visitors that store nothing cost nothing.
///
/// ```
/// use punctual_rtsched::storage::{ThreadStorage, VisitorLimits, VisitorStorage, WordKey};
/// use punctual_sched::dynamic::Time;
/// use punctual_types::DistributableThreadId;
///
/// let seen = WordKey::<u32>::new()?;
/// let visitors = VisitorStorage::new(VisitorLimits::default());
/// let id = DistributableThreadId(7);
/// let storage = ThreadStorage::new();
/// storage.enter(|| seen.set(1))?;
/// visitors.leaves(id, storage, Time(0));
/// let storage = visitors.returns(id, Time(1_000)).expect("it was here a microsecond ago");
/// assert_eq!(storage.enter(|| seen.get())?, Some(1));
/// # Ok::<(), punctual_rtsched::storage::StorageError>(())
/// ```
#[derive(Debug)]
pub struct VisitorStorage {
    limits: VisitorLimits,
    state: PiMutex<State>,
    /// Something is forgotten, or there is the first to grow old.
    changed: PiCondvar,
}

#[derive(Debug)]
struct State {
    /// Where in `places` a visitor is.
    by_id: HashMap<DistributableThreadId, usize>,
    places: Vec<Place>,
    free: usize,
    /// Who left longest ago, and who left last: departures come in the order of time.
    oldest: usize,
    newest: usize,
    forgotten: VecDeque<ThreadStorage>,
    destroyed_by_lanes: u64,
    stopped: bool,
}

#[derive(Debug)]
struct Place {
    /// `None` where the place is free.
    visitor: Option<Visitor>,
    /// Who left before.
    older: usize,
    /// Who left after; of free places the next one.
    newer: usize,
}

#[derive(Debug)]
struct Visitor {
    id: DistributableThreadId,
    storage: ThreadStorage,
    left: Time,
}

const NOBODY: usize = usize::MAX;

impl VisitorLimits {
    /// The values that it has where nothing is said.
    pub const DEFAULT: Self = Self {
        max_visitors: 256,
        max_age: Duration::from_secs(60),
    };
}

impl Default for VisitorLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl VisitorStorage {
    /// Nobody's, with room for all.
    pub fn new(limits: VisitorLimits) -> Self {
        let place = |number: usize| Place {
            visitor: None,
            older: NOBODY,
            newer: if number + 1 < limits.max_visitors {
                number + 1
            } else {
                NOBODY
            },
        };
        let state = State {
            by_id: HashMap::with_capacity(limits.max_visitors),
            places: (0..limits.max_visitors).map(place).collect(),
            free: if limits.max_visitors == 0 { NOBODY } else { 0 },
            oldest: NOBODY,
            newest: NOBODY,
            forgotten: VecDeque::with_capacity(2 * limits.max_visitors + 2),
            destroyed_by_lanes: 0,
            stopped: false,
        };
        Self {
            limits,
            state: PiMutex::new(state),
            changed: PiCondvar::new(),
        }
    }

    /// Keeps what a thread that leaves has stored. Does not allocate, and calls no destructor unless too many wait for that.
    pub fn leaves(&self, id: DistributableThreadId, storage: ThreadStorage, now: Time) {
        if storage.is_empty() {
            return;
        }
        let mut state = self.state.lock();
        state.forget(id);
        if state.free == NOBODY {
            state.forget_oldest();
        }
        let was_empty = state.oldest == NOBODY;
        let before = state.forgotten.len();
        let left_over = match state.free {
            NOBODY => Some(storage),
            _ => {
                state.push(Visitor {
                    id,
                    storage,
                    left: now,
                });
                None
            }
        };
        state.forgotten.extend(left_over);
        state.forget_aged(now, self.limits.max_age);
        let wakes = was_empty || state.forgotten.len() != before || before > 0;
        let too_many = state.too_many(self.limits.max_visitors);
        drop(state);
        if wakes {
            self.changed.notify_one();
        }
        drop(too_many);
    }

    /// What a thread that comes back has stored here; `None` where it has nothing, or that has been forgotten.
    pub fn returns(&self, id: DistributableThreadId, now: Time) -> Option<ThreadStorage> {
        let mut state = self.state.lock();
        state.forget_aged(now, self.limits.max_age);
        let place = state.by_id.remove(&id)?;
        Some(state.unlink(place).storage)
    }

    /// Forgets a thread that is known to have ended.
    pub fn forget(&self, id: DistributableThreadId) {
        let mut state = self.state.lock();
        state.forget(id);
        let too_many = state.too_many(self.limits.max_visitors);
        drop(state);
        self.changed.notify_one();
        drop(too_many);
    }

    /// Takes the storage of a thread that has ended on a thread of the system that must not call its destructors.
    pub fn ends(&self, storage: ThreadStorage) {
        if storage.is_empty() {
            return;
        }
        let mut state = self.state.lock();
        state.forgotten.push_back(storage);
        let too_many = state.too_many(self.limits.max_visitors);
        drop(state);
        self.changed.notify_one();
        drop(too_many);
    }

    /// Calls the destructors of what has been forgotten, on the calling thread of the system, and says of how many threads.
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

    /// How many are kept.
    pub fn len(&self) -> usize {
        self.state.lock().by_id.len()
    }

    /// Whether none is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Of how many threads the storage was destroyed by a thread of the system that served another, because too many waited.
    pub fn destroyed_by_lanes(&self) -> u64 {
        self.state.lock().destroyed_by_lanes
    }

    /// Waits until there is something to destroy, until the next one grows too old, or until told to stop; says whether to go on.
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
            match state.oldest {
                NOBODY => self.changed.wait(&mut state),
                oldest => {
                    let left = state.places[oldest]
                        .visitor
                        .as_ref()
                        .map_or(now, |visitor| visitor.left);
                    let remaining = (left + self.limits.max_age).since(now);
                    let deadline = std::time::Instant::now() + remaining.max(SHORTEST_WAIT);
                    let _ = self.changed.wait_until(&mut state, deadline);
                }
            }
        }
    }

    /// Lets [`wait`](Self::wait) end.
    pub(super) fn stop(&self) {
        self.state.lock().stopped = true;
        self.changed.notify_all();
    }
}

/// Several that age at nearly the same time are one piece of work.
const SHORTEST_WAIT: Duration = Duration::from_millis(10);

impl State {
    fn push(&mut self, visitor: Visitor) {
        let place = self.free;
        self.free = self.places[place].newer;
        self.by_id.insert(visitor.id, place);
        self.places[place] = Place {
            visitor: Some(visitor),
            older: self.newest,
            newer: NOBODY,
        };
        match self.newest {
            NOBODY => self.oldest = place,
            newest => self.places[newest].newer = place,
        }
        self.newest = place;
    }

    /// Of a place that is taken.
    fn unlink(&mut self, place: usize) -> Visitor {
        let Place {
            visitor,
            older,
            newer,
        } = std::mem::replace(
            &mut self.places[place],
            Place {
                visitor: None,
                older: NOBODY,
                newer: self.free,
            },
        );
        self.free = place;
        match older {
            NOBODY => self.oldest = newer,
            older => self.places[older].newer = newer,
        }
        match newer {
            NOBODY => self.newest = older,
            newer => self.places[newer].older = older,
        }
        visitor.expect("only places that are taken are in the list")
    }

    fn forget(&mut self, id: DistributableThreadId) {
        if let Some(place) = self.by_id.remove(&id) {
            let visitor = self.unlink(place);
            self.forgotten.push_back(visitor.storage);
        }
    }

    fn forget_oldest(&mut self) {
        if let Some(id) = self.oldest().map(|visitor| visitor.id) {
            self.forget(id);
        }
    }

    fn forget_aged(&mut self, now: Time, max_age: Duration) {
        while self
            .oldest()
            .is_some_and(|visitor| now.since(visitor.left) > max_age)
        {
            self.forget_oldest();
        }
    }

    fn oldest(&self) -> Option<&Visitor> {
        self.places.get(self.oldest)?.visitor.as_ref()
    }

    /// What the caller has to destroy itself.
    fn too_many(&mut self, limit: usize) -> Option<ThreadStorage> {
        if self.forgotten.len() <= limit {
            return None;
        }
        self.destroyed_by_lanes += 1;
        self.forgotten.pop_front()
    }
}
