//! Connections to servers that several callers share: who waits for which reply, who reads, who times out.

pub(crate) mod call_timeouts;
pub(crate) mod deadline_timer;
pub(crate) mod reply_lane;
pub(crate) mod reply_table;
pub(crate) mod shared_connection;
pub(crate) mod shared_connections;
