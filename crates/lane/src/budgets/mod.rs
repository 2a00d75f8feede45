//! Bounds of the work and memory that a peer, or all peers of a lane, may cost.

pub(crate) mod budget;
pub(crate) mod deferral;
pub(crate) mod kept_memory;
pub(crate) mod lane_limits;
pub(crate) mod message_store;
pub(crate) mod overhead_budget;
pub(crate) mod time_budget;
