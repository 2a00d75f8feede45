//! A list of threads in the order of their arrival.

use alloc::vec::Vec;

use super::Slot;

/// Threads in the order of their arrival; each operation takes O(1).
#[derive(Clone, Debug, Default)]
pub(super) struct ArrivalOrder {
    first: Option<Slot>,
    last: Option<Slot>,
    /// Links by slot; `None` for absent threads.
    links: Vec<Option<Links>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Links {
    before: Option<Slot>,
    after: Option<Slot>,
}

impl ArrivalOrder {
    /// Reserves memory for the slots below `threads`.
    pub(super) fn reserve(&mut self, threads: usize) {
        if self.links.len() < threads {
            self.links.resize(threads, None);
        }
    }

    pub(super) fn contains(&self, thread: Slot) -> bool {
        matches!(self.links.get(thread.index()), Some(Some(_)))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Appends an absent thread.
    pub(super) fn push(&mut self, thread: Slot) {
        self.reserve(thread.index() + 1);
        let before = self.last.replace(thread);
        self.links[thread.index()] = Some(Links { before, after: None });
        match before {
            Some(before) => self.link(before, |links| links.after = Some(thread)),
            None => self.first = Some(thread),
        }
    }

    /// Removes a thread; returns whether it was present.
    pub(super) fn remove(&mut self, thread: Slot) -> bool {
        let Some(Links { before, after }) = self.links.get_mut(thread.index()).and_then(Option::take) else {
            return false;
        };
        match before {
            Some(before) => self.link(before, |links| links.after = after),
            None => self.first = after,
        }
        match after {
            Some(after) => self.link(after, |links| links.before = before),
            None => self.last = before,
        }
        true
    }

    /// Iterates from the first to the last.
    pub(super) fn iter(&self) -> impl Iterator<Item = Slot> {
        core::iter::successors(self.first, |thread| {
            self.links.get(thread.index())?.as_ref()?.after
        })
    }

    fn link(&mut self, thread: Slot, set: impl FnOnce(&mut Links)) {
        if let Some(Some(links)) = self.links.get_mut(thread.index()) {
            set(links);
        }
    }
}
