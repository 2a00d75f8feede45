//! The ORB against peers that speak by hand, and its lanes as peers see them.

mod acknowledged_requests;
mod addressing_modes;
mod buffering;
mod expiry;
mod hostile_connections;
mod hostile_messages;
mod lanes;
mod lifecycle;
mod odd_servers;
mod probing;
mod redispatch;
mod references;
mod restarts;
mod serving;
