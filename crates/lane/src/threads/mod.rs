//! Threads of a lane: how many there are, how each waits, and which lanes they serve.

pub(crate) mod blocking;
pub(crate) mod blocking_threads;
pub(crate) mod borrowing;
pub(crate) mod deadlock;
pub(crate) mod lane_events;
pub(crate) mod lane_threads;
pub(crate) mod lifetime;
pub(crate) mod mode;
pub(crate) mod nested_wait;
pub(crate) mod occupancy;
pub(crate) mod self_waits;
pub(crate) mod serving_thread;
pub(crate) mod start;
pub(crate) mod worker_buffers;
