//! Distributable threads in virtual time. The schedulers of live operation decide here, over a model of
//! hosts, links and tasks.
//!
//! | Aspect | Items |
//! |---|---|
//! | Model | [`Model`], [`Limits`], [`Host`], [`Link`], [`Resource`], [`Task`], [`Step`] |
//! | Simulation | [`Simulation`], with a [`Scheduler`](crate::dynamic::Scheduler) for each host |
//! | Events | [`Event`], [`Observer`], [`dispatch_graph`] |
//! | Results | [`Statistics`] |
//!
//! The same model with the same seed and schedulers produces the same events on every machine. Random values
//! of threads (execution times, arrivals, delays) depend on the seed alone and not on the schedule, so
//! schedulers are compared with the same workload.
//!
//! All events of one instant are handled before any thread is dispatched, and work that ends at that instant
//! has ended.
//!
//! Interrupts, caches, and the processor time of the ORB itself are not modelled; include the latter in the
//! steps.

mod check;
mod histogram;
mod host;
mod host_resources;
mod limits;
mod links;
mod model;
mod parameters;
mod random;
mod simulation;
mod statistics;
mod step;
mod thread;
mod trace;
mod usage;

pub use check::ModelError;
pub use histogram::Histogram;
pub use limits::Limits;
pub use model::{Arrival, Cancellation, Costs, Host, Link, Model, Overrun, Protocol, Resource, Task};
pub use parameters::Parameters;
pub use simulation::Simulation;
pub use statistics::{HostStatistics, Statistics, TaskStatistics};
pub use step::{Call, Start, Step, Work};
pub use trace::{Event, EventKind, Observer, Run, ThreadId, dispatch_graph};
