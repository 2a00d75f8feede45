//! Time budgets of slow calls, from the application's call to its result.

mod attribution;
mod stages;

use crate::event::{Interrupt, KernelEvent, Level, ThreadId};
use crate::inversion::HoleSource;
use crate::request::Request;

/// Budgets of the slowest calls.
///
/// The flight records of client and server divide a call into consecutive spans. The kernel's events
/// determine the parts of each span: its thread ran, another thread or an interrupt had the CPU, the thread
/// slept, or kernel or host withheld the CPU. The spans of a call sum to its latency, and the parts of a span
/// to its length. The unrecorded rest is [`Cause::Unknown`]; nothing is guessed.
///
/// A call leaves its caller when the kernel starts to wake the thread that will serve it, although the caller
/// may still be in the system call that sends it; likewise, the reply leaves its lane.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Explanation {
    /// Number of calls examined.
    pub calls: usize,
    /// Number of calls above the threshold, with or without a budget.
    pub slow: usize,
    /// Budgets of the slowest ones, slowest first.
    pub budgets: Vec<Budget>,
}

/// Time budget of a call.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Budget {
    /// Index of the call in the list of requests.
    pub request: usize,
    /// Level of the call; `None`: no kernel trace.
    pub level: Option<Level>,
    /// Time of the application's call, in nanoseconds of the monotonic clock.
    pub start_ns: u64,
    /// Time until its result.
    pub length_ns: u64,
    /// Consecutive spans. Empty ones are omitted.
    pub spans: Vec<Span>,
}

/// Span of a call.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Span {
    /// Stage.
    pub stage: Stage,
    /// Thread that works in it.
    pub thread: ThreadId,
    /// Start in nanoseconds of the monotonic clock.
    pub start_ns: u64,
    /// Length.
    pub length_ns: u64,
    /// Parts, longest first; they sum to the length.
    pub parts: Vec<Part>,
}

/// Sum of everything with the same cause in a span.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Part {
    /// Cause.
    pub cause: Cause,
    /// Duration.
    pub length_ns: u64,
}

/// Stages of a call, in order.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Stage {
    /// The caller finds or creates its connection and encodes the request. Includes earlier attempts of the
    /// same call.
    Encode,
    /// The caller sends, until the request has left it.
    Send,
    /// The request waits for delivery by the kernel, or for a busy thread of its lane.
    Lane,
    /// The thread that will serve it has been woken, but has not started yet.
    WakeUp,
    /// The thread reads it.
    Read,
    /// The thread decodes the header and finds the object and the priority.
    Decode,
    /// The servant runs, including decoding of arguments and encoding of results.
    Upcall,
    /// The thread replies without calling a servant.
    NoUpcall,
    /// The reply is sent, until it has left the server.
    Reply,
    /// The caller is woken and reads the reply.
    ReplyWakeUp,
    /// The caller decodes the result.
    Result,
    /// Time from sending to the reply, if the server's side is not recorded.
    Unrecorded,
    /// In a call that failed without a reply, such as one that timed out, the time that the recorded service
    /// does not explain.
    NoReply,
}

/// Cause of a part of a span.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Cause {
    /// The thread ran.
    Ran,
    /// The thread had the CPU, which recorded nothing for [`crate::inversion::SILENCE_NS`] or longer: it
    /// computed, or the host did not run it.
    RanSilently,
    /// The thread was runnable, and another one had its CPU.
    Held {
        /// Thread that had the CPU.
        thread: ThreadId,
        /// Its level.
        level: Level,
        /// Whether its level is below that of the call: a priority inversion.
        inverted: bool,
        /// Index of the request that it was serving.
        request: Option<usize>,
    },
    /// The thread was runnable, and the call's other side had its CPU: the caller while sending, or the
    /// server's thread.
    OtherSide,
    /// The CPU handled an interrupt, or its deferred half.
    Interrupt(Interrupt),
    /// The thread was woken on an idle CPU.
    Starting,
    /// The thread that will serve the call was busy with another request.
    Behind {
        /// Index of the other request.
        request: usize,
        /// Whether its level is below that of the call.
        inverted: bool,
    },
    /// The kernel had not delivered the message yet: no thread was woken for it.
    Undelivered {
        /// Thread that had the sender's CPU meanwhile.
        by: Option<(ThreadId, Level)>,
    },
    /// The thread slept: in a lock, in a system call, in its servant.
    Slept,
    /// The servant waited for its own call.
    Called {
        /// Index of the other request.
        request: usize,
    },
    /// Kernel or host withheld the CPU, as defined in [`crate::inversion`].
    Hole(HoleSource),
    /// Time that is not recorded.
    Unknown,
}

/// Kind of cause, by what could remedy it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Kind {
    /// Work for the call itself.
    Work,
    /// Wait while work of equal or higher level had the CPU or the lane.
    Important,
    /// Wait while work of a lower level had it: a priority inversion.
    Inversion,
    /// The kernel: interrupts, delivery, wake-ups.
    Kernel,
    /// A thread of the call slept.
    Sleep,
    /// A hole.
    Hole,
    /// Unknown.
    Unknown,
}

/// Finds the `wanted` calls that took longer than `over_ns`, and computes budgets of at most `most` of them,
/// slowest first. Oneway and asynchronous calls are not considered, since their callers do not wait.
///
/// `events` are ordered by time; empty if the kernel was not traced.
pub fn explain(
    events: &[KernelEvent],
    requests: &[Request],
    over_ns: u64,
    most: usize,
    wanted: impl Fn(&Request) -> bool,
) -> Explanation {
    let length = |request: &Request| request.end_ns.saturating_sub(request.begin_ns);
    let is_considered = |request: &Request| request.has_waited() && wanted(request);
    let looked_at = || {
        let numbered = requests.iter().enumerate();
        numbered.filter(|(_, request)| is_considered(request))
    };
    let mut slow: Vec<usize> = looked_at()
        .filter(|(_, request)| length(request) > over_ns)
        .map(|(place, _)| place)
        .collect();
    // Of equally slow calls the earliest first.
    slow.sort_by_key(|place| std::cmp::Reverse(length(&requests[*place])));
    let found = slow.len();
    slow.truncate(most);
    let budgets = slow.iter().map(|&place| Budget {
        request: place,
        level: None,
        start_ns: requests[place].begin_ns,
        length_ns: length(&requests[place]),
        spans: stages::of(place, requests, events),
    });
    let mut budgets: Vec<Budget> = budgets.collect();
    attribution::attribute(&mut budgets, events, requests);
    Explanation {
        calls: looked_at().count(),
        slow: found,
        budgets,
    }
}

impl Stage {
    /// All stages, in order.
    pub const ALL: [Self; 13] = [
        Self::Encode,
        Self::Send,
        Self::Lane,
        Self::WakeUp,
        Self::Read,
        Self::Decode,
        Self::Upcall,
        Self::NoUpcall,
        Self::Reply,
        Self::ReplyWakeUp,
        Self::Result,
        Self::Unrecorded,
        Self::NoReply,
    ];

    /// Returns whether it starts with a record of its thread, which is therefore running.
    fn is_begun_by_its_thread(self) -> bool {
        match self {
            Self::Encode | Self::Send | Self::Read | Self::Decode | Self::Upcall => true,
            Self::NoUpcall | Self::Reply | Self::Result => true,
            Self::Lane | Self::WakeUp | Self::ReplyWakeUp | Self::Unrecorded | Self::NoReply => false,
        }
    }

    /// Returns the name in a few words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Encode => "encode",
            Self::Send => "send",
            Self::Lane => "wait in lane",
            Self::WakeUp => "wake-up of the lane",
            Self::Read => "read",
            Self::Decode => "decode",
            Self::Upcall => "upcall",
            Self::NoUpcall => "reply without upcall",
            Self::Reply => "reply: send",
            Self::ReplyWakeUp => "reply: wake-up of the caller",
            Self::Result => "reply: decode",
            Self::Unrecorded => "not recorded at the server",
            Self::NoReply => "no reply",
        }
    }

    /// Returns the name in one word, for figures.
    pub fn short_name(self) -> &'static str {
        match self {
            Self::Lane => "lane",
            Self::WakeUp => "wake-up",
            Self::NoUpcall => "answer",
            Self::Reply => "reply",
            Self::ReplyWakeUp => "return",
            Self::Result => "result",
            Self::Unrecorded => "server",
            Self::Encode | Self::Send | Self::Read | Self::Decode | Self::Upcall | Self::NoReply => {
                self.name()
            }
        }
    }
}

impl Cause {
    /// Returns the level of what had the CPU instead.
    pub fn level(self) -> Option<Level> {
        match self {
            Self::Held { level, .. } => Some(level),
            Self::Undelivered { by } => by.filter(|(thread, _)| *thread != 0).map(|(_, level)| level),
            _ => None,
        }
    }

    /// Returns the kind of cause.
    pub fn kind(self) -> Kind {
        match self {
            Self::Ran | Self::RanSilently | Self::OtherSide | Self::Called { .. } => Kind::Work,
            Self::Held { inverted: true, .. } | Self::Behind { inverted: true, .. } => Kind::Inversion,
            Self::Held { .. } | Self::Behind { .. } => Kind::Important,
            Self::Interrupt(_) | Self::Starting | Self::Undelivered { .. } => Kind::Kernel,
            Self::Slept => Kind::Sleep,
            Self::Hole(_) => Kind::Hole,
            Self::Unknown => Kind::Unknown,
        }
    }
}

impl Kind {
    /// All kinds, in the order of display.
    pub const ALL: [Self; 7] = [
        Self::Work,
        Self::Important,
        Self::Inversion,
        Self::Kernel,
        Self::Sleep,
        Self::Hole,
        Self::Unknown,
    ];

    /// Returns the name in one word, for columns.
    pub fn id(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Important => "important",
            Self::Inversion => "inversion",
            Self::Kernel => "kernel",
            Self::Sleep => "sleep",
            Self::Hole => "hole",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the name in a few words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Work => "ran for the call",
            Self::Important => "behind equal or higher priority",
            Self::Inversion => "behind lower priority",
            Self::Kernel => "interrupts, delivery, wake-up",
            Self::Sleep => "slept",
            Self::Hole => "withheld by kernel or host",
            Self::Unknown => "not recorded",
        }
    }
}

#[cfg(test)]
mod tests;
