//! Distributable threads in virtual time: the schedulers that decide live decide here, over a model of hosts, links and tasks.
//!
//! | Question | Item |
//! |---|---|
//! | What is there | [`Model`], [`Host`], [`Link`], [`Resource`], [`Task`], [`Step`] |
//! | What happens | [`Simulation`], with a [`Scheduler`](crate::dynamic::Scheduler) for each host |
//! | What has happened | [`Event`], [`Observer`], [`dispatch_graph`] |
//! | What came of it | [`Statistics`] |
//! | The experiments of \[S4\] | [`studies`] |
//!
//! The same model with the same seed and schedulers gives the same events, on every machine. What threads draw (execution times,
//! arrivals, delays) depends on the seed alone and not on who is scheduled when, so that schedulers are compared with the same
//! workload.
//!
//! What is not modelled: interrupts, caches, and the processor time of the ORB itself; put that into the steps.

mod arrivals;
mod check;
mod dispatch;
mod engine;
mod histogram;
mod host;
mod links;
mod model;
mod random;
mod resources;
mod statistics;
mod step;
mod steps;
pub mod studies;
mod thread;
mod trace;
mod unwinding;

pub use check::ModelError;
pub use engine::Simulation;
pub use histogram::Histogram;
pub use model::{
    Arrival, Cancellation, Costs, Host, Link, Model, Overrun, Parameters, Protocol, Resource, Retry,
    Shedding, Task,
};
pub use statistics::{HostStatistics, Statistics, TaskStatistics};
pub use step::{Call, Start, Step, Work};
pub use trace::{Event, EventKind, Observer, Run, ThreadId, dispatch_graph};
