//! Runtime of the ORB: references that send requests, lanes that receive them, adapters that manage objects.
//! The path of a call is `client/` → the wire → the crate `punctual_lane` → `server/`; a call to an object of
//! the same ORB goes from `client/` to `server/` directly, on the calling thread.

mod accepted_priorities;
mod adapter_index;
mod adapter_path;
mod any_servant;
mod bidirectional;
mod bound_band;
mod callbacks;
mod client;
mod configuration;
mod current;
mod default_servant;
mod departures;
mod endings;
mod endpoint;
mod error;
mod expired_requests;
mod in_turn;
mod incarnation;
mod initial_references;
mod interception;
mod invalid_policy;
mod lane;
mod lane_data;
mod left_behind;
mod limits;
mod mutex;
mod notice;
mod object_ids;
mod object_search;
mod object_transform;
mod objects;
mod orb;
mod orb_core;
mod partitioned_map;
mod poa;
mod poa_core;
mod poa_defaults;
mod poa_manager;
mod poa_policies;
mod pool_info;
mod pools;
mod profiles;
mod published;
mod request_processing;
mod served_id;
mod server;
mod settings;
mod startup;
mod threadpool;
mod turn;
mod unstarted_servers;

pub use accepted_priorities::Peers;
pub use any_servant::{AnyServant, Declined};
pub use bidirectional::BidirectionalRule;
pub use callbacks::{CallbackQueue, Callbacks, NotAdmitted};
pub use client::swap_call_deadline;
pub use current::{Current, at_priority};
pub use endpoint::Endpoint;
pub use error::{OrbError, ResolveError};
pub use expired_requests::ExpiredRequests;
pub use invalid_policy::InvalidPolicy;
pub use limits::{Limits, OnExcess};
pub use mutex::{LockError, Mutex, MutexGuard, MutexInUse, MutexNotFound};
pub use orb::{Orb, OrbBuilder};
pub use poa::{
    AdapterActivator, Etherealized, ObjectBuilder, Poa, PoaBuilder, PoaManager, ReferenceBuilder,
    ServantActivator, ServantLocator,
};
pub use poa_manager::PoaManagerState;
pub use punctual_inspect::{ContractState, InspectedAt, Inspection, SchedulerState, SchedulerStatistics};
pub use punctual_lane::{
    ConnectionStatistics, LaneStatistics, QueueLimits, QueueStatistics, SocketOptions, StackUse,
    ThreadLifetime, ThreadStatistics,
};
pub use punctual_stub::{ConnectionMode, SyncScope, WaitStrategy};
pub use punctual_types::PriorityModel;
pub use threadpool::{LaneSpec, LaneWait, ThreadPool, ThreadPoolBuilder, ThreadPoolId};

/// Portable interceptors: user code that sees every outgoing and incoming request.
///
/// Source: CORBA 3.3 part 1, clause 16 (Portable Interceptors). Each interceptor whose starting point
/// completed gets exactly one ending point, in reverse order, on every way out of a call.
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
