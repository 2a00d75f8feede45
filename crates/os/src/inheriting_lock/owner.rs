//! Owner of an inheriting lock. The kernel gives the id of an ended thread to a new one, so the id alone does
//! not identify the owner of an abandoned lock.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::time::{ClockId, clock_gettime};

use crate::TaskId;

/// A thread's kernel id, and the time at which it first locked, in milliseconds since the system started: the
/// next thread with this id starts later.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Owner(u64);

/// Kernel thread ids have at most 22 bits (PID_MAX_LIMIT).
const ID_BITS: u32 = 22;

impl Owner {
    /// No thread, or one that has not stated itself yet.
    pub(super) const UNKNOWN: Self = Self(0);

    pub(super) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(super) fn bits(self) -> u64 {
        self.0
    }

    /// Returns the calling thread, which is determined once.
    pub(super) fn current() -> Self {
        thread_local! {
            // Without a destructor, so that it can be read until the thread ends.
            static OWN: Cell<u64> = const { Cell::new(0) };
        }
        OWN.with(|own| {
            if own.get() == 0 {
                own.set(register().0);
            }
            Self(own.get())
        })
    }

    /// Returns the kernel's thread id.
    pub(super) fn id(self) -> u32 {
        (self.0 & ((1 << ID_BITS) - 1)) as u32
    }

    /// Returns whether the thread has ended and another thread has its id now. Constant time while it runs.
    pub(super) fn has_ended(self) -> bool {
        if set_of(self.id())
            .iter()
            .any(|way| way.load(Ordering::Relaxed) == self.0)
        {
            return false;
        }
        // It is about to end, or has lost its place in the table.
        start_of(self.id()).is_some_and(|start| start > self.0 >> ID_BITS)
    }

    /// Removes the thread from the table.
    pub(super) fn forget(self) {
        for way in set_of(self.id()) {
            let _ = way.compare_exchange(self.0, 0, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

/// Running threads that have used locks, found by their ids. A thread is missing if it has lost its place.
static RUNNING: [[AtomicU64; WAYS]; SETS] = [const { [const { AtomicU64::new(0) }; WAYS] }; SETS];
const SETS: usize = 1024;
const WAYS: usize = 4;

fn set_of(id: u32) -> &'static [AtomicU64; WAYS] {
    &RUNNING[id as usize % SETS]
}

fn register() -> Owner {
    let id = TaskId::current_thread().get().unsigned_abs();
    let now = clock_gettime(ClockId::Boottime);
    let milliseconds = now.tv_sec.unsigned_abs() * 1000 + now.tv_nsec.unsigned_abs() / 1_000_000;
    let owner = Owner(milliseconds << ID_BITS | u64::from(id));
    let set = set_of(id);
    let take = |way: &&AtomicU64| {
        way.compare_exchange(0, owner.0, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    };
    if set.iter().find(take).is_none() {
        set[id as usize / SETS % WAYS].store(owner.0, Ordering::Relaxed);
    }
    thread_local! {
        static REGISTRATION: Registration = const { Registration(Cell::new(0)) };
    }
    // Refused while the thread's variables are being destroyed.
    let _ = REGISTRATION.try_with(|registration| registration.0.set(owner.0));
    owner
}

/// Removes the thread from the table when it ends.
struct Registration(Cell<u64>);

impl Drop for Registration {
    fn drop(&mut self) {
        Owner(self.0.get()).forget();
    }
}

/// Returns when the present thread with this id started, in milliseconds since the system started. `None`:
/// there is none, which the kernel reports, or `/proc` is not mounted.
#[cold]
fn start_of(id: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/self/task/{id}/stat")).ok()?;
    // The name, in parentheses, may contain spaces.
    let (_, fields) = status.rsplit_once(')')?;
    let ticks: u64 = fields.split_ascii_whitespace().nth(START_TIME)?.parse().ok()?;
    Some(ticks * 1000 / rustix::param::clock_ticks_per_second())
}

/// Index of field 22 of `/proc/.../stat`, counted from field 3.
const START_TIME: usize = 22 - 3;
