//! Dynamic scheduling of distributable threads: which of those that are ready at an endsystem run.
//!
//! Decisions only. What makes a thread run or wait is elsewhere: live in the Real-time CORBA 1.2 runtime, in virtual time in the
//! simulator. Source: RT-CORBA 1.2; \[S4\] sections 2.2 and 2.3.

mod parameters;
mod scheduler;
mod time;

pub use parameters::{ParameterKind, SchedulingParameters, Utility};
pub use scheduler::{Scheduler, Slot};
pub use time::Time;
