//! The runtime: references that send requests, lanes that receive them, adapters that know the objects.
//!
//! The path of a call is `client/` → the wire → `lane/` → `server/`; a call to an object of the same ORB goes from `client/` to
//! `server/` directly, on the calling thread.

mod accepted_priorities;
mod bound_band;
mod builder;
mod client;
mod config;
mod current;
mod error;
mod expired_requests;
mod inspection;
pub mod interceptors;
mod invalid_policy;
mod lane;
mod lane_endpoints;
mod mutex;
mod notice;
mod object_ids;
mod object_transform;
mod open_by_band;
mod orb;
mod orb_core;
mod poa;
mod poa_defaults;
mod profiles;
mod server;
mod threadpool;

pub use accepted_priorities::Peers;
pub use builder::OrbBuilder;
pub use client::swap_call_deadline;
pub use config::{Limits, OnExcess};
pub use current::Current;
pub use error::{OrbError, ResolveError};
pub use expired_requests::ExpiredRequests;
pub use inspection::{InspectedAt, Inspection};
pub use invalid_policy::InvalidPolicy;
pub use mutex::{LockError, Mutex, MutexGuard, MutexInUse, MutexNotFound};
pub use orb::Orb;
pub use poa::{Poa, PoaBuilder};
pub use punctual_lane::{LaneStatistics, QueueLimits, QueueStatistics, ThreadLife};
pub use punctual_stub::{ConnectionMode, WaitStrategy};
pub use punctual_types::PriorityModel;
pub use threadpool::{LaneSpec, LaneWait, ThreadPool, ThreadPoolBuilder, ThreadPoolId};
