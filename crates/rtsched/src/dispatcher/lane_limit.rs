//! Limit on the claims of a thread: the lane that serves it.

use punctual_orb::interceptors::ServingLane;
use punctual_os::{Scheduling, scheduling};
use punctual_types::NativePriority;

/// The lane above which the claims of a thread do not count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneLimit {
    /// CORBA priority of the lane.
    pub(crate) level: LaneLevel,
    /// Native priority of the lane's threads; 0: they are not in a real-time class.
    native: NativePriority,
}

/// Priority of a lane, or above all lanes.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct LaneLevel(u16);

impl LaneLevel {
    /// Above all lanes.
    pub(crate) const HIGHEST: Self = Self(u16::MAX);
}

impl LaneLimit {
    /// Limit of threads of the application, and for claims that may exceed the lane.
    pub(crate) const NONE: Self = Self {
        level: LaneLevel::HIGHEST,
        native: NativePriority(i16::MAX),
    };

    /// Creates the limit of a request that this lane serves. `around`: that of the activation which the
    /// calling thread is in, if any.
    pub(crate) fn of(lane: ServingLane, around: Option<Self>) -> Self {
        let native = match (lane.scheduling, around) {
            (Some(own), _) => native(own),
            // A user's thread, whose scheduling the dispatcher has changed.
            (None, Some(around)) if around.is_limited() => around.native,
            (None, _) => native(scheduling::current()),
        };
        Self {
            level: LaneLevel(lane.priority.value().unsigned_abs()),
            native,
        }
    }

    /// Returns the native priority that a thread gets instead of `wanted`; `None`: its lane is not in a
    /// real-time class, and it keeps its own scheduling.
    pub(crate) fn apply(self, wanted: NativePriority) -> Option<NativePriority> {
        (self.native.0 > 0).then(|| wanted.min(self.native))
    }

    /// Whether the limit is that of a lane, which the kernel's SCHED_DEADLINE would exceed.
    pub(crate) fn is_limited(self) -> bool {
        self.level < LaneLevel::HIGHEST
    }

    /// The limit of the higher lane.
    pub(crate) fn or_higher(self, other: Self) -> Self {
        if other.level > self.level { other } else { self }
    }
}

fn native(own: Scheduling) -> NativePriority {
    if own.is_realtime() {
        own.priority
    } else {
        NativePriority(0)
    }
}

/// Number of ready threads by the lane that limits them.
pub(crate) struct ReadyByLane(Vec<(LaneLevel, usize)>);

/// Number of lanes with memory from the start.
const LANES: usize = 32;

impl ReadyByLane {
    pub(crate) fn new() -> Self {
        Self(Vec::with_capacity(LANES))
    }

    pub(crate) fn enter(&mut self, level: LaneLevel) {
        match self.0.binary_search_by_key(&level, |(level, _)| *level) {
            Ok(at) => self.0[at].1 += 1,
            Err(at) => self.0.insert(at, (level, 1)),
        }
    }

    pub(crate) fn leave(&mut self, level: LaneLevel) {
        if let Ok(at) = self.0.binary_search_by_key(&level, |(level, _)| *level) {
            self.0[at].1 -= 1;
            if self.0[at].1 == 0 {
                self.0.remove(at);
            }
        }
    }

    pub(crate) fn total(&self) -> usize {
        self.0.iter().map(|(_, count)| count).sum()
    }

    /// Returns the number of threads above this level.
    pub(crate) fn above(&self, level: LaneLevel) -> usize {
        let above = self.0.iter().rev().take_while(|(found, _)| *found > level);
        above.map(|(_, count)| count).sum()
    }
}
