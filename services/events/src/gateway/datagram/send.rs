//! Events of a channel, sent as datagrams.

use punctual::Poa;
use punctual_cdr::Endian;
use punctual_os::PiMutex;

use super::{Datagrams, header, header::Header, missing};
use crate::{
    EventChannel, EventError, Filter, RemoteChannel,
    gateway::{Gateway, Sent, encode_set},
    rtec::rtec_event_comm::Event,
};

impl EventChannel {
    /// Sends the events that a filter accepts as datagrams, with their `ttl` decremented; those that came
    /// through the same sockets are not sent back. The channel's thread sends, with the lowest priority.
    ///
    /// # Errors
    /// The datagrams have no address to send to, or the channel refuses the filter or another consumer.
    pub fn send_datagrams(&self, filter: &Filter, datagrams: &Datagrams) -> Result<Gateway, EventError> {
        let sender = Sender::new(datagrams)?;
        self.export(filter, "datagrams", move |event| sender.send(event))
    }
}

impl RemoteChannel {
    /// Like [`EventChannel::send_datagrams`], for a channel of another process. An object of `poa` receives
    /// its events, on the threads of its pool, which send.
    ///
    /// # Errors
    /// The datagrams have no address to send to, the channel refuses, or a call fails.
    pub fn send_datagrams(
        &self,
        poa: &Poa,
        filter: &Filter,
        datagrams: &Datagrams,
    ) -> Result<Gateway, EventError> {
        let sender = Sender::new(datagrams)?;
        self.export(poa, filter, "datagrams", move |event| sender.send(event))
    }
}

struct Sender {
    datagrams: Datagrams,
    buffers: PiMutex<Buffers>,
}

#[derive(Default)]
struct Buffers {
    message: Vec<u8>,
    datagram: Vec<u8>,
}

impl Sender {
    fn new(datagrams: &Datagrams) -> Result<Self, EventError> {
        let _ = datagrams.shared.sending.as_ref().ok_or_else(|| missing("send"))?;
        Ok(Self {
            datagrams: datagrams.clone(),
            buffers: PiMutex::default(),
        })
    }

    fn send(&self, event: &Event) -> Sent {
        if self.datagrams.has_seen(event) {
            return Sent::Returned;
        }
        match self.send_all(event, &mut self.buffers.lock()) {
            Some(()) => Sent::Forwarded,
            None => Sent::Lost,
        }
    }

    /// Sends all fragments of an event. `None`: it is too long, or the system refuses.
    fn send_all(&self, event: &Event, buffers: &mut Buffers) -> Option<()> {
        let Buffers { message, datagram } = buffers;
        let (socket, peer) = self.datagrams.shared.sending.as_ref()?;
        let limits = &self.datagrams.limits;
        message.clear();
        encode_set(event, message)?;
        if message.len() > limits.message {
            return None;
        }
        for fragment in fragments(message, limits.datagram, self.datagrams.next_request()) {
            let (header, content) = fragment?;
            datagram.clear();
            datagram.extend_from_slice(&header.encode());
            datagram.extend_from_slice(content);
            socket.send_to(datagram, peer).ok()?;
        }
        Some(())
    }
}

impl Datagrams {
    /// Returns whether an event came through these sockets, or went there, before.
    pub(super) fn has_seen(&self, event: &Event) -> bool {
        !self.is_foreign && self.shared.seen.is_known(event)
    }
}

/// Byte order in which messages are sent.
const ENDIAN: Endian = Endian::NATIVE;

/// Returns the fragments of a message in datagrams of this length.
pub(super) fn fragments(
    message: &[u8],
    datagram: usize,
    request: u32,
) -> impl Iterator<Item = Option<(Header, &[u8])>> {
    let room = datagram - header::LENGTH;
    let number = message.len().div_ceil(room);
    message.chunks(room).enumerate().map(move |(index, content)| {
        let header = Header {
            is_little_endian: ENDIAN == Endian::Little,
            request,
            message_size: u32::try_from(message.len()).ok()?,
            size: u32::try_from(content.len()).ok()?,
            offset: u32::try_from(index * room).ok()?,
            fragment: u32::try_from(index).ok()?,
            fragments: u32::try_from(number).ok()?,
        };
        Some((header, content))
    })
}
