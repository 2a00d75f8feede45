//! Punctual: who ran while something more important waited.
//!
//! The kernel's scheduling events and the flight records of ORBs have one clock, so they can be put side by side: a priority
//! inversion is shown, not inferred.
//!
//! | Question | Module |
//! |---|---|
//! | Record kernel and ORBs for a while | [`session`] |
//! | The kernel's part of that | [`kernel`], [`event`] |
//! | What became of each request | [`request`] |
//! | What became of each distributable thread, at all hosts | [`distributable`] |
//! | Who waited for something less important | [`inversion`]: pure, over lists of events |
//! | Why a call was slow | [`budget`]: pure, too |
//! | Say it | [`report`], [`perfetto`] |
#![forbid(unsafe_code)]

pub mod budget;
pub mod distributable;
pub mod event;
pub mod inversion;
pub mod kernel;
mod machine;
#[cfg(test)]
mod made_up;
pub mod perfetto;
pub mod report;
pub mod request;
pub mod session;

pub use budget::{Budget, Explanation};
pub use distributable::DistributableThread;
pub use inversion::{Analysis, Inversion};
pub use report::Names;
pub use session::{Recorded, Session, SessionSettings};
