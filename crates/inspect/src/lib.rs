//! Inspection of a running ORB from outside: one thread of low priority answers over a socket, as JSON or for
//! Prometheus.
//!
//! The crate knows snapshots and no ORB: its user supplies a function that takes one. A snapshot reads
//! relaxed atomics and takes no lock of a lane or of a caller.
//!
//! Requests are timed only if inspection is on; otherwise they pay one predictable branch. Histograms
//! accumulate from the start; the viewer computes differences, so any number of viewers can watch.

mod contracts;
mod error;
mod inspector;
mod metrics;
mod open_by_band;
mod prometheus;
mod schedulers;
mod session;
mod settings;
mod shown_states;
mod snapshot;

pub use self::{
    contracts::ContractState,
    error::InspectError,
    inspector::{Inspector, SnapshotSource},
    open_by_band::{Counted, OpenByBand},
    schedulers::{SchedulerState, SchedulerStatistics},
    settings::{InspectedAt, Inspection},
    shown_states::Shown,
    snapshot::{LaneSnapshot, ServiceTimesSnapshot, Snapshot},
};
