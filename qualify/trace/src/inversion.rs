//! Priority inversions: intervals in which something waits while something of a lower level runs.

mod queued_behind;
mod sweep;

use crate::event::{Interrupt, Level, ThreadId};
pub use punctual_harness::withheld_cpu::HoleSource;
pub use queued_behind::queued_behind;
pub use sweep::analyse;

/// Length from which silence of a CPU with a waiting thread of a higher level is a hole.
pub const SILENCE_NS: u64 = 1_000_000;
/// The same within an interrupt, whose handlers take a few microseconds and which threads cannot prolong.
pub const INTERRUPT_SILENCE_NS: u64 = 100_000;

/// Result of an analysis.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Analysis {
    /// Inversions in the order of their start.
    pub inversions: Vec<Inversion>,
    /// Holes in the order of their start.
    pub holes: Vec<CpuHole>,
}

/// Interval in which something waited while something of a lower level ran.
///
/// Something *waits* if it could proceed but does not:
/// - a thread that is ready to run, from the start of its wake-up (which includes the latency of interrupts);
/// - a request that was sent but is not served yet, or whose reply was sent but not read yet, while no thread
///   works on it: its octets wait for a busy thread, or for delivery by the kernel;
/// - a request in service whose thread was preempted and runs below the caller's priority.
///
/// It is an *inversion* while a CPU that the waiting thread may use runs something of a lower level: a
/// thread, or, for requests of one server without a priority model, a thread that serves a caller of a lower
/// level. Inherited priorities count. Threads of equal level and idle CPUs cause no inversion. A request in
/// service whose servant blocks does not wait.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Inversion {
    /// The thread or request that waited.
    pub waiter: Waiter,
    /// CPU on which the lower level ran; the first of several.
    pub cpu: u32,
    /// Start in nanoseconds of the monotonic clock.
    pub start_ns: u64,
    /// Length.
    pub length_ns: u64,
    /// Threads that ran meanwhile, longest first.
    pub culprits: Vec<Culprit>,
}

/// A thread or request that waited.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Waiter {
    /// Thread that should have proceeded: the caller's, or the one that later served the request.
    pub thread: ThreadId,
    /// Level of the thread, or of the request's caller. `None`: no kernel trace.
    pub level: Option<Level>,
    /// Index of the request in the list of requests.
    pub request: Option<usize>,
    /// Kind of wait.
    pub state: Waiting,
}

/// Kind of wait.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Waiting {
    /// A thread that is ready to run waits for a CPU.
    Ready,
    /// A request waits until a thread serves it.
    Queued,
    /// A request in service waits until its thread continues.
    Preempted,
    /// A reply waits until its caller reads it.
    Reply,
}

/// A thread that ran while another one of a higher level waited.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Culprit {
    /// Thread or interrupt.
    pub who: Who,
    /// Duration within the interval.
    pub ran_ns: u64,
}

/// Thread or interrupt.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Who {
    /// Thread.
    Thread {
        /// Id.
        thread: ThreadId,
        /// Level; `None`: no kernel trace.
        level: Option<Level>,
        /// Request that it was serving.
        request: Option<usize>,
    },
    /// Interrupt, while the CPU's current thread had a lower level.
    Interrupt(Interrupt),
}

/// Interval in which the kernel or the host withheld a CPU.
///
/// A *hole* is beyond the control of ORB and application: the kernel chose an ordinary thread, or none,
/// although a real-time thread was in the queue of that CPU (fair server, real-time throttling); or a CPU
/// with a waiting thread of a higher level recorded nothing, not even its timer, for [`SILENCE_NS`], or
/// within an interrupt for [`INTERRUPT_SILENCE_NS`] (the host did not run it, or interrupts were off). Holes
/// are reported separately, and inversions end at their start.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CpuHole {
    /// CPU.
    pub cpu: u32,
    /// Start in nanoseconds of the monotonic clock.
    pub start_ns: u64,
    /// Length.
    pub length_ns: u64,
    /// Activity of the CPU meanwhile.
    pub source: HoleSource,
}

impl Waiting {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ready => "ready thread",
            Self::Queued => "queued request",
            Self::Preempted => "request in service",
            Self::Reply => "reply",
        }
    }
}

/// Adds time to a culprit.
fn charge(culprits: &mut Vec<Culprit>, who: Who, ran_ns: u64) {
    match culprits.iter_mut().find(|culprit| culprit.who == who) {
        Some(culprit) => culprit.ran_ns += ran_ns,
        None => culprits.push(Culprit { who, ran_ns }),
    }
}
