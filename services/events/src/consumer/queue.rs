//! The bounded queue of a consumer: single events, and sets that stay together.

use std::{collections::VecDeque, sync::Arc};

use crate::rtec::rtec_event_comm::Event;

pub(super) struct Queue {
    entries: VecDeque<Entry>,
    capacity: usize,
    high_water: usize,
    /// Whether a thread delivers what is queued, or will.
    pub(super) is_scheduled: bool,
}

struct Entry {
    event: Arc<Event>,
    /// Whether the next entry belongs to the same set.
    continues: bool,
}

impl Queue {
    /// Reserves all memory.
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            entries: VecDeque::with_capacity(capacity),
            capacity,
            high_water: 0,
            is_scheduled: false,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn high_water(&self) -> usize {
        self.high_water
    }

    pub(super) fn room(&self) -> usize {
        self.capacity - self.entries.len()
    }

    /// Removes the oldest sets until `number` events fit; returns how many events were removed. Leaves the
    /// queue as it is if they never fit.
    pub(super) fn make_room(&mut self, number: usize) -> usize {
        let before = self.entries.len();
        if number > self.capacity {
            return 0;
        }
        while self.room() < number {
            while self.entries.pop_front().is_some_and(|entry| entry.continues) {}
        }
        before - self.entries.len()
    }

    /// Appends a set, which fits.
    pub(super) fn push_set(&mut self, events: &mut Vec<Arc<Event>>) {
        let last = events.len();
        for (index, event) in events.drain(..).enumerate() {
            let continues = index + 1 < last;
            self.entries.push_back(Entry { event, continues });
        }
        self.high_water = self.high_water.max(self.entries.len());
    }

    /// Moves the next set, or up to `batch` single events, to `out`; returns whether there were any.
    pub(super) fn take(&mut self, batch: usize, out: &mut Vec<Arc<Event>>) -> bool {
        let Some(first) = self.entries.pop_front() else {
            return false;
        };
        let mut continues = first.continues;
        out.push(first.event);
        if continues {
            while continues && let Some(entry) = self.entries.pop_front() {
                continues = entry.continues;
                out.push(entry.event);
            }
            return true;
        }
        while out.len() < batch && self.entries.front().is_some_and(|entry| !entry.continues) {
            out.extend(self.entries.pop_front().map(|entry| entry.event));
        }
        true
    }

    pub(super) fn take_one(&mut self) -> Option<Arc<Event>> {
        self.entries.pop_front().map(|entry| entry.event)
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }
}
