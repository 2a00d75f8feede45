//! Priority mappings (CORBA priorities to a host's own and back) and schedulability analysis.
//!
//! Pure: no I/O, no clock, no thread.
#![no_std]

extern crate alloc;

pub mod analysis;
mod priority_mapping;

pub use priority_mapping::{LinearMapping, PriorityMapping};
