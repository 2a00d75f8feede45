//! Real-time CORBA 1.2: distributable threads, scheduling segments, and the schedulers of an endsystem, over the ORB's portable
//! interceptors.
//!
//! A distributable thread is one locus of execution that moves from host to host with its calls. Source: RT-CORBA 1.2,
//! module RTScheduling; \[S4\].
//!
//! | Question | Place |
//! |---|---|
//! | Put it into an ORB, and what can be set | [`RtScheduling`], [`RtSchedulingBuilder`] |
//! | Begin, update and end segments; spawn; cancel | [`Current`], [`Segment`], [`DistributableThread`] |
//! | Operations with a deadline of their own | [`Current::operation`], [`RetryPolicy`] |
//! | Change the scheduler while everything runs | [`SchedulerManager`] |
//! | Which threads run, and how others are kept from it | `dispatcher/`: [`Mechanism`], [`Preemption`] |
//! | One distributable thread at a time | [`ResourceManager`] |
//! | Values bound to the distributable thread | [`storage`] |
//! | Over the wire | `interceptors.rs`, [`wire`], [`remote`] |
//!
//! # How it is kept
//!
//! Three things, each with one owner:
//! - The **entry** of a distributable thread (`dispatcher/entry.rs`) is what an endsystem knows of it: one for each id, in a slab
//!   under the dispatcher's lock, from its first visit to the end of its last. A slot is used again only after that.
//! - A **visit** (`here/`) is one stay of the thread on one OS thread, from the outermost segment or the request that brought it
//!   to the end of that. It lies in the OS thread's own store, and nobody else looks at it. A thread that calls out and comes back
//!   in a nested upcall has two visits here, and its head is on one of them at most.
//! - The **segments** of a visit lie beside it, the innermost last.
//!
//! # Invariants
//!
//! - An entry's head is at one visit, or not here. Only the visit that has the head may tell the scheduler anything; one that has
//!   lost it (its caller has timed out and gone on) finds itself cancelled.
//! - A thread is known to the [`Scheduler`](punctual_sched::dynamic::Scheduler) exactly while its head is here and ready: not
//!   while it is calling out, sleeps, or waits for a lock of ours.
//! - With [`Mechanism::ReadyQueue`] as many threads as there are processors have been let run, and no others leave a scheduling
//!   point. Who is let run is decided, and what follows from it is noted, under one lock; nobody is woken by anything else, and
//!   whoever is woken looks again under that lock, so no wake-up is lost and none too many does harm.
//! - No lock of this crate is held over code of the application's. The scheduler's is called under the dispatcher's lock: it must
//!   not block. One that panics or names threads that are not ready is replaced by first come, first served.
//! - Whatever ends a visit (return, `?`, a panic, a cancellation, the end of its OS thread) ends its segments, innermost first,
//!   gives the OS thread its own priority back, and makes the visit before it the current one.
//! - After warm-up nothing here allocates: entries, segments and their names are used again.
#![warn(missing_docs)]

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
pub mod wire;

pub use builder::RtSchedulingBuilder;
pub use current::Current;
pub use dispatcher::{
    Decision, Mechanism, NativePriorities, Preemption, Switch, ThreadSnapshot, ThreadStatus,
};
pub use distributable_thread::{DistributableThread, DistributableThreadState};
pub use error::{BuildError, SchedulingError};
pub use manager::SchedulerManager;
pub use operation::{Failure, RetryPolicy};
pub use resource_manager::{ResourceGuard, ResourceManager};
pub use scheduling::{InitialReference, RtScheduling};
pub use segment::Segment;
pub use spawn::SpawnSpec;
