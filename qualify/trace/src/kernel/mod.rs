//! Recording of kernel events through the tracing files.

mod format;
mod missing_switches;
mod page;
mod parser;
mod recorder;

pub use recorder::{KernelRecorder, KernelSettings, KernelTrace, Lost, Recorded};
