//! The scheduling service: who runs at which priority, by name, from one file. `RTCosScheduling`.
//!
//! Without it every `set_priority`, lane and adapter has a number in the program. With it programs name what they do, and one
//! file says what that means. `punctual plan` checks the same file, and writes it with lanes that meet all deadlines.
//!
//! | Question | Item |
//! |---|---|
//! | The file | [`Schedule`], [`FileError`] |
//! | A client gives its thread the priority of an activity | [`ClientScheduler`] |
//! | A server makes pools, adapters and objects as the file says | [`ServerScheduler`] |
//! | Does it meet its deadlines, and what would | [`Model`], [`Refusal`], [`Advice`] |
//!
//! # The file
//! Complete, with every key there is:
//! ```toml
#![doc = include_str!("../radar.toml")]
//! ```

mod advice;
mod check;
mod client_scheduler;
mod error;
mod model;
mod refusal;
mod schedule;
mod server_scheduler;
mod threads;

pub use advice::Advice;
pub use client_scheduler::ClientScheduler;
pub use error::{SchedulingError, UnknownName};
pub use model::Model;
pub use punctual_toml::{BadSpan, FileError, Span};
pub use refusal::Refusal;
pub use schedule::{Activity, Adapter, AdapterModel, Lane, Object, Place, Pool, Schedule, Step};
pub use server_scheduler::ServerScheduler;
pub use threads::{Buffering, Class, Expired, Wait};
