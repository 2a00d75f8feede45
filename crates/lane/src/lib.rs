//! Lanes: threads of one priority with everything that they need to receive and serve requests, shared with
//! no other lane.
//!
//! A [`Lane`] owns acceptors, a poller, connections, threads, a request queue and buffers. It drives the GIOP
//! protocol over transports and passes each request to a [`RequestHandler`], the layer above. It knows no
//! object, reference, adapter, servant or policy. Path of one request through the crate, steps 7 to 9 of a
//! call: `worker` (an event of the poller wakes a thread) → `serve` (the thread reads a message of the
//! connection) → `request_queue`, if the lane buffers → `dispatch` (the handler answers, the reply is sent).

mod accept_state;
mod accepting;
mod acceptor;
mod blocking;
mod blocking_threads;
mod borrowing;
mod budget;
mod buffering;
mod call_timeouts;
mod connection;
mod connection_data;
mod connection_id;
mod connection_state;
mod connection_table;
mod context;
mod deadline_timer;
mod deadlock;
mod deferral;
mod deferred_request;
mod descriptors;
mod dispatch;
mod error;
mod handler;
mod held;
mod held_requests;
mod housekeeping;
mod kept_memory;
mod lane;
mod lane_events;
mod limits;
mod message_store;
mod mode;
mod nested_wait;
mod network_mark;
mod occupancy;
mod overhead_budget;
mod peer_rates;
mod pending_work;
mod posting;
mod redispatch;
mod reply_lane;
mod reply_table;
mod request_queue;
mod role;
mod self_waits;
mod serve;
mod service_times;
mod serving_thread;
mod shared_connection;
mod sharing;
mod slots;
mod socket_options;
mod start;
mod statistics;
mod tasks;
mod thread_lifetime;
mod threads;
mod time_budget;
mod worker;
mod worker_buffers;

pub use self::{
    acceptor::{Acceptor, Acceptors, LaneEndpoint},
    borrowing::allow_borrowing,
    budget::NotExecuted,
    connection_data::ConnectionData,
    connection_id::ConnectionId,
    context::{LaneConfig, LaneContext, LaneMode},
    deadlock::BlockedThread,
    deferred_request::DeferredRequest,
    error::LaneError,
    handler::{Disposition, MessageError, Redispatch, RequestHandler, RequestMessage},
    lane::Lane,
    limits::{AcceptLimits, LaneLimits, QueueLimits},
    nested_wait::{serve_until_ended, serve_until_readable},
    network_mark::NetworkMark,
    reply_lane::ReplyLane,
    reply_table::{CallDeadlines, CallEnd, Outcome, Refused, ReplyBuffer, ReplyTable, ReplyWait, Ticket},
    service_times::ServiceTimes,
    serving_thread::{ServingSlot, ServingThread},
    shared_connection::SharedConnection,
    sharing::{NotSent, SharedConnectionSettings},
    socket_options::SocketOptions,
    statistics::{ConnectionStatistics, LaneStatistics, QueueStatistics, StackUse, ThreadStatistics},
    tasks::LaneTask,
    thread_lifetime::ThreadLifetime,
    threads::ThreadsConfig,
};
