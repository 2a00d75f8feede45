//! Sources that fill conditions with measurements of the system and the program.
//!
//! None has a thread: values change when the program calls `sample`, usually before
//! [`Contract::evaluate`](crate::Contract::evaluate), and stand for the time since the sample before. A
//! source without a measurement since then leaves its condition as it is.

mod bandwidth;
mod deadline_misses;
mod latency;
mod processor_use;

pub use bandwidth::Bandwidth;
pub use deadline_misses::DeadlineMisses;
pub use latency::Latency;
pub use processor_use::ProcessorUse;
