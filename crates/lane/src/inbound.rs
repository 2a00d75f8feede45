//! Receive side of a connection, under its lock.

use std::{io, mem, time::Instant};

use punctual_cdr::CharSet;
use punctual_giop::{
    Assembled, CODE_SETS, FragmentAssembler, FragmentLimits, Framing, MessageHeader, MessageType,
    RequestHeader, Version, char_set_from_id, decode_cancel_request, decode_code_sets,
};
use punctual_transport::Stream;

use crate::{LaneLimits, MessageError, receive_buffer::ReceiveBuffer};

/// What has been received over a connection and not yet been handed on.
pub(crate) struct Inbound {
    buffer: ReceiveBuffer,
    /// The socket had nothing more when it was last read; whatever comes later wakes a thread of the lane.
    pub(crate) drained: bool,
    /// Since when the start of a message, or of a fragment, has been waiting for the rest of it.
    begun: Option<Instant>,
    /// Which fragmented message is the oldest one, and since when: other messages may come in between for ever.
    fragmented: Option<(u64, Instant)>,
    fragments: FragmentAssembler,
    max_message_size: usize,
    /// Code set that the peer has announced.
    char_set: Option<CharSet>,
    /// A message has arrived since this was last cleared.
    pub(crate) used: bool,
}

/// What [`Inbound::next`] found.
pub(crate) enum Next {
    /// A whole message, in the caller's buffer.
    Message(MessageHeader),
    /// The client has taken this request back.
    Cancelled(u32),
    /// Nothing, or part of a message; the rest will wake a thread.
    Nothing,
    /// The peer closed the connection, or it broke.
    Closed,
    /// What came is not GIOP, or exceeds a limit.
    Unacceptable,
}

/// What stood at the start of the buffer.
enum Taken {
    Message(MessageHeader),
    Cancelled(u32),
    Part,
}

impl Inbound {
    pub(crate) fn new(limits: &LaneLimits) -> Self {
        let fragments = FragmentLimits {
            max_message_size: limits.max_message_size,
            max_pending: limits.max_fragmented_messages,
        };
        Self {
            buffer: ReceiveBuffer::new(limits.max_message_size),
            drained: true,
            begun: None,
            fragmented: None,
            fragments: FragmentAssembler::new(fragments),
            max_message_size: limits.max_message_size,
            char_set: None,
            used: true,
        }
    }

    /// When the message that is not complete was begun.
    pub(crate) fn begun(&self) -> Option<Instant> {
        let fragmented = self.fragmented.map(|(_, since)| since);
        self.begun.into_iter().chain(fragmented).min()
    }

    /// The version in which to reject what is there: its own, or the highest one where that is unknown to us.
    pub(crate) fn peer_version(&self) -> Version {
        match *self.buffer.received() {
            [b'G', b'I', b'O', b'P', major, minor, ..] => {
                Version { major, minor }.negotiated().unwrap_or(Version::V1_2)
            }
            _ => Version::V1_0,
        }
    }

    /// Whether there is, or may be, something for [`Self::next`] without waiting.
    pub(crate) fn has_more(&self) -> bool {
        !self.drained || self.has_whole_message()
    }

    /// Whether nothing waits for the rest of a message.
    pub(crate) fn is_empty(&self) -> bool {
        self.buffer.received().is_empty() && self.begun().is_none()
    }

    /// Whether [`Self::next`] finds a message without reading.
    pub(crate) fn has_whole_message(&self) -> bool {
        matches!(self.buffer.framing(), Ok(Framing::Complete(_)))
    }

    /// Puts the next message into `message`, whose memory is exchanged for it, and into `fragment_starts` where fragments of
    /// GIOP 1.1 begin in it; reads at most once where one read suffices.
    pub(crate) fn next(
        &mut self,
        stream: &dyn Stream,
        message: &mut Vec<u8>,
        fragment_starts: &mut Vec<usize>,
    ) -> Next {
        fragment_starts.clear();
        loop {
            match self.buffer.framing() {
                Ok(Framing::Complete(header)) => {
                    let complete = self.take(header, message, fragment_starts);
                    self.begun = None;
                    self.watch_fragments();
                    match complete {
                        Ok(Taken::Message(header)) => return Next::Message(header),
                        Ok(Taken::Cancelled(id)) => return Next::Cancelled(id),
                        Ok(Taken::Part) => {}
                        Err(()) => return Next::Unacceptable,
                    }
                }
                Ok(Framing::Partial { needed }) => {
                    if self.drained {
                        if !self.buffer.received().is_empty() && self.begun.is_none() {
                            self.begun = Some(Instant::now());
                        }
                        return Next::Nothing;
                    }
                    match self.buffer.read(stream, needed) {
                        Ok((0, _)) => return Next::Closed,
                        // Less than there was room for: that was all, and the next octet wakes a thread.
                        Ok((_, had_room)) => self.drained = had_room,
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.drained = true,
                        Err(_) => return Next::Closed,
                    }
                }
                Err(_) => return Next::Unacceptable,
            }
        }
    }

    /// Code set of `char` and `string` for this message: ISO-8859-1 until a request has announced another one.
    ///
    /// Takes the announcement from the first request that has one, before any later message is read.
    pub(crate) fn negotiate(
        &mut self,
        message: &[u8],
        header: &MessageHeader,
    ) -> Result<CharSet, MessageError> {
        if let Some(char_set) = self.char_set {
            return Ok(char_set);
        }
        if header.message_type == MessageType::Request
            // A request with a malformed header is rejected where it is handled.
            && let Ok((request, _)) = RequestHeader::decode(&message[..header.total_size()], header)
            && let Some(data) = request.contexts.find(CODE_SETS)
        {
            let (char_id, _) = decode_code_sets(data).map_err(|_| MessageError)?;
            // An unknown code set fails only when text does not convert; TAO accepts it until then, too.
            let char_set = char_set_from_id(char_id).unwrap_or(CharSet::Latin1);
            self.char_set = Some(char_set);
            return Ok(char_set);
        }
        Ok(CharSet::Latin1)
    }

    fn watch_fragments(&mut self) {
        let oldest = self.fragments.oldest();
        if oldest != self.fragmented.map(|(number, _)| number) {
            self.fragmented = oldest.map(|number| (number, Instant::now()));
        }
    }

    /// Moves the message at the start of the buffer to `message`.
    fn take(
        &mut self,
        header: MessageHeader,
        message: &mut Vec<u8>,
        fragment_starts: &mut Vec<usize>,
    ) -> Result<Taken, ()> {
        let length = header.total_size();
        if header.message_type == MessageType::CancelRequest {
            // Of what is served nothing can be taken back; of what waits or is not complete it can.
            let id = decode_cancel_request(&self.buffer.received()[..length], &header).map_err(drop)?;
            self.fragments.cancel(id);
            self.buffer.discard(length);
            return Ok(Taken::Cancelled(id));
        }
        match self
            .fragments
            .push(&header, &self.buffer.received()[..length])
            .map_err(drop)?
        {
            Assembled::Whole => {
                self.buffer.take(length, message);
                Ok(Taken::Message(header))
            }
            Assembled::Pending => {
                self.buffer.discard(length);
                Ok(Taken::Part)
            }
            Assembled::Complete(mut assembled) => {
                self.buffer.discard(length);
                let header = MessageHeader::parse(&assembled, self.max_message_size).map_err(drop)?;
                mem::swap(&mut assembled, message);
                fragment_starts.extend_from_slice(self.fragments.starts());
                self.fragments.recycle(assembled);
                Ok(Taken::Message(header))
            }
        }
    }
}
