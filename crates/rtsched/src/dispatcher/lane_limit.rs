//! Limit on the claims of a thread: the lane that serves it.

use punctual_orb::interceptors::ServingLane;
use punctual_os::Scheduling;
use punctual_types::NativePriority;

/// The lane above which the claims of a thread do not count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneLimit {
    /// CORBA priority of the lane.
    pub(crate) level: LaneLevel,
    /// Scheduling of the lane's threads; `None`: no limit.
    pub(crate) native: Option<Scheduling>,
}

/// Priority of a lane, or above all lanes.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct LaneLevel(i32);

impl LaneLevel {
    /// Above all lanes.
    pub(crate) const HIGHEST: Self = Self(i32::MAX);
}

impl LaneLimit {
    /// For threads of the application, and for claims that may exceed the lane.
    pub(crate) const NONE: Self = Self {
        level: LaneLevel::HIGHEST,
        native: None,
    };

    /// The limit of a request that this lane serves. `own`: the scheduling of the calling thread, where the
    /// lane's threads are the user's.
    pub(crate) fn of(lane: ServingLane, own: impl FnOnce() -> Scheduling) -> Self {
        Self {
            level: LaneLevel(lane.priority.value().into()),
            native: Some(lane.scheduling.unwrap_or_else(own)),
        }
    }

    /// Returns the native priority that a thread gets in place of `wanted`; `None`: its lane is not in a
    /// real-time class, and it keeps its own scheduling.
    pub(crate) fn apply(self, wanted: NativePriority) -> Option<NativePriority> {
        match self.native {
            None => Some(wanted),
            Some(own) if own.is_realtime() => Some(wanted.min(own.priority)),
            Some(_) => None,
        }
    }

    /// Whether the kernel's SCHED_DEADLINE is above the limit.
    pub(crate) fn excludes_reservations(self) -> bool {
        self.native.is_some()
    }

    /// The limit of the higher lane.
    pub(crate) fn or_higher(self, other: Self) -> Self {
        if other.level > self.level { other } else { self }
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

    /// Number of threads above this level.
    pub(crate) fn above(&self, level: LaneLevel) -> usize {
        let above = self.0.iter().rev().take_while(|(found, _)| *found > level);
        above.map(|(_, count)| count).sum()
    }
}
