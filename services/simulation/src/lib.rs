//! Scenario files of the scheduling simulator: hosts, network, resources and tasks under dynamic schedulers.
//!
//! `punctual plan --simulate` runs them; `docs/simulation.md` describes every key.

mod scenario;
mod system;
mod task;

pub use punctual_toml::{BadSpan, FileError, Span};
pub use scenario::Scenario;
pub use system::{
    CancelEntry, HostEntry, LinkEntry, NetworkEntry, ProtocolEntry, ResourceEntry, SheddingEntry,
};
pub use task::{ArrivalEntry, CorbaPriority, OverrunEntry, ParametersEntry, StepEntry, TaskEntry};
