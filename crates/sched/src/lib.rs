//! Priority mappings: CORBA priorities to a host's own and back.
//!
//! Pure: no I/O, no clock, no thread.
#![no_std]

extern crate alloc;

mod network_priority;
mod priority_mapping;

pub use network_priority::{LinearNetworkMapping, NetworkPriority, NetworkPriorityMapping};
pub use priority_mapping::{LinearMapping, PriorityMapping};
