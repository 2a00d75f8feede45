//! Punctual: runs measurements and evaluates their results.
//!
//! It knows no ORB: scenarios contribute processes and calls, this crate everything else.
//!
//! | Task | Module |
//! |---|---|
//! | Report results as JSON, with verdict and exit code | [`outcome`], [`machine`] |
//! | Write files that are checked in advance, and replaced as a whole | [`output_file`] |
//! | Compute percentiles, medians with confidence intervals, jitter | [`statistics`] |
//! | Measure several things in alternation | [`blocks`] |
//! | Prepare the machine, and restore it on every exit | [`supervisor`], [`foreign_tasks`] |
//! | Detect that kernel or host withheld the CPU | [`withheld_cpu`] |
//! | Determine the CPU share of other programs | [`other_load`] |
//! | Create a private trace instance, and a folder in main memory | [`trace_instance`], [`memory_folder`] |
//! | Run child processes, with a time limit | [`child`], [`watchdog`] |
//! | Handle Ctrl-C | [`interruption`] |
//! | Show progress | [`progress`] |
#![forbid(unsafe_code)]

pub mod blocks;
pub mod child;
mod exclusive_cpuset;
mod files;
pub mod foreign_tasks;
pub mod interruption;
pub mod machine;
pub mod memory_folder;
pub mod other_load;
pub mod outcome;
pub mod output_file;
mod own_program;
mod process_killer;
pub mod progress;
mod running_children;
pub mod statistics;
pub mod supervisor;
pub mod trace_instance;
pub mod watchdog;
pub mod withheld_cpu;

pub use blocks::interleave;
pub use child::{Child, ChildError, ChildSpec};
pub use interruption::Interruption;
pub use machine::MachineFacts;
pub use memory_folder::MemoryFolder;
pub use other_load::OtherLoad;
pub use outcome::{Claim, Outcome, Row, State, Statement, Verdict};
pub use progress::{Progress, in_words};
pub use statistics::{Latencies, MedianEstimate};
pub use supervisor::Supervisor;
pub use trace_instance::TraceInstance;
pub use watchdog::Watchdog;
pub use withheld_cpu::{Hole, HoleRecorder, Span};
