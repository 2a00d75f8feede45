//! Punctual: everything that touches the operating system, and all unsafe code.
//!
//! Linux 5.14 or later (priority-inheriting locks with a monotonic time-out), with the GNU C library.
//!
//! | Question | Module |
//! |---|---|
//! | Start a thread with a name, a class, a priority, CPUs and a stack | [`thread`] |
//! | Change or read a scheduling class, a priority, CPUs | [`scheduling`], [`deadline_class`], [`affinity`] |
//! | Exclude other threads, or wait for them, without priority inversion | [`lock`], [`inheriting_lock`], [`ceiling`], [`condvar`], [`gate`] |
//! | Measure what the system itself offers for that | [`posix_mutex`], [`semaphore`], [`posix_key`] |
//! | Wait for sockets and doorbells | [`poller`], [`doorbell`], [`wait`] |
//! | Talk to another process through shared memory | [`shm`] |
//! | Set what sockets have no safe way for | [`socket_option`] |
//! | Draw numbers nobody can guess | [`random`] |
//! | Keep memory resident | [`memory`] |
//! | Read CPU time, sleep until a point in time | [`clock`] |
//! | Write to standard error without waiting, at most once | [`standard_error`], [`Notice`] |
//! | Know what the process may do, and what the machine is | [`rights`], [`machine`] |
//! | Look at and move other processes, end with one's parent | [`process`] |
//! | Give a process a network of its own | [`namespace`] |
//! | End in an orderly way | [`signals`] |
//! | Count heap allocations, system calls, cycles, context switches | [`alloc_counter`], [`perf`], [`switches`] |
//! | Read and change the kernel's real-time throttling | [`throttling`] |
//! | Find the kernel's tracing files | [`tracefs`] |
//! | Leave words in a file that another process reads | [`shared_words`] |
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
compile_error!(
    "punctual-os knows Linux with the GNU C library only: build for a `*-linux-gnu` target, \
     or use the crates below it (punctual-cdr, punctual-giop, punctual-poa, punctual-sched), which are portable"
);

pub mod affinity;
pub mod alloc_counter;
mod boot_id;
pub mod ceiling;
pub mod clock;
pub mod condvar;
pub mod deadline_class;
pub mod doorbell;
pub mod gate;
pub mod inheriting_lock;
pub mod lock;
pub mod machine;
pub mod memory;
pub mod namespace;
mod notice;
pub mod perf;
pub mod poller;
pub mod posix_key;
pub mod posix_mutex;
pub mod process;
pub mod random;
pub mod rights;
pub mod scheduling;
pub mod semaphore;
pub mod shared_words;
pub mod shm;
pub mod signals;
pub mod socket_option;
pub mod standard_error;
pub mod switches;
pub mod task;
pub mod thread;
pub mod throttling;
pub mod timer;
pub mod tracefs;
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
pub use posix_key::PosixKey;
pub use posix_mutex::PosixMutex;
pub use scheduling::{Scheduling, SchedulingClass};
pub use semaphore::Semaphore;
pub use switches::Switches;
pub use task::TaskId;
pub use thread::{Granted, Thread, ThreadSpec};

#[cfg(test)]
mod test_support;
