//! Lanes: threads of one priority with everything that they need to receive and serve requests, shared with
//! no other lane.
//!
//! A [`Lane`] owns acceptors, a poller, connections, threads, a request queue and buffers. It drives the GIOP
//! protocol over transports and passes each request to a [`RequestHandler`], the layer above. It knows no
//! object, reference, adapter, servant or policy. Path of one request through the crate, steps 5 and 6 of a
//! call: `worker` (an event of the poller wakes a thread, which reads a message of the connection) →
//! `queue::request_queue`, if the lane buffers → `dispatch` (the handler answers, the reply is sent).

mod accept;
mod budgets;
mod connections;
mod context;
mod dispatch;
mod error;
mod handler;
mod lane;
mod queue;
mod service_times;
mod sharing;
mod statistics;
mod threads;
mod worker;

pub use self::{
    accept::{
        acceptor::{Acceptor, Acceptors, LaneEndpoint},
        network_mark::NetworkMark,
        socket_options::SocketOptions,
    },
    budgets::{
        budget::NotExecuted,
        lane_limits::{AcceptLimits, LaneLimits, QueueLimits},
    },
    connections::{data::ConnectionData, id::ConnectionId},
    context::{LaneConfig, LaneContext, LaneMode},
    error::LaneError,
    handler::{Disposition, MessageError, Redispatch, RequestHandler, RequestMessage},
    lane::Lane,
    queue::{deferred_request::DeferredRequest, tasks::LaneTask},
    service_times::ServiceTimes,
    sharing::{
        reply_lane::ReplyLane,
        reply_table::{CallDeadlines, CallEnd, Outcome, Refused, ReplyBuffer, ReplyTable, ReplyWait, Ticket},
        shared_connection::SharedConnection,
        shared_connections::{NotSent, SharedConnectionSettings},
    },
    statistics::{ConnectionStatistics, LaneStatistics, QueueStatistics, StackUse, ThreadStatistics},
    threads::{
        borrowing::allow_borrowing,
        deadlock::BlockedThread,
        lane_threads::ThreadsConfig,
        lifetime::ThreadLifetime,
        nested_wait::{serve_until_ended, serve_until_readable},
        serving_thread::{ServingSlot, ServingThread},
    },
};
