//! The receiving half: octets in, events out.

use alloc::vec::Vec;
use core::mem;
use std::time::Instant;

use punctual_cdr::{CdrError, CharSet};

use super::{
    ConnectionLimits, Event, ReceivedReply, Refusal, Refused, ReplyBody, Role, State,
    buffer::ReceiveBuffer,
    fragment::FragmentAssembler,
    framing::{Framing, next_message},
    incomplete::Incomplete,
};
use crate::{
    CODE_SETS, HeaderError, LocateReplyHeader, MessageHeader, MessageType, ReplyHeader, RequestHeader,
    Version, char_set_from_id, decode_cancel_request, decode_code_sets,
};

/// The receiving half of a connection: see [`super::Connection`].
#[derive(Debug)]
pub struct ReceiveHalf {
    role: Role,
    state: State,
    limits: ConnectionLimits,
    buffer: ReceiveBuffer,
    /// Octets at the start of the buffer that belong to the message of the last event.
    current: usize,
    /// The message of the last event, if it came in fragments.
    assembled: Option<Vec<u8>>,
    fragments: FragmentAssembler,
    incomplete: Incomplete,
    char_set: Option<CharSet>,
}

impl ReceiveHalf {
    /// The half of a connection over which nothing has been received.
    pub fn new(role: Role, limits: ConnectionLimits) -> Self {
        Self {
            role,
            state: State::Open,
            limits,
            buffer: ReceiveBuffer::new(),
            current: 0,
            assembled: None,
            fragments: FragmentAssembler::new(limits),
            incomplete: Incomplete::default(),
            char_set: None,
        }
    }

    /// With the code set of `char` and `string` already negotiated.
    #[must_use]
    pub fn with_char_set(self, char_set: CharSet) -> Self {
        Self {
            char_set: Some(char_set),
            ..self
        }
    }

    /// State of this half.
    pub const fn state(&self) -> State {
        self.state
    }

    /// The code set of `char` and `string`: ISO-8859-1 until a request has announced another.
    pub fn char_set(&self) -> CharSet {
        self.char_set.unwrap_or(CharSet::Latin1)
    }

    /// Where to read from the stream into: at least one octet. Grows with what has been received, up to the
    /// message size.
    pub fn space(&mut self) -> &mut [u8] {
        if self.buffer.is_full() {
            let needed = match next_message(self.buffer.received(), self.limits.max_message_size) {
                Ok(Framing::Partial { needed }) => needed,
                Ok(Framing::Complete(_)) | Err(_) => usize::MAX,
            };
            self.buffer.grow(needed);
        }
        self.buffer.space()
    }

    /// Adds the octets that have been read into [`Self::space`].
    ///
    /// # Panics
    /// If there was not that much space.
    pub fn received(&mut self, count: usize) {
        self.buffer.add(count);
    }

    /// Returns the next event; `None` if more octets are needed, or the connection is closed.
    ///
    /// Looks at one message at most. The message of the previous event is gone then, unless it was
    /// [taken](Self::take). `now` is called if a message is incomplete whose time is limited, and not
    /// otherwise.
    pub fn poll(&mut self, now: impl Fn() -> Instant) -> Result<Option<Event>, Refused> {
        self.discard_current();
        if self.state == State::Closed {
            return Ok(None);
        }
        let header = match next_message(self.buffer.received(), self.limits.max_message_size) {
            Ok(Framing::Complete(header)) => header,
            Ok(Framing::Partial { .. }) => {
                if !self.buffer.received().is_empty() {
                    self.incomplete.start_message(&self.limits, now);
                }
                return Ok(None);
            }
            Err(error) => return Err(self.refuse(error.into(), None)),
        };
        self.current = header.total_size();
        self.incomplete.end_message();
        let event = self.classify(header, &now);
        if self.current < self.buffer.received().len() {
            self.watch_rest(now);
        }
        event
            .map(Some)
            .map_err(|reason| self.refuse(reason, Some(header.version)))
    }

    /// The octets of the message of the last event; empty if it has none.
    pub fn message(&self) -> &[u8] {
        match &self.assembled {
            Some(message) => message,
            None => &self.buffer.received()[..self.current],
        }
    }

    /// Where later fragments of GIOP 1.1 begin in that message, for `Decoder::with_fragments`.
    pub fn fragment_starts(&self) -> &[usize] {
        match self.assembled {
            Some(_) => self.fragments.starts(),
            None => &[],
        }
    }

    /// Moves the message of the last event, and where its fragments begin, to memory of the caller by
    /// exchanging it.
    ///
    /// `message` may become longer than the message, whose header states its size. No allocation once both
    /// buffers have the size that is needed.
    pub fn take(&mut self, message: &mut Vec<u8>, fragment_starts: &mut Vec<usize>) {
        fragment_starts.clear();
        match self.assembled.take() {
            None => self.buffer.take(mem::take(&mut self.current), message),
            Some(mut assembled) => {
                mem::swap(&mut assembled, message);
                fragment_starts.extend_from_slice(self.fragments.starts());
                self.fragments.recycle(assembled);
            }
        }
    }

    /// Whether [`Self::poll`] will return an event, or refuse something, without further octets.
    pub fn has_message(&self) -> bool {
        self.state != State::Closed && !matches!(self.frame_rest(), Ok(Framing::Partial { .. }))
    }

    /// Whether nothing of a further message has been received.
    pub fn is_idle(&self) -> bool {
        self.buffer.received().len() == self.current && self.incomplete.since().is_none()
    }

    /// Since when a message has been incomplete: the oldest one, if several are. `None` also without a limit
    /// on that time.
    pub fn incomplete_since(&self) -> Option<Instant> {
        self.incomplete.since()
    }

    /// When to call [`Self::handle_timeout`], unless messages become complete before.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.incomplete
            .since()?
            .checked_add(self.limits.message_completion?)
    }

    /// Refuses a message that was not completed in time.
    pub fn handle_timeout(&mut self, now: Instant) -> Result<(), Refused> {
        match (self.poll_timeout(), self.limits.message_completion) {
            (Some(deadline), Some(limit)) if deadline <= now => {
                Err(self.refuse(Refusal::Incomplete(limit), None))
            }
            _ => Ok(()),
        }
    }

    /// This side has sent CloseConnection: requests that arrive from now on are not executed.
    pub fn drain(&mut self) {
        if self.state == State::Open {
            self.state = State::Draining;
        }
    }

    fn classify(&mut self, header: MessageHeader, now: &impl Fn() -> Instant) -> Result<Event, Refusal> {
        let message_type = header.message_type;
        if !self.role.accepts(message_type) {
            return Err(Refusal::NotPermitted {
                role: self.role,
                message_type,
            });
        }
        if header.more_fragments || message_type == MessageType::Fragment {
            return self.assemble(&header, now);
        }
        self.event_of(header, now)
    }

    /// What a whole message reports. `message()` is that message.
    #[inline(always)]
    fn event_of(&mut self, header: MessageHeader, now: &impl Fn() -> Instant) -> Result<Event, Refusal> {
        let malformed = |error: CdrError| Refusal::Malformed {
            message_type: header.message_type,
            error,
        };
        Ok(match header.message_type {
            MessageType::Request | MessageType::LocateRequest if self.state == State::Draining => {
                Event::Progress
            }
            MessageType::Request => {
                if self.char_set.is_none() {
                    self.negotiate(&header).map_err(malformed)?;
                }
                Event::Request(header)
            }
            MessageType::LocateRequest => Event::LocateRequest(header),
            MessageType::Reply => {
                let (reply, offset) = ReplyHeader::decode(self.message(), &header).map_err(malformed)?;
                Event::Reply(ReceivedReply {
                    header,
                    request_id: reply.request_id,
                    body: Some(ReplyBody {
                        status: reply.status,
                        offset,
                    }),
                })
            }
            MessageType::LocateReply => {
                let reply = LocateReplyHeader::decode(self.message(), &header).map_err(malformed)?;
                Event::Reply(ReceivedReply {
                    header,
                    request_id: reply.request_id,
                    body: None,
                })
            }
            MessageType::CancelRequest if self.role == Role::Client => Event::Progress,
            MessageType::CancelRequest => {
                let request_id = decode_cancel_request(self.message(), &header).map_err(malformed)?;
                self.fragments.cancel(request_id);
                self.watch_fragments(now);
                Event::Cancelled(request_id)
            }
            MessageType::CloseConnection => {
                self.state = State::Closed;
                Event::CloseConnection
            }
            MessageType::MessageError => {
                self.state = State::Closed;
                Event::MessageError
            }
            // Reassembled before.
            MessageType::Fragment => Event::Progress,
        })
    }

    /// Keeps part of a fragmented message; the last part makes it whole.
    #[cold]
    #[inline(never)]
    fn assemble(&mut self, header: &MessageHeader, now: &impl Fn() -> Instant) -> Result<Event, Refusal> {
        let part = &self.buffer.received()[..self.current];
        let whole = self.fragments.push(header, part)?;
        self.watch_fragments(now);
        let Some(message) = whole else {
            return Ok(Event::Progress);
        };
        self.buffer.discard(mem::take(&mut self.current));
        let whole = MessageHeader::parse(&message, self.limits.max_message_size);
        self.assembled = Some(message);
        self.event_of(whole?, now)
    }

    /// Takes the code sets from the first request that announces them (CORBA 3.3 part 2, 7.10.2.5).
    #[cold]
    fn negotiate(&mut self, header: &MessageHeader) -> Result<(), CdrError> {
        // The receiver of a request that cannot be decoded answers it as such.
        let Ok((request, _)) = RequestHeader::decode(self.message(), header) else {
            return Ok(());
        };
        if let Some(data) = request.contexts.find(CODE_SETS) {
            let (char_id, _) = decode_code_sets(data)?;
            // Of a set that this ORB does not have, requests fail as soon as text does not convert; TAO does
            // the same.
            self.char_set = Some(char_set_from_id(char_id).unwrap_or(CharSet::Latin1));
        }
        Ok(())
    }

    fn discard_current(&mut self) {
        if self.current > 0 {
            self.buffer.discard(mem::take(&mut self.current));
        }
        if let Some(message) = self.assembled.take() {
            self.fragments.recycle(message);
        }
    }

    /// What follows the current message in the buffer.
    fn frame_rest(&self) -> Result<Framing, HeaderError> {
        let rest = &self.buffer.received()[self.current..];
        next_message(rest, self.limits.max_message_size)
    }

    /// Notes the start of a message behind the current one: its sender may never send the rest.
    #[cold]
    fn watch_rest(&mut self, now: impl Fn() -> Instant) {
        if matches!(self.frame_rest(), Ok(Framing::Partial { .. })) {
            self.incomplete.start_message(&self.limits, now);
        }
    }

    fn watch_fragments(&mut self, now: &impl Fn() -> Instant) {
        self.incomplete
            .watch_fragments(self.fragments.oldest(), &self.limits, now);
    }

    #[cold]
    fn refuse(&mut self, reason: Refusal, version: Option<Version>) -> Refused {
        self.state = State::Closed;
        let version = version.unwrap_or(match *self.buffer.received() {
            [b'G', b'I', b'O', b'P', major, minor, ..] => {
                Version { major, minor }.negotiated().unwrap_or(Version::V1_2)
            }
            _ => Version::V1_0,
        });
        Refused { reason, version }
    }
}
