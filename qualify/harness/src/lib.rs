//! Punctual: runs measurements and judges what they show.
//!
//! Nothing here knows an ORB: a scenario brings the processes and the calls, this crate the rest.
//!
//! | Question | Module |
//! |---|---|
//! | What does a measurement write, and what is its exit code | [`outcome`], [`machine`] |
//! | Percentiles, medians with confidence, jitter | [`statistics`] |
//! | Two things measured in alternation | [`blocks`] |
//! | Prepare the machine, and restore it on every way out | [`supervisor`], [`foreign`] |
//! | Did the kernel hold the CPU meanwhile | [`holes`] |
//! | How much of it others had | [`other_load`] |
//! | A place of our own in the kernel's tracing, and in main memory | [`trace_instance`], [`memory_folder`] |
//! | Processes that do the work, and their time limit | [`child`], [`watchdog`] |
//! | Ctrl-C | [`interruption`] |
//! | What the user sees meanwhile | [`progress`] |
#![forbid(unsafe_code)]

pub mod blocks;
pub mod child;
mod exclusive_cpuset;
pub mod foreign;
pub mod holes;
pub mod interruption;
mod killer;
pub mod machine;
pub mod memory_folder;
pub mod other_load;
pub mod outcome;
mod own_program;
pub mod progress;
mod running_children;
pub mod statistics;
pub mod supervisor;
pub mod trace_instance;
pub mod watchdog;

pub use blocks::interleave;
pub use child::{Child, ChildError, ChildSpec};
pub use holes::{Hole, HoleRecorder, Span};
pub use interruption::Interruption;
pub use machine::MachineFacts;
pub use memory_folder::MemoryFolder;
pub use other_load::OtherLoad;
pub use outcome::{Claim, Outcome, Row, Verdict};
pub use progress::Progress;
pub use statistics::{Latencies, MedianEstimate};
pub use supervisor::Supervisor;
pub use trace_instance::TraceInstance;
pub use watchdog::Watchdog;
