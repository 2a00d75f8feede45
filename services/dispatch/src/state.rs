//! State that suppliers and threads of a dispatcher share.

use std::sync::Arc;

use punctual_os::{PiCondvar, PiMutex};

use crate::{
    Level, LevelStatistics,
    queue::{Queue, Queued},
};

pub(crate) struct Shared<C> {
    pub(crate) state: PiMutex<State<C>>,
    /// Notified when nothing is queued or executed.
    pub(crate) idle: PiCondvar,
}

pub(crate) struct State<C> {
    /// Levels, from the highest preemption priority to the lowest.
    pub(crate) slots: Vec<Slot<C>>,
    /// Number of commands that have arrived.
    pub(crate) sequence: u64,
    /// Changes with each reconfiguration.
    pub(crate) generation: u64,
    /// Commands are queued, but not executed.
    pub(crate) is_held: bool,
    pub(crate) accepts: bool,
    /// Threads end after their present commands.
    pub(crate) ends: bool,
    /// Sums of the levels that a reconfiguration has removed.
    pub(crate) removed: LevelStatistics,
    /// Number of commands that are executed now.
    pub(crate) executing: usize,
}

/// A level in operation.
pub(crate) struct Slot<C> {
    pub(crate) level: Level,
    pub(crate) queue: Queue<C>,
    pub(crate) statistics: LevelStatistics,
    pub(crate) signals: Arc<Signals>,
    /// Number of its threads.
    pub(crate) alive: usize,
}

/// Conditions for which threads of one level and its suppliers wait.
#[derive(Default)]
pub(crate) struct Signals {
    /// A command has arrived, or the configuration has changed.
    pub(crate) work: PiCondvar,
    /// The queue has room.
    pub(crate) room: PiCondvar,
}

impl<C> State<C> {
    pub(crate) fn new(levels: Vec<Level>, is_held: bool) -> Self {
        Self {
            slots: levels.into_iter().map(Slot::new).collect(),
            sequence: 0,
            generation: 0,
            is_held,
            accepts: true,
            ends: false,
            removed: LevelStatistics::of(u32::MAX),
            executing: 0,
        }
    }

    /// Returns the slot of a preemption priority, and whether it has one of its own: the lowest one takes
    /// what has none.
    pub(crate) fn route(&self, preemption_priority: u32) -> (usize, bool) {
        let key = |slot: &Slot<C>| slot.level.preemption_priority;
        match self.slots.binary_search_by_key(&preemption_priority, key) {
            Ok(place) => (place, true),
            Err(_) => (self.slots.len() - 1, false),
        }
    }

    /// Returns the slot to which these signals belong; `None`: it has been removed.
    pub(crate) fn place_of(&self, preemption_priority: u32, signals: &Arc<Signals>) -> Option<usize> {
        let (place, is_own) = self.route(preemption_priority);
        (is_own && Arc::ptr_eq(&self.slots[place].signals, signals)).then_some(place)
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.executing == 0 && self.slots.iter().all(|slot| slot.queue.len() == 0)
    }

    /// Takes all queued commands, which will not be executed.
    pub(crate) fn discard(&mut self) -> Vec<Queued<C>> {
        let mut all = Vec::new();
        for slot in &mut self.slots {
            slot.statistics.discarded += slot.queue.len() as u64;
            slot.queue.drain(|queued, _| all.push(queued));
        }
        all
    }
}

impl<C> Slot<C> {
    pub(crate) fn new(level: Level) -> Self {
        Self {
            queue: Queue::of(&level),
            statistics: LevelStatistics::of(level.preemption_priority),
            level,
            signals: Arc::default(),
            alive: 0,
        }
    }

    /// Adds a command, for which there is room.
    pub(crate) fn push(&mut self, queued: Queued<C>) {
        self.queue.push(queued);
        self.note_length();
    }

    pub(crate) fn note_length(&mut self) {
        self.statistics.high_water = self.statistics.high_water.max(self.queue.len());
    }

    pub(crate) fn is_full(&self) -> bool {
        self.queue.len() >= self.level.capacity
    }
}
