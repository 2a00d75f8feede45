//! Priority mappings between CORBA and native priorities, priority transforms, schedulability analysis,
//! dynamic schedulers and a simulator for them.
//!
//! Pure: no I/O, clock or threads.
#![no_std]

extern crate alloc;

pub mod analysis;
mod continuous_mapping;
mod direct_mapping;
pub mod dynamic;
mod linear_mapping;
mod network_priority;
mod priority_mapping;
mod priority_transform;
pub mod simulator;
mod standard_mapping;

pub use continuous_mapping::ContinuousMapping;
pub use direct_mapping::DirectMapping;
pub use linear_mapping::LinearMapping;
pub use network_priority::{LinearNetworkMapping, NetworkPriority, NetworkPriorityMapping};
pub use priority_mapping::PriorityMapping;
pub use priority_transform::PriorityTransform;
pub use standard_mapping::{StandardMapping, UnknownMapping};
