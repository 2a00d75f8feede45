//! Who ran while something more important waited.
//!
//! Something *waits* when it could go on and does not:
//! - a thread that is ready to run, from the moment somebody begins to wake it (so the latency of interrupts is in it);
//! - a request that was sent and is not yet served, or whose reply was sent and not yet read, although nobody works for it:
//!   its octets wait for a thread that is busy, or for the kernel to deliver them;
//! - a request in service whose thread was preempted, where that thread runs at less than the caller's priority.
//!
//! It is an *inversion* while a CPU that the waiting thread may use runs something less important: a thread of a lower level,
//! or, for requests of one server without a priority model, a thread that serves a less important caller. Threads that have
//! inherited a priority count with it. Threads of equal level and idle CPUs invert nothing. A request in service whose
//! servant blocks is not waiting.
//!
//! A *hole* is what neither an ORB nor an application can help: the kernel chose an ordinary thread, or nobody, while a
//! real-time thread stood in the queue of that CPU (its fair server, or real-time throttling); or the CPU with a more
//! important thread in its queue recorded nothing at all, not even its timer, for [`SILENCE_NS`], or inside an interrupt for
//! [`INTERRUPT_SILENCE_NS`] (the host did not run it, or the kernel had interrupts off). Holes are reported apart, and inversions end where they begin.

mod queued_behind;
mod sweep;

use crate::event::{Interrupt, Level, ThreadId};
pub use punctual_harness::holes::HoleSource;
pub use queued_behind::queued_behind;
pub use sweep::analyse;

/// From this length on, silence of a CPU on which somebody more important waits is a hole.
pub const SILENCE_NS: u64 = 1_000_000;
/// The same inside an interrupt, whose handlers take a few microseconds and which no thread can make longer.
pub const INTERRUPT_SILENCE_NS: u64 = 100_000;

/// What an analysis has found.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Analysis {
    /// In the order of their start.
    pub inversions: Vec<Inversion>,
    /// In the order of their start.
    pub holes: Vec<CpuHole>,
}

/// An interval in which something waited while something less important ran.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Inversion {
    /// Who waited.
    pub waiter: Waiter,
    /// Where the less important ran; of several CPUs the first.
    pub cpu: u32,
    /// When it began, in nanoseconds of the monotonic clock.
    pub start_ns: u64,
    /// How long it was.
    pub length_ns: u64,
    /// Who ran meanwhile: who ran longest comes first.
    pub culprits: Vec<Culprit>,
}

/// Who waited.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Waiter {
    /// The thread that was to go on: the caller's, or the one that later served the request.
    pub thread: ThreadId,
    /// How important: of the thread, or of the request's caller. `None`: no kernel trace.
    pub level: Option<Level>,
    /// The request it is about, as a place in the list of requests.
    pub request: Option<usize>,
    /// What it waited for.
    pub state: Waiting,
}

/// What something waits for.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Waiting {
    /// A thread that is ready to run waits for a CPU.
    Ready,
    /// A request waits until a thread serves it.
    Queued,
    /// A request in service waits until its thread may go on.
    Preempted,
    /// A reply waits until its caller reads it.
    Reply,
}

/// Who ran while something more important waited.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Culprit {
    /// Who.
    pub who: Who,
    /// For how long, within the interval.
    pub ran_ns: u64,
}

/// A thread or an interrupt.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Who {
    /// A thread.
    Thread {
        /// Its number.
        thread: ThreadId,
        /// How important; `None`: no kernel trace.
        level: Option<Level>,
        /// The request it was serving.
        request: Option<usize>,
    },
    /// An interrupt, while a less important thread was the CPU's current one.
    Interrupt(Interrupt),
}

/// An interval in which the kernel or the host held a CPU back.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CpuHole {
    /// Which.
    pub cpu: u32,
    /// When it began, in nanoseconds of the monotonic clock.
    pub start_ns: u64,
    /// How long it was.
    pub length_ns: u64,
    /// What the CPU did instead.
    pub source: HoleSource,
}

impl Waiting {
    /// In a word or two.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ready => "ready thread",
            Self::Queued => "queued request",
            Self::Preempted => "request in service",
            Self::Reply => "reply",
        }
    }
}

/// Adds time to whoever ran.
fn charge(culprits: &mut Vec<Culprit>, who: Who, ran_ns: u64) {
    match culprits.iter_mut().find(|culprit| culprit.who == who) {
        Some(culprit) => culprit.ran_ns += ran_ns,
        None => culprits.push(Culprit { who, ran_ns }),
    }
}
