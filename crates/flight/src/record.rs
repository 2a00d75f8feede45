//! Records and their events.

use crate::Link;

/// Type of a record. The number is its value in files.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[repr(u8)]
#[non_exhaustive]
pub enum Event {
    /// Client: the application calls. Priority: that of the thread. Detail: the operation.
    CallBegin = 1,
    /// Client: the request is encoded. From here on, the records of the call have its request id and link.
    Encoded = 2,
    /// Client: the system call that sent the last octet of the request has returned.
    Sent = 3,
    /// Client: the reply has been read.
    ReplyReceived = 4,
    /// Client: the call returns to the application. Detail: 0, or 1 for an exception.
    CallEnd = 5,
    /// Server: a lane thread has left its poller. Detail: the token of the event that woke it.
    Woken = 6,
    /// Server: a whole message has been read. Detail: its size in octets.
    Read = 7,
    /// Server: the execution of the request begins. Priority: the lane's. Detail: the operation.
    Served = 8,
    /// The upcall begins, for the request served last or, without one, for a call within the process.
    /// Priority: the one that the servant sees.
    UpcallBegin = 9,
    /// The upcall has ended.
    UpcallEnd = 10,
    /// Server: the system call that sent the reply has returned.
    ReplySent = 11,
    /// Server: a request or another message without a reply has been processed.
    Finished = 12,
    /// Server: a connection has been accepted.
    Accepted = 13,
    /// Either side: a connection has been closed.
    Closed = 14,
    /// The thread has changed its own priority. Priority: the CORBA one. Detail: the native one.
    PriorityChanged = 15,
    /// Server: the priority of the request has been determined. Priority: that priority. Detail: its origin,
    /// a constant of [`model`].
    Placed = 16,
    /// A distributable thread begins a scheduling segment on this thread; [`SegmentName`](Self::SegmentName)
    /// follows. Detail of this and the following events: the lower half of its id, which joins the records of
    /// all hosts.
    SegmentBegin = 17,
    /// The distributable thread has ended its innermost segment.
    SegmentEnd = 18,
    /// The distributable thread was resumed; recorded by the thread that decided it.
    DistributableThreadResumed = 19,
    /// The distributable thread was suspended: others run first, it waits, or it leaves.
    DistributableThreadSuspended = 20,
    /// The distributable thread leaves this thread with a call.
    DistributableThreadSent = 21,
    /// The distributable thread arrives at this thread with a request.
    DistributableThreadReceived = 22,
    /// The distributable thread has returned to this thread from a call.
    DistributableThreadReturned = 23,
    /// The distributable thread of this thread spawns another one. Detail: the id of the new one.
    DistributableThreadSpawned = 24,
    /// The innermost segment has new parameters.
    SegmentUpdate = 25,
    /// Name of the segment that has just begun on this thread: the record is a [text](Record::text).
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

/// Origin of the priority of a request: the detail of [`Event::Placed`].
pub mod model {
    /// No priority model: the priority of the serving thread.
    pub const NONE: u64 = 0;
    /// The priority of the caller.
    pub const CLIENT_PROPAGATED: u64 = 1;
    /// The priority declared by the server.
    pub const SERVER_DECLARED: u64 = 2;
}

/// An event on a thread.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Record {
    /// Time of the monotonic clock in nanoseconds; set when it is recorded.
    pub time_ns: u64,
    /// Type of the record.
    pub event: Event,
    /// CORBA priority, if the event has one.
    pub priority: Option<i16>,
    /// GIOP request id; 0 before it is known.
    pub request: u32,
    /// Connection.
    pub link: Link,
    /// Detail, documented at [`Event`].
    pub detail: u64,
}

impl Record {
    /// Size of a record in a file in words.
    pub const WORDS: usize = 4;
    /// Maximal size of a text in octets.
    pub const TEXT_OCTETS: usize = 20;

    /// Creates a record of this event without further data.
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

    /// Sets the CORBA priority, unless it is negative.
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

    /// Creates a record of this event with a text instead of request, link and detail, truncated to
    /// [`TEXT_OCTETS`](Self::TEXT_OCTETS).
    ///
    /// ```
    /// use punctual_flight::{Event, Record};
    ///
    /// assert_eq!(Record::of_text(Event::SegmentName, "correlate").text(), "correlate");
    /// ```
    pub fn of_text(event: Event, text: &str) -> Self {
        let mut end = text.len().min(Self::TEXT_OCTETS);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let mut octets = text.bytes().take(end);
        let mut word = || u64::from_le_bytes(std::array::from_fn(|_| octets.next().unwrap_or(0)));
        let record = Self::new(event).link(Link::from_word(word())).detail(word());
        // At most four octets are left.
        record.request(word() as u32)
    }

    /// Returns the text of a record [with one](Self::of_text); meaningless for other records.
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

    /// Decodes a record; `None` for an unknown event.
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
    fn texts_are_truncated_at_character_boundaries() {
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
    fn unknown_events_are_refused() {
        assert_eq!(Record::from_words([1, 0, 0, 0]), None);
        assert_eq!(Record::from_words([1, Event::ALL.len() as u64 + 1, 0, 0]), None);
    }
}
