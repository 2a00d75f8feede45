//! Looking into a running ORB from outside: one thread of low priority answers over a socket what the lanes have counted.
//!
//! Lanes know nothing of it but one branch for each request, behind which its time is taken. The thread reads relaxed atomics
//! and takes no lock of a lane or of a caller.

mod metrics;
mod prometheus;
mod server;
mod settings;
mod snapshot;
mod visitor;

pub(crate) use self::server::Inspector;
pub use self::settings::{InspectedAt, Inspection};
