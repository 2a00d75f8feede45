//! Counting of heap allocations, to show that a path makes none.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// The system's allocator with counters. A reallocation counts as an allocation; freeing is not counted.
///
/// A binary must install it; otherwise all counts stay 0 and [`installed`] returns false:
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: punctual_os::CountingAllocator = punctual_os::CountingAllocator;
///
/// let (_, allocations) = punctual_os::alloc_counter::count_allocations(|| vec![1, 2, 3]);
/// assert_eq!(allocations, 1);
/// ```
#[derive(Debug)]
pub struct CountingAllocator;

/// Returns the number of allocations made by the calling thread.
pub fn allocations_of_this_thread() -> u64 {
    THREAD.with(|counts| counts.allocations.get())
}

/// Returns the total number of bytes allocated by the calling thread, freed ones included.
pub fn bytes_of_this_thread() -> u64 {
    THREAD.with(|counts| counts.bytes.get())
}

/// Returns the number of allocations made by all threads of the process.
pub fn allocations_of_this_process() -> u64 {
    PROCESS_ALLOCATIONS.load(Ordering::Relaxed)
}

/// Returns the total number of bytes allocated by all threads of the process, freed ones included.
pub fn bytes_of_this_process() -> u64 {
    PROCESS_BYTES.load(Ordering::Relaxed)
}

/// Runs `f`; returns its result and the number of allocations that the calling thread made meanwhile.
pub fn count_allocations<R>(f: impl FnOnce() -> R) -> (R, u64) {
    let before = allocations_of_this_thread();
    let result = f();
    (result, allocations_of_this_thread() - before)
}

/// Returns whether a [`CountingAllocator`] is installed in this process, so that a count of 0 is meaningful.
/// Makes one allocation to find out.
pub fn installed() -> bool {
    count_allocations(|| drop(std::hint::black_box(Box::new(0u8)))).1 > 0
}

struct ThreadCounts {
    allocations: Cell<u64>,
    bytes: Cell<u64>,
}

thread_local! {
    // Constant and without a destructor: access neither allocates nor fails, not even in an ending thread.
    static THREAD: ThreadCounts = const { ThreadCounts { allocations: Cell::new(0), bytes: Cell::new(0) } };
}

static PROCESS_ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static PROCESS_BYTES: AtomicU64 = AtomicU64::new(0);

fn count(bytes: usize) {
    let bytes = bytes as u64;
    THREAD.with(|counts| {
        counts.allocations.set(counts.allocations.get() + 1);
        counts.bytes.set(counts.bytes.get().wrapping_add(bytes));
    });
    PROCESS_ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    PROCESS_BYTES.fetch_add(bytes, Ordering::Relaxed);
}

// SAFETY: every method passes its arguments to `System` unchanged and returns the result of `System`; `count`
// neither allocates nor unwinds.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller upholds the contract of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller upholds the contract of `GlobalAlloc::alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(new_size);
        // SAFETY: the caller upholds the contract of `GlobalAlloc::realloc`, and `pointer` came from
        // `System`.
        unsafe { System.realloc(pointer, layout, new_size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `GlobalAlloc::dealloc`, and `pointer` came from
        // `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;
    use crate::ThreadSpec;

    #[global_allocator]
    static ALLOCATOR: CountingAllocator = CountingAllocator;

    #[test]
    fn allocations_are_counted_exactly() {
        assert!(installed());
        let (_, none) = count_allocations(|| black_box([0u8; 64]));
        assert_eq!(none, 0);
        let bytes = bytes_of_this_thread();
        let (mut vector, one) = count_allocations(|| black_box(Vec::<u8>::with_capacity(100)));
        assert_eq!((one, bytes_of_this_thread() - bytes), (1, 100));
        let (_, grown) = count_allocations(|| vector.reserve_exact(200));
        assert_eq!(grown, 1, "a reallocation counts");
        let (_, freed) = count_allocations(|| drop(black_box(vector)));
        assert_eq!(freed, 0);
    }

    #[test]
    fn allocations_of_other_threads_count_for_the_process_only() {
        const NUMBER: u64 = 1_000;
        let allocate = || (0..NUMBER).for_each(|i| drop(black_box(Box::new(i))));
        let process = allocations_of_this_process();
        let other = ThreadSpec::new("allocates")
            .spawn(move || count_allocations(allocate).1)
            .unwrap();
        let before = allocations_of_this_thread();
        while !other.is_finished() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert_eq!(allocations_of_this_thread(), before);
        assert_eq!(other.join().unwrap(), NUMBER);
        assert!(allocations_of_this_process() - process >= NUMBER);
    }
}
