//! Punctual: analysis of recordings: priority inversions, time budgets of slow calls, distributable threads.
//!
//! The kernel's scheduling events and the flight records of ORBs use the same clock. Joined, they show
//! priority inversions directly.
//!
//! | Task | Module |
//! |---|---|
//! | Record kernel and ORBs | [`session`] |
//! | Record and read kernel events | [`kernel`], [`event`] |
//! | Join both sides of each request | [`request`] |
//! | Reconstruct distributable threads across hosts | [`distributable`] |
//! | Find priority inversions | [`inversion`]: a function of lists of events |
//! | Explain slow calls | [`budget`]: a function of lists of events |
//! | Report | [`report`], [`perfetto`] |
#![forbid(unsafe_code)]

pub mod budget;
pub mod distributable;
pub mod event;
pub mod inversion;
pub mod kernel;
mod machine;
pub mod perfetto;
pub mod report;
pub mod request;
pub mod session;
#[cfg(test)]
mod test_events;

pub use budget::{Budget, Explanation};
pub use distributable::DistributableThread;
pub use inversion::{Analysis, Inversion};
pub use report::Names;
pub use session::{Recorded, Session, SessionSettings};
