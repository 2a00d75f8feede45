//! Punctual: everything that touches the operating system, and all unsafe code.
//!
//! Linux 5.14 or later (priority-inheriting locks with a monotonic timeout), with glibc or musl.
//!
//! | Task | Module |
//! |---|---|
//! | Start a thread with a name, scheduling class, priority, CPUs and stack | [`thread`] |
//! | Change or read scheduling class, priority and CPUs | [`scheduling`], [`deadline_class`], [`affinity`] |
//! | Lock and wait without priority inversion | [`lock`], [`inheriting_lock`], [`ceiling`], [`condvar`], [`gate`] |
//! | Wait for sockets, doorbells and timers | [`poller`], [`doorbell`], [`timer`], [`wait`] |
//! | Share memory with another process | [`shm`], [`shared_words`] |
//! | Set socket options that have no safe interface | [`socket_option`] |
//! | Draw unpredictable numbers | [`random`] |
//! | Keep memory resident | [`memory`] |
//! | Read CPU time, sleep until a point in time | [`clock`] |
//! | Write to standard error without blocking, at most once | [`standard_error`], [`Notice`] |
//! | Query the rights of the process | [`rights`] |
//! | Count heap allocations | [`alloc_counter`] |
#[cfg(not(target_os = "linux"))]
compile_error!(
    "punctual-os supports only Linux: build for a `*-linux-gnu` or `*-linux-musl` target, or use the crates \
     below it, which are portable (punctual-cdr, -giop, -poa, -sched)"
);

pub mod affinity;
pub mod alloc_counter;
mod boot_id;
mod capability;
pub mod ceiling;
pub mod clock;
pub mod condvar;
pub mod deadline_class;
pub mod doorbell;
pub mod gate;
pub mod inheriting_lock;
pub mod lock;
pub mod memory;
mod notice;
pub mod open_files;
pub mod poller;
pub mod random;
pub mod rights;
pub mod scheduling;
mod scheduling_class;
pub mod shared_words;
pub mod shm;
pub mod socket_option;
pub mod standard_error;
pub mod task;
pub mod thread;
pub mod timer;
pub mod wait;

pub use affinity::CpuSet;
pub use alloc_counter::CountingAllocator;
pub use boot_id::boot_id;
pub use condvar::PiCondvar;
pub use doorbell::Doorbell;
pub use gate::Gate;
pub use inheriting_lock::InheritingLock;
pub use lock::{PiMutex, PiMutexGuard};
pub use notice::Notice;
pub use poller::{Events, Interest, Poller, Trigger};
pub use scheduling_class::{Scheduling, SchedulingClass};
pub use task::TaskId;
pub use thread::{Granted, Stack, Thread, ThreadSpec};

#[cfg(test)]
mod test_support;
