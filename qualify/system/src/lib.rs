//! Access to the operating system that only measurements need; the product's own is in `punctual-os`.
//!
//! | Task | Module |
//! |---|---|
//! | Describe the machine | [`machine`] |
//! | Count system calls, cycles and context switches | [`perf`], [`context_switches`] |
//! | Read and change the kernel's real-time throttling | [`throttling`] |
//! | Find the kernel's tracing files | [`tracefs`] |
//! | List, pin and end other processes | [`process`] |
//! | Shut down cleanly on SIGINT, SIGTERM and SIGHUP | [`signals`] |
//! | Give a process its own network | [`namespace`] |
//! | Use POSIX primitives, to compare with them | [`posix_mutex`], [`semaphore`], [`posix_key`] |

pub mod context_switches;
pub mod machine;
pub mod namespace;
pub mod perf;
pub mod posix_key;
pub mod posix_mutex;
pub mod process;
pub mod semaphore;
pub mod signals;
pub mod throttling;
pub mod tracefs;

pub use context_switches::ContextSwitches;
pub use posix_key::PosixKey;
pub use posix_mutex::PosixMutex;
pub use semaphore::Semaphore;
