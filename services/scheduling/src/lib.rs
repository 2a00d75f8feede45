//! The scheduling service, `RTCosScheduling`: priorities of activities, pools and objects by name, from one
//! file.
//!
//! Programs name their activities instead of stating numbers in every `set_priority`, lane and adapter; one
//! file assigns the priorities. `punctual plan` analyses the same file, and writes a version with lanes that
//! meet all deadlines.
//!
//! In the analysis, a pool without lanes waits at the lowest priority that it accepts, and interferes at the
//! highest. A servant that makes calls occupies its lane's thread meanwhile. On a host by deadline, lanes
//! need a thread for each request that they may have at a time. A host has one CPU, or threads are bound to
//! its CPUs one by one. The bounds are safe, not exact.
//!
//! | Task | Item |
//! |---|---|
//! | Read the file | [`Schedule`], [`FileError`] |
//! | Give a client's thread the priority of an activity | [`ClientScheduler`] |
//! | Give the ORB of a host its endpoints and limits | [`Schedule::orb_builder`], [`OrbSettings`] |
//! | Create the pools, adapters and objects of a server | [`ServerScheduler`] |
//! | Check the deadlines, and find a change that meets them | [`Model`], [`Refusal`], [`Advice`] |
//! | Choose among the rates of operations at run time | [`reconfigurable`] |
//! | Dispatch operations as it decides, also after changes | [`ScheduledDispatcher`] |
//! | Call operations with the priorities that it decides | [`OperationPriorities`] |
//! | The same as a CORBA object, for TAO's clients | [`rtec`] |
//! | Follow the schedule of such an object | [`rtec::ScheduleFollower`] |
//! | Simulate it | [`Schedule::to_scenario`] |
//!
//! # The file
//! A complete example with every key:
//! ```toml
#![doc = include_str!("../radar.toml")]
//! ```

mod activity;
mod adapter;
mod advice;
mod client_scheduler;
mod error;
mod host;
mod lanes;
mod model;
mod operation_priorities;
mod orb_settings;
mod pool;
mod processors;
pub mod reconfigurable;
mod refusal;
pub mod rtec;
mod scenario;
mod schedule;
mod scheduled_dispatcher;
mod server_scheduler;
mod sockets;
mod threads;
mod watched_schedules;

pub use activity::{Activity, After, Lock, Place, Step};
pub use adapter::{Adapter, Object};
pub use advice::Advice;
pub use client_scheduler::ClientScheduler;
pub use error::{SchedulingError, UnknownName};
pub use host::{Host, HostOrder, Processor, Protocol, Resource};
pub use model::Model;
pub use operation_priorities::OperationPriorities;
pub use orb_settings::{OrbLimits, OrbSettings};
pub use pool::{Lane, Pool};
pub use punctual_toml::{BadSpan, FileError, Span};
pub use refusal::Refusal;
pub use schedule::{Part, Parts, Schedule};
pub use scheduled_dispatcher::{NotAdopted, NotDispatched, ScheduledDispatcher, fifo};
pub use server_scheduler::ServerScheduler;
pub use sockets::Sockets;
pub use threads::{Buffering, Class, Expired, Wait};
pub use watched_schedules::WatchedSchedules;
