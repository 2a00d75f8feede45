//! Where the time of slow calls went: a budget for each, from the application's call to its result.
//!
//! The flight records of client and server cut a call into spans, one after the other along the way that the call took; the
//! kernel's events say what became of each span: its thread ran, or something else had its CPU (who, how important), or an
//! interrupt, or it slept, or kernel and host held it back. The spans of a call sum to its latency, and the parts of a span to
//! the span. What neither tells is [`Cause::Unknown`], and nothing is guessed.
//!
//! A call leaves its caller when the kernel begins to wake the thread that will serve it, although its caller may still be
//! inside of the system call that sent it; in the same way the reply leaves its lane.

mod attribution;
mod stages;

use crate::event::{Interrupt, KernelEvent, Level, ThreadId};
use crate::inversion::HoleSource;
use crate::request::Request;

/// Why calls took so long.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Explanation {
    /// How many calls were looked at.
    pub calls: usize,
    /// How many of them were slower than asked, with a budget or not.
    pub slow: usize,
    /// Of the slowest of them, the slowest first.
    pub budgets: Vec<Budget>,
}

/// Where the time of a call went.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Budget {
    /// The call, as a place in the list of requests.
    pub request: usize,
    /// How important it is; `None`: no kernel trace.
    pub level: Option<Level>,
    /// When the application called, in nanoseconds of the monotonic clock.
    pub start_ns: u64,
    /// Until it had its result.
    pub length_ns: u64,
    /// In the order of time, each where the one before ends. Those without length are left out.
    pub spans: Vec<Span>,
}

/// A piece of a call's way.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Span {
    /// Which.
    pub stage: Stage,
    /// Whose turn it was.
    pub thread: ThreadId,
    /// When it began, in nanoseconds of the monotonic clock.
    pub start_ns: u64,
    /// How long it was.
    pub length_ns: u64,
    /// What happened in it, the longest first; they sum to its length.
    pub parts: Vec<Part>,
}

/// What happened in a span, all of one kind together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Part {
    /// What.
    pub cause: Cause,
    /// For how long.
    pub length_ns: u64,
}

/// The pieces of a call's way, in their order.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Stage {
    /// The caller finds or makes its connection and encodes the request. Earlier attempts of the same call are in it.
    Encode,
    /// The caller sends, until the request has left it.
    Send,
    /// The request waits for a thread of its lane: for the kernel to deliver it, or for a thread that is busy.
    Lane,
    /// The thread that is to serve it has been woken, and does not look at it yet.
    WakeUp,
    /// The thread reads it.
    Read,
    /// The thread decodes the header and finds the object and the priority.
    Decode,
    /// The servant, with the decoding of its arguments and the encoding of its results.
    Upcall,
    /// The thread answers by itself: no servant was entered.
    NoUpcall,
    /// The reply is sent, until it has left the server.
    Reply,
    /// The caller gets the reply: is woken, and reads.
    ReplyWakeUp,
    /// The caller decodes the result.
    Result,
    /// Between sending and reply: there are no records of the server's side.
    Unrecorded,
    /// After sending, where no reply was read: the call is oneway, or has failed.
    NoReply,
}

/// What happened in a part of a span.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Cause {
    /// The thread ran.
    Ran,
    /// The thread had the CPU, and the CPU recorded nothing for [`crate::inversion::SILENCE_NS`] or longer: it computed, or the
    /// host did not run it.
    RanSilently,
    /// The thread could run, and another one had its CPU.
    Held {
        /// Who.
        thread: ThreadId,
        /// How important, to the kernel.
        level: Level,
        /// Whether that is less important than the call: a priority inversion.
        inverted: bool,
        /// The request that it was serving, as a place in the list.
        request: Option<usize>,
    },
    /// The thread could run, and the call's other side had its CPU: the caller in its sending still, or the server's thread.
    OtherSide,
    /// The CPU handled an interrupt, or the deferred half of one.
    Interrupt(Interrupt),
    /// The thread was woken, and its CPU had nothing else to do.
    Starting,
    /// The thread that is to serve the call was busy with another request.
    Behind {
        /// That one, as a place in the list.
        request: usize,
        /// Whether it is less important.
        inverted: bool,
    },
    /// What was sent had not been delivered yet: nobody was woken for it.
    Undelivered {
        /// Who had the sender's CPU meanwhile.
        by: Option<(ThreadId, Level)>,
    },
    /// The thread slept: in a lock, in a system call, in its servant.
    Slept,
    /// The servant waited for a call of its own.
    Called {
        /// That one, as a place in the list.
        request: usize,
    },
    /// Kernel or host held the CPU back, as [`crate::inversion`] says.
    Hole(HoleSource),
    /// There is no record of it.
    Unknown,
}

/// Kinds of causes: who can help.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Kind {
    /// Work for the call itself.
    Work,
    /// Something more or equally important had the CPU or the lane.
    Important,
    /// Something less important had it: a priority inversion.
    Inversion,
    /// The kernel: interrupts, delivery, waking up.
    Kernel,
    /// A thread of the call slept.
    Sleep,
    /// A hole.
    Hole,
    /// Nobody knows.
    Unknown,
}

/// Finds the calls that took longer than `over_ns` among those that are `wanted`, and makes budgets of the `most` slowest.
///
/// `events` in the order of time; none where the kernel was not traced.
pub fn explain(
    events: &[KernelEvent],
    requests: &[Request],
    over_ns: u64,
    most: usize,
    wanted: impl Fn(&Request) -> bool,
) -> Explanation {
    let length = |request: &Request| request.end_ns.saturating_sub(request.begin_ns);
    let looked_at = || requests.iter().enumerate().filter(|(_, request)| wanted(request));
    let mut slow: Vec<usize> = looked_at()
        .filter(|(_, request)| length(request) > over_ns)
        .map(|(place, _)| place)
        .collect();
    // Of equally slow ones the earliest first.
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
    /// All, in their order.
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

    /// Whether it begins with something that its thread has recorded, and so while that runs.
    fn is_begun_by_its_thread(self) -> bool {
        match self {
            Self::Encode | Self::Send | Self::Read | Self::Decode | Self::Upcall => true,
            Self::NoUpcall | Self::Reply | Self::Result => true,
            Self::Lane | Self::WakeUp | Self::ReplyWakeUp | Self::Unrecorded | Self::NoReply => false,
        }
    }

    /// In a few words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Encode => "encode",
            Self::Send => "send",
            Self::Lane => "wait in lane",
            Self::WakeUp => "wake-up of the lane",
            Self::Read => "read",
            Self::Decode => "decode",
            Self::Upcall => "upcall",
            Self::NoUpcall => "answer without upcall",
            Self::Reply => "reply: send",
            Self::ReplyWakeUp => "reply: wake-up of the caller",
            Self::Result => "reply: decode",
            Self::Unrecorded => "not recorded at the server",
            Self::NoReply => "no reply",
        }
    }
}

impl Cause {
    /// Who can help.
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
    /// All, in the order in which they are shown.
    pub const ALL: [Self; 7] = [
        Self::Work,
        Self::Important,
        Self::Inversion,
        Self::Kernel,
        Self::Sleep,
        Self::Hole,
        Self::Unknown,
    ];

    /// In one word, for names of columns.
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

    /// In a few words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Work => "ran for the call",
            Self::Important => "behind something as important or more",
            Self::Inversion => "behind something less important",
            Self::Kernel => "interrupts, delivery, waking up",
            Self::Sleep => "slept",
            Self::Hole => "held back by kernel or host",
            Self::Unknown => "not recorded",
        }
    }
}

#[cfg(test)]
mod tests;
