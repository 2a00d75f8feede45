//! The distributable threads that an endsystem knows.

use std::{
    collections::HashMap,
    ops::{Index, IndexMut},
    time::Duration,
};

use punctual_sched::dynamic::Slot;
use punctual_types::{Completion, DistributableThreadId, Minor, SystemException, SystemExceptionKind};

use super::{
    decisions::ThreadName,
    entry::{Entry, Origin},
    head::Head,
};
use crate::storage::ThreadStorage;

/// Entries by slot and by id. A slot is reused after the last activation in it has ended.
pub(super) struct ThreadTable {
    entries: Vec<Entry>,
    free: Vec<Slot>,
    by_id: HashMap<DistributableThreadId, Slot>,
    max_threads: usize,
}

/// Record of a distributable thread after its last activation at this host.
pub(crate) struct Departure {
    pub(crate) storage: ThreadStorage,
    pub(crate) outcome: Outcome,
}

/// Reason for which a distributable thread no longer has an activation at this host.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Outcome {
    /// It has ended, on an OS thread of the application.
    Ended,
    /// It has ended, on an OS thread that serves others, too: it came with a oneway request, or was
    /// cancelled.
    EndedOnLane,
    /// It is at another host.
    MayReturn,
}

impl ThreadTable {
    pub(super) fn new(max_threads: usize) -> Self {
        Self {
            entries: Vec::with_capacity(max_threads),
            free: Vec::with_capacity(max_threads),
            // Twice the size: with as many free places a hash table is cleaned up in place and does not grow.
            by_id: HashMap::with_capacity(2 * max_threads),
            max_threads,
        }
    }

    pub(super) fn max_threads(&self) -> usize {
        self.max_threads
    }

    pub(super) fn find(&self, id: DistributableThreadId) -> Option<Slot> {
        self.by_id.get(&id).copied()
    }

    /// Returns the number of distributable threads.
    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Entries of all distributable threads.
    pub(super) fn known(&self) -> impl Iterator<Item = &Entry> {
        self.by_id.values().map(|slot| &self[*slot])
    }

    /// All slots, free ones included.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> + use<> {
        (0..self.entries.len() as u32).map(Slot)
    }

    /// All entries with their slots, free ones included.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (Slot, &mut Entry)> {
        (0..).map(Slot).zip(&mut self.entries)
    }

    /// Processor time that the present segment of a thread has received; zero for unknown slots.
    pub(super) fn received(&self, slot: Slot) -> Duration {
        let entry = self.entries.get(slot.0 as usize);
        entry.map_or(Duration::ZERO, |entry| entry.head.received())
    }

    /// Adds an entry with one activation.
    pub(super) fn register(
        &mut self,
        id: DistributableThreadId,
        name: &str,
        origin: Origin,
    ) -> Result<Slot, SystemException> {
        if self.by_id.len() == self.max_threads {
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
        // The vectors of the entry are empty; their memory is reused.
        let entry = &mut self[slot];
        entry.id = id;
        entry.name = ThreadName::new(name);
        entry.origin = origin;
        entry.activations = 1;
        entry.cancelled = false;
        entry.lent_limit = None;
        self.by_id.insert(id, slot);
        Ok(slot)
    }

    /// Ends one activation. After the last one, frees the entry and returns what remains of the thread.
    pub(super) fn release(&mut self, slot: Slot) -> Option<Departure> {
        let entry = &mut self[slot];
        entry.activations -= 1;
        if entry.origin != Origin::Here || entry.activations > 0 {
            entry.peers.pop();
        }
        if entry.activations > 0 {
            return None;
        }
        let id = entry.id;
        let departure = Departure {
            storage: std::mem::take(&mut entry.storage),
            outcome: match entry.origin {
                Origin::Here => Outcome::Ended,
                Origin::Request => Outcome::EndedOnLane,
                Origin::Elsewhere if entry.cancelled => Outcome::EndedOnLane,
                Origin::Elsewhere => Outcome::MayReturn,
            },
        };
        entry.head = Head::Away;
        entry.calls.clear();
        entry.peers.clear();
        self.by_id.remove(&id);
        self.free.push(slot);
        Some(departure)
    }
}

impl Index<Slot> for ThreadTable {
    type Output = Entry;

    fn index(&self, slot: Slot) -> &Entry {
        &self.entries[slot.0 as usize]
    }
}

impl IndexMut<Slot> for ThreadTable {
    fn index_mut(&mut self, slot: Slot) -> &mut Entry {
        &mut self.entries[slot.0 as usize]
    }
}
