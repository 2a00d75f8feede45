//! One record.

use crate::Link;

/// What happened. The number is what a file holds.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[repr(u8)]
#[non_exhaustive]
pub enum Event {
    /// Client: the application called. Priority: that of the thread. Detail: the operation.
    CallBegin = 1,
    /// Client: the request is encoded. From here on the records of the call have its request id and link.
    Encoded = 2,
    /// Client: the system call that sent the last octet of the request has returned.
    Sent = 3,
    /// Client: the reply has been read.
    ReplyReceived = 4,
    /// Client: the application has its result. Detail: 0, or 1 for an exception.
    CallEnd = 5,
    /// Server: a thread of a lane has left its waiting place. Detail: the token of what it woke for.
    Woken = 6,
    /// Server: a whole message has been read. Detail: its octets.
    Read = 7,
    /// Server: the request begins to be served. Priority: the lane's. Detail: the operation.
    Served = 8,
    /// The servant is entered, for the request served last or, without one, for a call inside the process. Priority: the one
    /// it sees.
    UpcallBegin = 9,
    /// The servant is left.
    UpcallEnd = 10,
    /// Server: the system call that sent the reply has returned.
    ReplySent = 11,
    /// Server: done with a request or another message that has no reply.
    Finished = 12,
    /// Server: a connection was accepted.
    Accepted = 13,
    /// Either side: a connection was closed.
    Closed = 14,
    /// The thread has changed its own priority. Priority: the CORBA one. Detail: the native one.
    PriorityChanged = 15,
    /// Server: it is decided at which priority the request runs. Priority: that one. Detail: whose it is, as [`model`] numbers
    /// it.
    Placed = 16,
    /// A distributable thread begins a scheduling segment on this thread; [`SegmentName`](Self::SegmentName) follows at once. Detail
    /// of this and the following events: the lower half of its id, by which records of all hosts belong together.
    SegmentBegin = 17,
    /// It has ended its innermost segment.
    SegmentEnd = 18,
    /// It was let run, by whichever thread decided that.
    DistributableThreadResumed = 19,
    /// It was kept from running: others go first, it waits, or it leaves.
    DistributableThreadSuspended = 20,
    /// It leaves this thread by a call.
    DistributableThreadSent = 21,
    /// It comes to this thread with a request.
    DistributableThreadReceived = 22,
    /// It is back on this thread from a call.
    DistributableThreadReturned = 23,
    /// The thread that this thread carries spawns another one: that one's id.
    DistributableThreadSpawned = 24,
    /// The innermost segment has other parameters from here on.
    SegmentUpdate = 25,
    /// What the segment that has just begun here is called: the record is that [text](Record::text).
    SegmentName = 26,
}

impl Event {
    const ALL: [Self; 26] = [
        Self::CallBegin,
        Self::Encoded,
        Self::Sent,
        Self::ReplyReceived,
        Self::CallEnd,
        Self::Woken,
        Self::Read,
        Self::Served,
        Self::UpcallBegin,
        Self::UpcallEnd,
        Self::ReplySent,
        Self::Finished,
        Self::Accepted,
        Self::Closed,
        Self::PriorityChanged,
        Self::Placed,
        Self::SegmentBegin,
        Self::SegmentEnd,
        Self::DistributableThreadResumed,
        Self::DistributableThreadSuspended,
        Self::DistributableThreadSent,
        Self::DistributableThreadReceived,
        Self::DistributableThreadReturned,
        Self::DistributableThreadSpawned,
        Self::SegmentUpdate,
        Self::SegmentName,
    ];

    fn of(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number).checked_sub(1)?).copied()
    }
}

/// Whose priority a request runs at, as the detail of [`Event::Placed`] says it.
pub mod model {
    /// There is no priority model: that of whichever thread serves it.
    pub const NONE: u64 = 0;
    /// The caller's.
    pub const CLIENT_PROPAGATED: u64 = 1;
    /// The one that the server declares.
    pub const SERVER_DECLARED: u64 = 2;
}

/// One thing that happened on a thread.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Record {
    /// When, by the monotonic clock in nanoseconds; set when it is recorded.
    pub time_ns: u64,
    /// What.
    pub event: Event,
    /// The CORBA priority it is about; `None` where there is none.
    pub priority: Option<i16>,
    /// The request id of GIOP; 0 before it is known.
    pub request: u32,
    /// The connection.
    pub link: Link,
    /// As [`Event`] says.
    pub detail: u64,
}

impl Record {
    /// The words of a record in a file.
    pub const WORDS: usize = 4;
    /// How many octets of a text a record holds.
    pub const TEXT_OCTETS: usize = 20;

    /// A record of that event, with nothing else known.
    pub fn new(event: Event) -> Self {
        Self {
            time_ns: 0,
            event,
            priority: None,
            request: 0,
            link: Link::NONE,
            detail: 0,
        }
    }

    /// Sets the CORBA priority, which is not negative.
    #[must_use]
    pub fn priority(mut self, priority: impl Into<Option<i16>>) -> Self {
        self.priority = priority.into().filter(|priority| *priority >= 0);
        self
    }

    /// Sets the request id.
    #[must_use]
    #[inline]
    pub fn request(mut self, id: u32) -> Self {
        self.request = id;
        self
    }

    /// Sets the connection.
    #[must_use]
    pub fn link(mut self, link: Link) -> Self {
        self.link = link;
        self
    }

    /// Sets the detail.
    #[must_use]
    pub fn detail(mut self, detail: u64) -> Self {
        self.detail = detail;
        self
    }

    /// A record of that event that says a text instead of a request, a link and a detail: as much of it as fits into
    /// [`TEXT_OCTETS`](Self::TEXT_OCTETS).
    ///
    /// ```
    /// use punctual_flight::{Event, Record};
    ///
    /// assert_eq!(Record::of_text(Event::SegmentName, "correlate").text(), "correlate");
    /// ```
    pub fn of_text(event: Event, text: &str) -> Self {
        let mut octets = [0; Self::TEXT_OCTETS];
        let mut end = text.len().min(Self::TEXT_OCTETS);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        octets[..end].copy_from_slice(&text.as_bytes()[..end]);
        let word = |from: usize| u64::from_le_bytes(octets[from..from + 8].try_into().expect("eight octets"));
        Self::new(event)
            .link(Link::from_word(word(0)))
            .detail(word(8))
            .request(u32::from_le_bytes(octets[16..].try_into().expect("four octets")))
    }

    /// The text of a record [of one](Self::of_text); of another record, nothing that makes sense.
    pub fn text(&self) -> String {
        let mut octets = [0; Self::TEXT_OCTETS];
        octets[..8].copy_from_slice(&self.link.to_word().to_le_bytes());
        octets[8..16].copy_from_slice(&self.detail.to_le_bytes());
        octets[16..].copy_from_slice(&self.request.to_le_bytes());
        String::from_utf8_lossy(&octets).trim_end_matches('\0').to_owned()
    }

    pub(crate) fn to_words(self) -> [u64; Self::WORDS] {
        let priority = self.priority.unwrap_or(-1) as u16;
        let what = self.event as u64 | u64::from(priority) << 16 | u64::from(self.request) << 32;
        [self.time_ns, what, self.link.to_word(), self.detail]
    }

    /// `None` for an event that this version does not know.
    pub(crate) fn from_words(words: [u64; Self::WORDS]) -> Option<Self> {
        let [time_ns, what, link, detail] = words;
        let priority = (what >> 16) as u16 as i16;
        Some(Self {
            time_ns,
            event: Event::of(what as u8)?,
            priority: (priority >= 0).then_some(priority),
            request: (what >> 32) as u32,
            link: Link::from_word(link),
            detail,
        })
    }
}

/// A number for the name of an operation, the same in every process (FNV-1a).
pub fn operation_id(name: &str) -> u64 {
    fnv(name.as_bytes())
}

pub(crate) fn fnv(octets: &[u8]) -> u64 {
    octets.iter().fold(0xcbf2_9ce4_8422_2325, |hash, octet| {
        (hash ^ u64::from(*octet)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_hold_every_field() {
        for event in Event::ALL {
            for priority in [None, Some(0), Some(i16::MAX)] {
                let record = Record {
                    time_ns: u64::MAX,
                    detail: 0x0123_4567_89ab_cdef,
                    ..Record::new(event)
                        .priority(priority)
                        .request(u32::MAX)
                        .link(Link::of_ports(1, 65_535))
                };
                assert_eq!(Record::from_words(record.to_words()), Some(record));
            }
        }
    }

    #[test]
    fn a_text_is_cut_where_a_letter_begins() {
        let text = |text| {
            let words = Record::of_text(Event::SegmentName, text).to_words();
            Record::from_words(words).unwrap().text()
        };
        for whole in ["", "track", "twenty octets, whole"] {
            assert_eq!(text(whole), whole);
        }
        assert_eq!(text("twenty-one octets: cut"), "twenty-one octets: c");
        assert_eq!(text("nineteen octets, rü"), "nineteen octets, rü");
        assert_eq!(text("eighteen octets, rrü"), "eighteen octets, rr");
    }

    #[test]
    fn an_unknown_event_is_no_record() {
        assert_eq!(Record::from_words([1, 0, 0, 0]), None);
        assert_eq!(Record::from_words([1, Event::ALL.len() as u64 + 1, 0, 0]), None);
    }

    #[test]
    fn operations_differ() {
        assert_eq!(operation_id(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(operation_id("a"), 0xaf63_dc4c_8601_ec8c);
    }
}
