//! The receiving half of a connection, in steps 3 and 5 of a call: octets in, events out.

use alloc::vec::Vec;
use core::mem;
use std::time::Instant;

use punctual_cdr::{CdrError, CharSet, CodeSets};

use super::{
    ConnectionLimits, Event, ReceivedReply, Refusal, Refused, ReplyBody, ReplyContent, Role, State,
    buffer::{ReceiveBuffer, needed, next_message},
    incomplete::Incomplete,
    reassembly::FragmentAssembler,
    request_id::awaited_request,
};
use crate::{
    BI_DIR_IIOP, CODE_SETS, HeaderError, ListenPoint, LocateReplyHeader, MessageHeader, MessageType,
    ReplyStatus, RequestHeader, Version, char_set_from_id, decode_cancel_request, decode_code_sets,
    decode_listen_points, reply::decode_reply_outcome, wide_char_set_from_id,
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
    code_sets: Option<CodeSets>,
    offer: Offer,
    /// The contexts of requests are of interest: no code set is negotiated, or an offer is awaited.
    watches_contexts: bool,
}

/// Whether the peer may make the connection bidirectional, and for which addresses it has offered that.
#[derive(Debug)]
enum Offer {
    Unwanted,
    Awaited,
    Made(Vec<ListenPoint>),
}

impl ReceiveHalf {
    /// Creates the half of a connection over which nothing has been received.
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
            code_sets: None,
            offer: Offer::Unwanted,
            watches_contexts: true,
        }
    }

    /// Sets the code set of `char` and `string` as already negotiated.
    #[must_use]
    pub fn with_char_set(self, char_set: CharSet) -> Self {
        Self {
            watches_contexts: matches!(self.offer, Offer::Awaited),
            code_sets: Some(char_set.into()),
            ..self
        }
    }

    /// Reports an [`Event::BidirectionalOffer`] for the first request of GIOP 1.2, unfragmented, that makes
    /// one (CORBA 3.3 part 2, 9.8.2).
    #[must_use]
    pub fn awaiting_bidirectional_offer(self) -> Self {
        Self {
            offer: Offer::Awaited,
            watches_contexts: true,
            ..self
        }
    }

    /// Returns the addresses of the offer that has been reported, at most 16; empty without one.
    pub fn listen_points(&self) -> &[ListenPoint] {
        match &self.offer {
            Offer::Made(points) => points,
            Offer::Unwanted | Offer::Awaited => &[],
        }
    }

    /// Accepts the offer: from now on, replies may arrive, too.
    pub fn accept_bidirectional(&mut self) {
        self.role = Role::Both;
    }

    /// Returns the state of this half.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Returns the code set of `char` and `string`: ISO-8859-1 until a request has announced another.
    pub fn char_set(&self) -> CharSet {
        self.code_sets().char
    }

    /// Returns the code sets of text and wide text: ISO-8859-1 and UTF-16 until a request has announced
    /// others.
    pub fn code_sets(&self) -> CodeSets {
        self.code_sets.unwrap_or_else(|| CharSet::Latin1.into())
    }

    /// Returns the space for octets from the stream: at least one octet. It grows with the received octets,
    /// up to the message size; at most 64 KiB at a time.
    #[inline(always)]
    pub fn space(&mut self) -> &mut [u8] {
        if self.buffer.is_fresh() {
            return self.buffer.all();
        }
        let needed = needed(self.buffer.received(), self.limits.max_message_size);
        self.buffer.provide(needed)
    }

    /// Returns the octets that have arrived behind the message of the last event.
    pub fn unread(&self) -> &[u8] {
        &self.buffer.received()[self.current..]
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
    /// Examines one message at most. The message of the previous event is gone then, unless it was
    /// [taken](Self::take). `now` is called if a message is incomplete whose time is limited, and not
    /// otherwise.
    // Two callers in the product, each on the path of a call.
    #[inline(always)]
    pub fn poll(&mut self, now: impl Fn() -> Instant) -> Result<Option<Event>, Refused> {
        self.discard_current();
        let received = self.buffer.received();
        let count = received.len();
        if count == 0 || self.state == State::Closed {
            return Ok(None);
        }
        let header = match next_message(received, self.limits.max_message_size) {
            Ok(Some(header)) => header,
            Ok(None) => return self.poll_rest(&now),
            Err(error) => return Err(self.refuse(error.into(), None)),
        };
        self.current = header.total_size();
        self.incomplete.end_message();
        if self.current < count {
            self.watch_rest(&now);
        }
        if header.more_fragments || header.message_type == MessageType::Fragment {
            return self.poll_part(&header, &now);
        }
        match header.message_type {
            // The buffer begins with the message: cheaper than `message()`.
            MessageType::Reply => self.reply(header, decode_reply_outcome(self.buffer.received(), &header)),
            MessageType::Request => self.request(header),
            _ => self.rare_event(header, &now),
        }
    }

    /// Returns the octets of the message of the last event; empty if it has none.
    #[inline]
    pub fn message(&self) -> &[u8] {
        match &self.assembled {
            Some(message) => message,
            None => self.buffer.first(self.current),
        }
    }

    /// Returns the positions of later fragments of GIOP 1.1 in that message, for `Decoder::with_fragments`.
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
    #[inline]
    pub fn take(&mut self, message: &mut Vec<u8>, fragment_starts: &mut Vec<usize>) {
        fragment_starts.clear();
        if self.assembled.is_some() {
            self.take_assembled(message, fragment_starts);
        } else {
            self.buffer.take(mem::take(&mut self.current), message);
        }
    }

    #[cold]
    fn take_assembled(&mut self, message: &mut Vec<u8>, fragment_starts: &mut Vec<usize>) {
        let Some(mut assembled) = self.assembled.take() else {
            return;
        };
        // The connection gets no more memory back than it gives.
        if message.capacity() > assembled.capacity() {
            message.clear();
            message.extend_from_slice(&assembled);
        } else {
            mem::swap(&mut assembled, message);
        }
        fragment_starts.extend_from_slice(self.fragments.starts());
        self.fragments.recycle(assembled);
    }

    /// Returns whether [`Self::poll`] will return an event, or refuse something, without further octets.
    #[inline]
    pub fn has_message(&self) -> bool {
        self.buffer.received().len() > self.current
            && self.state != State::Closed
            && !matches!(self.frame_rest(), Ok(None))
    }

    /// Returns whether nothing of a further message has been received.
    pub fn is_idle(&self) -> bool {
        self.buffer.received().len() == self.current && self.incomplete.since().is_none()
    }

    /// Returns since when the oldest incomplete message has been incomplete.
    /// `None` also without a limit on that time.
    pub fn incomplete_since(&self) -> Option<Instant> {
        self.incomplete.since()
    }

    /// Returns the time to call [`Self::handle_timeout`], unless messages become complete before.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.incomplete
            .since()?
            .checked_add(self.limits.message_completion?)
    }

    /// Returns the memory in octets that it holds beyond that of a new connection: messages that are not
    /// complete, and what is kept for further ones.
    pub fn held(&self) -> usize {
        let assembled = self.assembled.as_ref().map_or(0, Vec::capacity);
        self.buffer.extra() + self.fragments.held() + assembled
    }

    /// Returns whether [`Self::held`] may be more than 0, or a message is not complete: its time and memory
    /// must be watched.
    #[inline(always)]
    pub fn needs_watching(&self) -> bool {
        self.incomplete.has_message() || self.buffer.is_large() || self.fragments.is_used()
    }

    /// Gives back the memory that is kept for further messages and holds none now.
    pub fn release(&mut self) {
        self.buffer.release();
        self.fragments.release();
    }

    /// The stream is closed: frees what has been received.
    pub fn end(&mut self) {
        self.state = State::Closed;
        self.current = 0;
        self.assembled = None;
        self.buffer = ReceiveBuffer::new();
        self.fragments = FragmentAssembler::new(self.limits);
        self.incomplete = Incomplete::default();
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

    /// Waits for the rest of a message, which may arrive octet by octet.
    #[cold]
    fn poll_rest(&mut self, now: &impl Fn() -> Instant) -> Result<Option<Event>, Refused> {
        self.incomplete.start_message(&self.limits, now);
        self.check_time(now).map(|()| None)
    }

    /// Keeps part of a fragmented message; the last part makes it whole.
    #[cold]
    #[inline(never)]
    fn poll_part(
        &mut self,
        header: &MessageHeader,
        now: &impl Fn() -> Instant,
    ) -> Result<Option<Event>, Refused> {
        if !self.role.accepts(header.message_type) {
            return Err(self.not_permitted(header));
        }
        let part = self.buffer.first(self.current);
        let whole = match self.fragments.push(header, part) {
            Ok(whole) => whole,
            Err(error) => return Err(self.refuse(error.into(), Some(header.version))),
        };
        self.watch_fragments(now);
        let Some(message) = whole else {
            // A peer may send further parts forever.
            self.check_time(now)?;
            return Ok(Some(Event::Progress));
        };
        self.buffer.discard(mem::take(&mut self.current));
        let whole = MessageHeader::parse(&message, self.limits.max_message_size);
        self.assembled = Some(message);
        match whole {
            Ok(whole) => match whole.message_type {
                MessageType::Reply => self.reply(whole, decode_reply_outcome(self.message(), &whole)),
                MessageType::Request => self.request(whole),
                _ => self.rare_event(whole, now),
            },
            Err(error) => Err(self.refuse(error.into(), Some(header.version))),
        }
    }

    #[inline(always)]
    fn reply(
        &mut self,
        header: MessageHeader,
        outcome: Result<(u32, ReplyStatus, usize), CdrError>,
    ) -> Result<Option<Event>, Refused> {
        if self.role == Role::Server {
            return Err(self.not_permitted(&header));
        }
        match outcome {
            Ok((request_id, status, offset)) => Ok(Some(Event::Reply(ReceivedReply {
                header,
                request_id,
                content: ReplyContent::Reply(ReplyBody { status, offset }),
            }))),
            Err(error) => Err(self.malformed(&header, error)),
        }
    }

    #[inline(always)]
    fn request(&mut self, header: MessageHeader) -> Result<Option<Event>, Refused> {
        if self.role == Role::Client {
            return Err(self.not_permitted(&header));
        }
        if self.state == State::Draining {
            return Ok(Some(Event::Progress));
        }
        if self.watches_contexts {
            match self.examine_contexts(&header) {
                Ok(false) => {}
                Ok(true) => {
                    // The next poll finds the request again.
                    self.current = 0;
                    return Ok(Some(Event::BidirectionalOffer));
                }
                Err(error) => return Err(self.malformed(&header, error)),
            }
        }
        Ok(Some(Event::Request(header)))
    }

    /// Returns the event of a whole message that is neither a Request nor a Reply.
    #[inline(never)]
    fn rare_event(
        &mut self,
        header: MessageHeader,
        now: &impl Fn() -> Instant,
    ) -> Result<Option<Event>, Refused> {
        if !self.role.accepts(header.message_type) {
            return Err(self.not_permitted(&header));
        }
        Ok(Some(match header.message_type {
            MessageType::LocateRequest if self.state == State::Draining => Event::Progress,
            MessageType::LocateRequest => Event::LocateRequest(header),
            MessageType::LocateReply => match LocateReplyHeader::decode(self.message(), &header) {
                Ok(reply) => Event::Reply(ReceivedReply {
                    header,
                    request_id: reply.request_id,
                    content: ReplyContent::LocateReply,
                }),
                Err(error) => return Err(self.malformed(&header, error)),
            },
            MessageType::CancelRequest if self.role == Role::Client => Event::Progress,
            MessageType::CancelRequest => match decode_cancel_request(self.message(), &header) {
                Ok(request_id) => {
                    self.fragments.cancel(request_id);
                    self.watch_fragments(now);
                    Event::Cancelled(request_id)
                }
                Err(error) => return Err(self.malformed(&header, error)),
            },
            MessageType::CloseConnection => {
                self.state = State::Closed;
                Event::CloseConnection
            }
            MessageType::MessageError => {
                self.state = State::Closed;
                Event::MessageError
            }
            // Decided before.
            MessageType::Request | MessageType::Reply | MessageType::Fragment => Event::Progress,
        }))
    }

    /// Takes the code sets from the first request that announces them (CORBA 3.3 part 2, 7.10.2.5), and the
    /// addresses of an awaited offer. `true`: one has been made.
    #[cold]
    fn examine_contexts(&mut self, header: &MessageHeader) -> Result<bool, CdrError> {
        // The receiver of a request that cannot be decoded answers it as such.
        let Ok((request, _)) = RequestHeader::decode(self.message(), header) else {
            return Ok(false);
        };
        let [code_sets, points] = [CODE_SETS, BI_DIR_IIOP].map(|id| request.contexts.find(id));
        let code_sets = code_sets.map(decode_code_sets).transpose()?;
        // Of a set that this ORB does not have, what is ASCII is understood. Other text fails, and all wide
        // text.
        let code_sets = code_sets.map(|(char_id, wide_char_id)| CodeSets {
            wchar: wide_char_set_from_id(wide_char_id),
            char: match char_id {
                // None is as if there were no announcement.
                0 => CharSet::Latin1,
                id => char_set_from_id(id).unwrap_or(CharSet::Ascii),
            },
        });
        let may_offer = matches!(self.offer, Offer::Awaited)
            && header.version >= Version::V1_2
            && self.assembled.is_none();
        let offered = points
            .filter(|_| may_offer)
            .map(decode_listen_points)
            .transpose()?;
        self.code_sets = self.code_sets.or(code_sets);
        let is_made = offered.is_some();
        if let Some(points) = offered {
            self.offer = Offer::Made(points);
        }
        self.watches_contexts = self.code_sets.is_none() || matches!(self.offer, Offer::Awaited);
        Ok(is_made)
    }

    #[inline(always)]
    fn discard_current(&mut self) {
        if self.current > 0 {
            self.buffer.discard(mem::take(&mut self.current));
        } else if self.assembled.is_some() {
            self.recycle_assembled();
        }
    }

    #[cold]
    fn recycle_assembled(&mut self) {
        if let Some(message) = self.assembled.take() {
            self.fragments.recycle(message);
        }
    }

    /// Decodes the header of the message that follows the current one in the buffer.
    #[inline(never)]
    fn frame_rest(&self) -> Result<Option<MessageHeader>, HeaderError> {
        let rest = &self.buffer.received()[self.current..];
        next_message(rest, self.limits.max_message_size)
    }

    /// Notes the start of a message behind the current one: its sender may never send the rest.
    #[cold]
    fn watch_rest(&mut self, now: &impl Fn() -> Instant) {
        if matches!(self.frame_rest(), Ok(None)) {
            self.incomplete.start_message(&self.limits, now);
        }
    }

    fn check_time(&mut self, now: &impl Fn() -> Instant) -> Result<(), Refused> {
        match self.poll_timeout() {
            Some(_) => self.handle_timeout(now()),
            None => Ok(()),
        }
    }

    fn watch_fragments(&mut self, now: &impl Fn() -> Instant) {
        self.incomplete
            .watch_fragments(self.fragments.oldest(), &self.limits, now);
    }

    #[cold]
    fn not_permitted(&mut self, header: &MessageHeader) -> Refused {
        let reason = Refusal::NotPermitted {
            role: self.role,
            message_type: header.message_type,
        };
        self.refuse(reason, Some(header.version))
    }

    #[cold]
    fn malformed(&mut self, header: &MessageHeader, error: CdrError) -> Refused {
        let reason = Refusal::Malformed {
            message_type: header.message_type,
            error,
        };
        self.refuse(reason, Some(header.version))
    }

    #[cold]
    fn refuse(&mut self, reason: Refusal, version: Option<Version>) -> Refused {
        let request_id = self.oversized_request(reason);
        self.state = State::Closed;
        let version = version.unwrap_or(match *self.buffer.received() {
            [b'G', b'I', b'O', b'P', major, minor, ..] => {
                Version { major, minor }.negotiated().unwrap_or(Version::V1_2)
            }
            _ => Version::V1_0,
        });
        Refused {
            reason,
            version,
            request_id,
        }
    }

    /// Returns the id of the request at the start of the buffer, or of which a fragment is there, if it
    /// exceeds the limit and expects a reply. After CloseConnection, nothing is answered.
    fn oversized_request(&self, reason: Refusal) -> Option<u32> {
        if !reason.is_too_large() || self.role == Role::Client || self.state != State::Open {
            return None;
        }
        let received = self.buffer.received();
        let header = MessageHeader::parse(received, self.limits.max_message_size).ok();
        let begun = header.and_then(|header| self.fragments.start_of(&header, received));
        awaited_request(begun.unwrap_or(received))
    }
}
