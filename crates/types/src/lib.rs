//! Plain data that every layer uses: priorities, system exceptions with their minor codes, repository ids.
//!
//! Pure: no I/O, no clock, no dependency.
#![no_std]

extern crate alloc;

mod detail;
mod distributable_thread_id;
mod log_linear;
mod minor;
mod priority;
mod priority_band;
mod priority_model;
mod readable_debug;
mod repository_id;
mod split_mix;
mod system_exception;
mod system_exception_kind;

pub use detail::Detail;
pub use distributable_thread_id::DistributableThreadId;
pub use log_linear::LogLinear;
pub use minor::{Minor, OMG_VMCID, PUNCTUAL_VMCID, TAO_VMCID};
pub use priority::{NativePriority, OutOfRange, Priority};
pub use priority_band::PriorityBand;
pub use priority_model::PriorityModel;
pub use repository_id::{CORBA_OBJECT, RepositoryId};
pub use split_mix::SplitMix64;
pub use system_exception::{Completion, ExceptionOrigin, SystemException};
pub use system_exception_kind::SystemExceptionKind;
