//! The bounded queue of a consumer: single events, and sets that stay together.

use std::{collections::VecDeque, sync::Arc};

use punctual::rtscheduling::Time;

use crate::{pool::octets, rtec::rtec_event_comm::Event};

pub(super) struct Queue {
    entries: VecDeque<Entry>,
    capacity: usize,
    octets: usize,
    octet_capacity: usize,
    high_water: usize,
    /// Whether a thread delivers what is queued, or will.
    pub(super) is_scheduled: bool,
}

struct Entry {
    event: Arc<Event>,
    /// Whether the next entry belongs to the same set.
    continues: bool,
    /// When it arrived, or the one before, if that was later; [`Time::NEVER`] if the consumer had no deadline
    /// then.
    arrived: Time,
}

/// Number of events of a set, and of their octets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) events: usize,
    octets: usize,
}

impl Size {
    pub(super) fn of(set: &[Arc<Event>]) -> Self {
        Self {
            events: set.len(),
            octets: set.iter().map(|event| octets(event)).sum(),
        }
    }
}

impl Queue {
    /// Reserves all memory but that of the events.
    pub(super) fn new(capacity: usize, octet_capacity: usize) -> Self {
        Self {
            entries: VecDeque::with_capacity(capacity),
            capacity,
            octets: 0,
            octet_capacity,
            high_water: 0,
            is_scheduled: false,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn octets(&self) -> usize {
        self.octets
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn high_water(&self) -> usize {
        self.high_water
    }

    /// Whether there is room for a set. An empty queue has room for one of any number of octets.
    pub(super) fn fits(&self, size: Size) -> bool {
        size.events <= self.capacity - self.entries.len()
            && (self.is_empty() || self.octets + size.octets <= self.octet_capacity)
    }

    /// Removes the oldest sets until a new one fits; returns how many events were removed. Leaves the queue
    /// as it is if it never fits.
    pub(super) fn make_room(&mut self, size: Size) -> usize {
        let before = self.entries.len();
        if size.events > self.capacity {
            return 0;
        }
        while !self.fits(size) {
            while self.pop().is_some_and(|entry| entry.continues) {}
        }
        before - self.entries.len()
    }

    /// Appends a set, which fits.
    pub(super) fn push_set(&mut self, events: &mut Vec<Arc<Event>>, size: Size, arrived: Time) {
        let arrived = match self.entries.back() {
            Some(before) if before.arrived != Time::NEVER => before.arrived.max(arrived),
            _ => arrived,
        };
        let last = events.len();
        for (index, event) in events.drain(..).enumerate() {
            let continues = index + 1 < last;
            self.entries.push_back(Entry {
                event,
                continues,
                arrived,
            });
        }
        self.octets += size.octets;
        self.high_water = self.high_water.max(self.entries.len());
    }

    /// Moves the set that arrived then to `out`, or else the next one; returns its arrival. `None`: there is
    /// none.
    pub(super) fn take_of(&mut self, arrived: Time, out: &mut Vec<Arc<Event>>) -> Option<Time> {
        let place = match self.first_since(arrived) {
            place if place < self.entries.len() => place,
            _ => 0,
        };
        let arrived = self.entries.get(place)?.arrived;
        // Not the first one only under laxity, where those before it are late.
        while let Some(entry) = self.entries.remove(place) {
            self.octets -= octets(&entry.event);
            out.push(entry.event);
            if !entry.continues {
                break;
            }
        }
        Some(arrived)
    }

    fn first_since(&self, arrived: Time) -> usize {
        self.entries.partition_point(|entry| entry.arrived < arrived)
    }

    /// Whether a set waits that arrived then.
    pub(super) fn has(&self, arrived: Time) -> bool {
        let first = self.entries.get(self.first_since(arrived));
        first.is_some_and(|entry| entry.arrived == arrived)
    }

    /// Arrival of the first set that passes, where all sets after one that passes do.
    pub(super) fn first_arrival(&self, passes: impl Fn(Time) -> bool) -> Option<Time> {
        let place = self.entries.partition_point(|entry| !passes(entry.arrived));
        self.entries.get(place).map(|entry| entry.arrived)
    }

    /// Moves the next set, or single events up to `batch` and up to the one with which they have so many
    /// octets, to `out`; returns whether there were any.
    pub(super) fn take(&mut self, batch: usize, batch_octets: usize, out: &mut Vec<Arc<Event>>) -> bool {
        let before = self.octets;
        let Some(first) = self.pop() else {
            return false;
        };
        let mut continues = first.continues;
        out.push(first.event);
        if continues {
            while continues && let Some(entry) = self.pop() {
                continues = entry.continues;
                out.push(entry.event);
            }
            return true;
        }
        let is_single = |entry: &Entry| !entry.continues;
        while out.len() < batch
            && before - self.octets < batch_octets
            && self.entries.front().is_some_and(is_single)
        {
            out.extend(self.take_one());
        }
        true
    }

    /// Lets this be the arrival of what has none.
    pub(super) fn date(&mut self, arrived: Time) {
        let undated = self
            .entries
            .iter_mut()
            .filter(|entry| entry.arrived == Time::NEVER);
        undated.for_each(|entry| entry.arrived = arrived);
    }

    pub(super) fn take_one(&mut self) -> Option<Arc<Event>> {
        self.pop().map(|entry| entry.event)
    }

    fn pop(&mut self) -> Option<Entry> {
        let entry = self.entries.pop_front()?;
        self.octets -= octets(&entry.event);
        Some(entry)
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.octets = 0;
    }
}
