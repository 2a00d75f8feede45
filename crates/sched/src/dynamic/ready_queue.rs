use alloc::vec::Vec;
use core::cmp::Ordering;

use super::Slot;

/// Threads in the order of their ranks: the greatest first, and among equals the one that arrived first.
///
/// A binary heap that knows where each thread is: each operation costs O(log n) comparisons of ranks, and allocates only while
/// it grows.
#[derive(Clone, Debug)]
pub struct ReadyQueue<R> {
    heap: Vec<Ranking<R>>,
    /// Where in the heap a slot is.
    places: Vec<u32>,
}

/// A thread's place among others.
#[derive(Clone, Copy, Debug)]
pub struct Ranking<R> {
    /// The thread.
    pub thread: Slot,
    /// Greater goes first.
    pub rank: R,
    /// Smaller goes first among equal ranks. No two are the same.
    pub arrival: u64,
}

const ABSENT: u32 = u32::MAX;

impl<R> Default for ReadyQueue<R> {
    fn default() -> Self {
        Self {
            heap: Vec::new(),
            places: Vec::new(),
        }
    }
}

impl<R: Copy + Ord> ReadyQueue<R> {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes room for the slots below `threads`.
    pub fn reserve(&mut self, threads: usize) {
        self.heap.reserve(threads.saturating_sub(self.heap.len()));
        if self.places.len() < threads {
            self.places.resize(threads, ABSENT);
        }
    }

    /// How many wait in it.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether none waits in it.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Whether this one waits in it.
    pub fn contains(&self, thread: Slot) -> bool {
        self.place(thread).is_some()
    }

    /// The first one.
    pub fn first(&self) -> Option<&Ranking<R>> {
        self.heap.first()
    }

    /// Adds a thread that is not in it.
    pub fn insert(&mut self, ranking: Ranking<R>) {
        debug_assert!(!self.contains(ranking.thread), "{:?} is in it", ranking.thread);
        let needed = ranking.thread.index() + 1;
        if self.places.len() < needed {
            self.places.resize(needed, ABSENT);
        }
        self.heap.push(ranking);
        self.rise(self.heap.len() - 1);
    }

    /// Takes the first one.
    pub fn pop(&mut self) -> Option<Ranking<R>> {
        let first = self.heap.first()?.thread;
        self.remove(first)
    }

    /// Takes a thread out; `None` where it is not in it.
    pub fn remove(&mut self, thread: Slot) -> Option<Ranking<R>> {
        let place = self.place(thread)?;
        let removed = self.heap.swap_remove(place);
        self.places[thread.index()] = ABSENT;
        if place < self.heap.len() {
            self.settle(place);
        }
        Some(removed)
    }

    /// Gives a thread another rank; `false` where it is not in it.
    pub fn set_rank(&mut self, thread: Slot, rank: R) -> bool {
        let Some(place) = self.place(thread) else {
            return false;
        };
        self.heap[place].rank = rank;
        self.settle(place);
        true
    }

    fn place(&self, thread: Slot) -> Option<usize> {
        let place = *self.places.get(thread.index())?;
        (place != ABSENT).then_some(place as usize)
    }

    /// The one at `place` may belong higher or lower.
    fn settle(&mut self, place: usize) {
        if self.rise(place) == place {
            self.sink(place);
        }
    }

    fn rise(&mut self, mut place: usize) -> usize {
        while place > 0 {
            let parent = (place - 1) / 2;
            if !self.heap[place].goes_before(&self.heap[parent]) {
                break;
            }
            self.heap.swap(place, parent);
            self.note(place);
            place = parent;
        }
        self.note(place);
        place
    }

    fn sink(&mut self, mut place: usize) {
        loop {
            let left = 2 * place + 1;
            let Some(child) = self.heap.get(left) else {
                break;
            };
            let right_first = self
                .heap
                .get(left + 1)
                .is_some_and(|right| right.goes_before(child));
            let child = if right_first { left + 1 } else { left };
            if !self.heap[child].goes_before(&self.heap[place]) {
                break;
            }
            self.heap.swap(place, child);
            self.note(place);
            place = child;
        }
        self.note(place);
    }

    fn note(&mut self, place: usize) {
        let thread = self.heap[place].thread;
        self.places[thread.index()] = place as u32;
    }
}

impl<R: Ord> Ranking<R> {
    /// Whether it goes before the other one.
    pub fn goes_before(&self, other: &Self) -> bool {
        let by_rank = self.rank.cmp(&other.rank);
        by_rank.then(other.arrival.cmp(&self.arrival)) == Ordering::Greater
    }
}
