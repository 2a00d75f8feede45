//! The queue of ready threads.

use alloc::vec::Vec;
use core::cmp::Ordering;

use super::Slot;

/// Threads in the order of their ranks: the greatest first, and among equals the one that arrived first.
///
/// A binary heap that knows the index of each thread: each operation takes O(log n) comparisons of ranks, and
/// allocates only when it grows.
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use punctual::rtscheduling::{Ranking, ReadyQueue, Slot};
///
/// let mut queue = ReadyQueue::new();
/// for (arrival, (thread, importance)) in [(4, 1), (2, 9), (7, 9)].into_iter().enumerate() {
///     queue.insert(Ranking { thread: Slot(thread), rank: importance, arrival: arrival as u64 });
/// }
/// assert_eq!(queue.pop().map(|first| first.thread), Some(Slot(2)), "it was the first of two equals");
/// queue.set_rank(Slot(4), 10);
/// assert_eq!(queue.first().map(|first| first.thread), Some(Slot(4)));
/// ```
#[derive(Clone, Debug)]
pub struct ReadyQueue<R> {
    heap: Vec<Ranking<R>>,
    /// Index of each slot in the heap.
    indices: Vec<u32>,
}

/// Rank of a thread.
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use punctual::rtscheduling::{Ranking, Slot};
///
/// let early = Ranking { thread: Slot(3), rank: 5, arrival: 0 };
/// let late = Ranking { thread: Slot(1), rank: 5, arrival: 1 };
/// assert!(early.precedes(&late), "among equals, the first");
/// assert!(Ranking { rank: 6, ..late }.precedes(&early));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Ranking<R> {
    /// Thread.
    pub thread: Slot,
    /// Rank: the greatest is first.
    pub rank: R,
    /// Number of its arrival: among equal ranks the smallest is first. Unique.
    pub arrival: u64,
}

const ABSENT: u32 = u32::MAX;

impl<R> Default for ReadyQueue<R> {
    fn default() -> Self {
        Self {
            heap: Vec::new(),
            indices: Vec::new(),
        }
    }
}

impl<R: Copy + Ord> ReadyQueue<R> {
    /// Creates an empty queue.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reserves memory for the slots below `threads`.
    pub fn reserve(&mut self, threads: usize) {
        self.heap.reserve(threads.saturating_sub(self.heap.len()));
        if self.indices.len() < threads {
            self.indices.resize(threads, ABSENT);
        }
    }

    /// Returns the number of threads.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Returns whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Returns whether it contains a thread.
    pub fn contains(&self, thread: Slot) -> bool {
        self.index(thread).is_some()
    }

    /// Returns the first thread.
    pub fn first(&self) -> Option<&Ranking<R>> {
        self.heap.first()
    }

    /// Adds an absent thread.
    pub fn insert(&mut self, ranking: Ranking<R>) {
        debug_assert!(
            !self.contains(ranking.thread),
            "{:?} is in the queue",
            ranking.thread
        );
        let needed = ranking.thread.index() + 1;
        if self.indices.len() < needed {
            self.indices.resize(needed, ABSENT);
        }
        self.heap.push(ranking);
        self.rise(self.heap.len() - 1);
    }

    /// Removes the first thread.
    pub fn pop(&mut self) -> Option<Ranking<R>> {
        let first = self.heap.first()?.thread;
        self.remove(first)
    }

    /// Removes a thread; returns `None` if it is absent.
    pub fn remove(&mut self, thread: Slot) -> Option<Ranking<R>> {
        let index = self.index(thread)?;
        let removed = self.heap.swap_remove(index);
        self.indices[thread.index()] = ABSENT;
        if index < self.heap.len() {
            self.settle(index);
        }
        Some(removed)
    }

    /// Changes the rank of a thread; returns `false` if it is absent.
    pub fn set_rank(&mut self, thread: Slot, rank: R) -> bool {
        let Some(index) = self.index(thread) else {
            return false;
        };
        self.heap[index].rank = rank;
        self.settle(index);
        true
    }

    fn index(&self, thread: Slot) -> Option<usize> {
        let index = *self.indices.get(thread.index())?;
        (index != ABSENT).then_some(index as usize)
    }

    /// Restores the heap after a change at `index`.
    fn settle(&mut self, index: usize) {
        if self.rise(index) == index {
            self.sink(index);
        }
    }

    fn rise(&mut self, mut index: usize) -> usize {
        while index > 0 {
            let parent = (index - 1) / 2;
            if !self.heap[index].precedes(&self.heap[parent]) {
                break;
            }
            self.heap.swap(index, parent);
            self.record(index);
            index = parent;
        }
        self.record(index);
        index
    }

    fn sink(&mut self, mut index: usize) {
        loop {
            let left = 2 * index + 1;
            let Some(child) = self.heap.get(left) else {
                break;
            };
            let right_first = self.heap.get(left + 1).is_some_and(|right| right.precedes(child));
            let child = if right_first { left + 1 } else { left };
            if !self.heap[child].precedes(&self.heap[index]) {
                break;
            }
            self.heap.swap(index, child);
            self.record(index);
            index = child;
        }
        self.record(index);
    }

    /// Records the index of the thread at `index`.
    fn record(&mut self, index: usize) {
        let thread = self.heap[index].thread;
        self.indices[thread.index()] = index as u32;
    }
}

impl<R: Ord> Ranking<R> {
    /// Returns whether it is before the other one.
    pub fn precedes(&self, other: &Self) -> bool {
        let by_rank = self.rank.cmp(&other.rank);
        by_rank.then(other.arrival.cmp(&self.arrival)) == Ordering::Greater
    }
}
