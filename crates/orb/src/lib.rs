//! Runtime of the ORB: references that send requests, lanes that receive them, adapters that manage objects.
//! The path of a call is `client/` → the wire → the crate `punctual_lane` → `server/`; a call to an object of
//! the same ORB goes from `client/` to `server/` directly, on the calling thread.

mod bound_band;
mod callbacks;
mod client;
mod config;
mod current;
mod error;
mod interception;
mod mutex;
mod notice;
mod orb;
mod orb_core;
mod poa;
mod poa_state;
mod pools;
mod server;
mod startup;

pub use callbacks::{CallbackQueue, Callbacks, NotAdmitted};
pub use client::swap_call_deadline;
pub use config::bidirectional::BidirectionalRule;
pub use config::endpoint::Endpoint;
pub use config::expired_requests::ExpiredRequests;
pub use config::limits::{Limits, OnExcess};
pub use current::{Current, at_priority, explicit_priority, swap_own_scheduling};
pub use error::{OrbError, ResolveError};
pub use mutex::{LockError, Mutex, MutexGuard, MutexInUse, MutexNotFound};
pub use orb::{Orb, OrbBuilder};
pub use poa::{
    AdapterActivator, Etherealized, ObjectBuilder, Poa, PoaBuilder, PoaManager, ReferenceBuilder,
    ServantActivator, ServantLocator,
};
pub use poa_state::any_servant::{AnyServant, Declined};
pub use poa_state::invalid_policy::InvalidPolicy;
pub use poa_state::manager::PoaManagerState;
pub use pools::accepted_priorities::Peers;
pub use pools::threadpool::{LaneSpec, LaneWait, ThreadPool, ThreadPoolBuilder, ThreadPoolId};
pub use punctual_inspect::{ContractState, InspectedAt, Inspection, SchedulerState, SchedulerStatistics};
pub use punctual_lane::{
    ConnectionStatistics, LaneStatistics, QueueLimits, QueueStatistics, SocketOptions, StackUse,
    ThreadLifetime, ThreadStatistics,
};
pub use punctual_stub::{ConnectionMode, SyncScope, WaitStrategy};
pub use punctual_types::PriorityModel;

/// Portable interceptors: user code that sees every outgoing and incoming request.
///
/// Source: CORBA 3.3 part 1, clause 16 (Portable Interceptors). Each interceptor whose starting point
/// completed gets exactly one ending point, in reverse order, however a call ends.
pub mod interceptors {
    pub use crate::{
        interception::{
            CallKind, ClientRequestInfo, ClientRequestInterceptor, Interrupt, InvalidSlot, IorInfo,
            IorInterceptor, PiCurrent, Raised, ReplyStatus, ServerRequestInfo, ServerRequestInterceptor,
            ServingLane, SlotId, SlotValue,
        },
        orb::{DuplicateName, OrbInitInfo, OrbInitializer},
    };
}
