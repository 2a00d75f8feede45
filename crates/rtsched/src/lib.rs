//! Real-time CORBA 1.2: distributable threads, scheduling segments, and the scheduler of an endsystem, over
//! the ORB's portable interceptors.
//!
//! A distributable thread is one locus of execution that crosses hosts with its calls. Its *head* is where it
//! executes at present. A *scheduling segment* is a part of it that executes under one set of scheduling
//! parameters. A *scheduling point* is a place where the dispatcher may change which distributable threads
//! run. Source: RT-CORBA 1.2, module RTScheduling; \[Gill 2004\].
//!
//! | Task | Place |
//! |---|---|
//! | Add scheduling to an ORB; settings | [`RtScheduling`], [`RtSchedulingBuilder`] |
//! | Begin, update and end segments; spawn; cancel | [`Current`], [`Segment`], [`DistributableThread`] |
//! | Operations with a deadline | [`Current::operation`], [`SheddingPolicy`](punctual_sched::dynamic::SheddingPolicy) |
//! | Change the scheduler at run time | [`SchedulerManager`] |
//! | Accept scheduling claims from other hosts | [`RtSchedulingBuilder::accept_claims`], [`AcceptedClaims`] |
//! | Decide which threads run, and enforce it | `dispatcher/`: [`Mechanism`], [`Preemption`] |
//! | Activations and segments of an OS thread | `activations/` |
//! | Mutual exclusion of distributable threads | [`ResourceManager`] |
//! | Values bound to a distributable thread | [`storage`] |
//! | Transmission between hosts | `interceptors.rs`, [`wire`], [`remote`] |
//!
//! # Data
//!
//! Three kinds of records, each with one owner:
//! - The **entry** of a distributable thread (`dispatcher/entry.rs`) holds an endsystem's knowledge of the
//!   thread: its head, its storage, its calls. It exists under the dispatcher's lock from the first
//!   activation at this host to the end of the last one; then its slot is reused.
//! - An **activation** (`activations/`) is the part of the thread that one OS thread executes, from the
//!   outermost segment, or the request that brought the thread, to its end. It belongs to the OS thread. A
//!   thread that calls another host and returns in a nested upcall has two activations here, and at most one
//!   of them has its head.
//! - The **segments** of an activation are on a stack of its OS thread.
//!
//! # Invariants
//!
//! - The head of an entry is at one activation, or away (one enum, `Head`). Only the
//!   activation that has the head reports to the scheduler; one that has lost it, because its caller has
//!   timed out and continued, is cancelled.
//! - The [`Scheduler`](punctual_sched::dynamic::Scheduler) knows a thread exactly while its head is here and
//!   ready: not during a call to another host, a sleep, or a wait for a resource.
//! - With [`Mechanism::ReadyQueue`], at most as many threads are chosen as there are processors, and only
//!   chosen threads leave a scheduling point. The choice and its consequences are recorded under one lock.
//!   Only such a decision wakes a thread, and a woken thread reads its state under that lock: no wake-up is
//!   lost, and a spurious one is harmless.
//! - This crate holds no lock while code of the application runs. The exception is the scheduler, which is
//!   called under the dispatcher's lock and must not block. A scheduler that panics or names threads that are
//!   not ready is replaced by first come, first served.
//! - Every end of an activation (return, `?`, a panic, a cancellation, the end of its OS thread) ends its
//!   segments, innermost first, restores the scheduling of the OS thread, and makes the activation below it
//!   the current one.
//! - No allocation after warm-up: entries, segments and their names are reused.
#![warn(missing_docs)]

mod accepted_claims;
mod activations;
mod builder;
mod current;
mod dispatcher;
mod distributable_thread;
mod endsystem;
mod error;
mod ids;
mod interceptors;
mod manager;
mod notice;
mod object_resources;
mod operation;
pub mod remote;
mod resource_manager;
mod scheduling;
mod segment;
mod spawn;
pub mod storage;
mod unknown_policy;
pub mod wire;

pub use accepted_claims::AcceptedClaims;
pub use builder::RtSchedulingBuilder;
pub use current::Current;
pub use dispatcher::{
    Decision, Mechanism, NativePriorities, Preemption, Switch, ThreadSnapshot, ThreadStatus,
};
pub use distributable_thread::{DistributableThread, DistributableThreadState};
pub use error::{BuildError, SchedulingError};
pub use manager::SchedulerManager;
pub use operation::Failure;
pub use resource_manager::{ResourceGuard, ResourceManager};
pub use scheduling::{InitialReference, RtScheduling};
pub use segment::Segment;
pub use spawn::SpawnSpec;
pub use unknown_policy::UnknownPolicy;
