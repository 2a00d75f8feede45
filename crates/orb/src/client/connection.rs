use std::{
    io,
    time::{Duration, Instant},
};

use punctual_cdr::CharSet;
use punctual_giop::{Assembled, FragmentAssembler, FragmentLimits, Framing, MessageHeader, MessageType};
use punctual_sched::NetworkPriorityMapping;
use punctual_transport::Stream;
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use super::{Endpoint, route::char_set_in_force};
use crate::{network_mark::NetworkMark, orb_core::OrbCore, receive_buffer::ReceiveBuffer};

/// A connection that one thread at a time uses for one call at a time: it blocks in its own `read`.
pub(crate) struct ClientConnection {
    stream: Box<dyn Stream>,
    mark: NetworkMark,
    pub(super) char_set: CharSet,
    /// The code sets were negotiated and the server has not been told yet.
    pub(super) announces_code_sets: bool,
    next_request_id: u32,
    buffer: ReceiveBuffer,
    fragments: FragmentAssembler,
    /// A message put together from fragments, until it is consumed.
    assembled: Option<Vec<u8>>,
    max_message_size: usize,
    /// As last set on the stream.
    timeout: Option<Duration>,
    /// When it was last seen to be open, or used by a oneway call.
    seen_open: Instant,
}

/// From here on the kernel's coarse socket time-out is fine enough.
const COARSE: Duration = Duration::from_millis(50);
const LOOK_AFTER: Duration = Duration::from_secs(1);

impl ClientConnection {
    pub(super) fn open(
        endpoint: &Endpoint,
        core: &OrbCore,
        deadline: Option<Instant>,
    ) -> Result<Self, SystemException> {
        let limits = &core.limits;
        let mut timeout = limits.connect_timeout;
        if let Some(deadline) = deadline {
            timeout = timeout.min(deadline.saturating_duration_since(Instant::now()));
        }
        let stream = endpoint
            .connect(&core.client_protocols, timeout)
            .map_err(|error| match error.kind() {
                io::ErrorKind::TimedOut => failure(
                    SystemExceptionKind::Timeout,
                    Minor::CONNECT_TIMED_OUT,
                    Completion::No,
                ),
                io::ErrorKind::ConnectionRefused => failure(
                    SystemExceptionKind::Transient,
                    Minor::CONNECT_REFUSED,
                    Completion::No,
                ),
                _ => failure(
                    SystemExceptionKind::Transient,
                    Minor::HOST_UNKNOWN,
                    Completion::No,
                ),
            })?;
        let fragments = FragmentLimits {
            max_message_size: limits.max_message_size,
            max_pending: limits.max_fragmented_messages,
        };
        Ok(Self {
            stream,
            mark: NetworkMark::new(&endpoint.properties(&core.client_protocols)),
            char_set: char_set_in_force(endpoint.char_set),
            announces_code_sets: endpoint.char_set.is_some(),
            next_request_id: 0,
            buffer: ReceiveBuffer::new(limits.max_message_size),
            fragments: FragmentAssembler::new(fragments),
            assembled: None,
            max_message_size: limits.max_message_size,
            timeout: None,
            seen_open: Instant::now(),
        })
    }

    /// Whether the peer has closed it, or broken it off, while it was unused.
    ///
    /// For oneway calls, which have no reply to show it and would be lost. Asks the kernel at most once a second: a peer that
    /// closes what is idle waits longer.
    pub(super) fn is_abandoned(&mut self) -> bool {
        let now = Instant::now();
        let unused = now.duration_since(self.seen_open);
        self.seen_open = now;
        // A peer sends nothing unasked but CloseConnection; a late reply is dropped with the connection, and would be anyway.
        unused >= LOOK_AFTER && self.stream.wait_readable(Duration::ZERO).unwrap_or(true)
    }

    /// Says at which priority the next request travels.
    pub(super) fn mark(&self, mapping: &dyn NetworkPriorityMapping, priority: Option<Priority>) {
        self.mark.set(&*self.stream, mapping, priority);
    }

    pub(super) fn new_request_id(&mut self) -> u32 {
        let id = self.next_request_id;
        self.next_request_id = id.wrapping_add(1);
        id
    }

    /// Sets how long the coming writes and reads may take. No system call where it is what it was.
    pub(super) fn set_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        // Below, `receive` waits with the fine timer first; this is its safety net for writes.
        let timeout = timeout.map(|timeout| timeout.max(COARSE));
        if self.timeout != timeout {
            self.stream.set_timeout(timeout)?;
            self.timeout = timeout;
        }
        Ok(())
    }

    /// Sends a whole message. `Completion::No` in the error where not one octet of it has left.
    pub(super) fn send(&mut self, message: &[u8]) -> Result<(), SystemException> {
        let mut sent = 0;
        while sent < message.len() {
            match self.stream.write(&message[sent..]) {
                Ok(count) => sent += count,
                Err(error) => {
                    let completed = if sent == 0 {
                        Completion::No
                    } else {
                        Completion::Maybe
                    };
                    return Err(if error.kind() == io::ErrorKind::WouldBlock {
                        failure(SystemExceptionKind::Timeout, Minor::WRITE_FAILED, completed)
                    } else {
                        failure(SystemExceptionKind::CommFailure, Minor::WRITE_FAILED, completed)
                    });
                }
            }
        }
        Ok(())
    }

    /// Waits for the next message, put together if it came in fragments; then [`Self::message`] and [`Self::consume`].
    ///
    /// `deadline` with the time-out it was made from. Fails with TIMEOUT, COMM_FAILURE, or MARSHAL for what is no GIOP.
    pub(super) fn receive(
        &mut self,
        deadline: Option<(Instant, Duration)>,
    ) -> Result<MessageHeader, SystemException> {
        let malformed = failure(
            SystemExceptionKind::Marshal,
            Minor::REPLY_MALFORMED,
            Completion::Maybe,
        );
        // The first wait may last the whole time-out, for which the stream is set; later ones only what is left.
        let mut first = true;
        loop {
            match self.buffer.framing() {
                Ok(Framing::Complete(header)) => {
                    let message = &self.buffer.received()[..header.total_size()];
                    match self.fragments.push(&header, message).map_err(|_| malformed)? {
                        Assembled::Whole => return Ok(header),
                        Assembled::Pending => self.buffer.discard(header.total_size()),
                        Assembled::Complete(message) => {
                            self.buffer.discard(header.total_size());
                            let header = MessageHeader::parse(&message, self.max_message_size);
                            self.assembled = Some(message);
                            return header.map_err(|_| malformed);
                        }
                    }
                }
                Ok(Framing::Partial { needed }) => {
                    if let Some((deadline, timeout)) = deadline {
                        let left = deadline.saturating_duration_since(Instant::now());
                        let fine = timeout < COARSE || !first;
                        if left.is_zero() || fine && !self.stream.wait_readable(left).map_err(|_| lost())? {
                            return Err(timed_out());
                        }
                    }
                    first = false;
                    match self.buffer.read(&*self.stream, needed) {
                        Ok((0, _)) => return Err(lost()),
                        Ok(_) => {}
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(timed_out()),
                        Err(_) => return Err(lost()),
                    }
                }
                Err(_) => return Err(malformed),
            }
        }
    }

    /// The octets of the message whose header [`Self::receive`] returned.
    pub(super) fn message(&self, header: &MessageHeader) -> &[u8] {
        match &self.assembled {
            Some(message) => message,
            None => &self.buffer.received()[..header.total_size()],
        }
    }

    /// Where fragments of GIOP 1.1 begin in it.
    pub(super) fn fragment_starts(&self) -> &[usize] {
        match &self.assembled {
            Some(_) => self.fragments.starts(),
            None => &[],
        }
    }

    /// Done with that message.
    pub(super) fn consume(&mut self, header: &MessageHeader) {
        match self.assembled.take() {
            Some(message) => self.fragments.recycle(message),
            None => self.buffer.discard(header.total_size()),
        }
    }
}

/// Whether a message ends the connection; its sender has not handled, and will not handle, what is outstanding.
pub(super) fn is_orderly_close(header: &MessageHeader) -> bool {
    header.message_type == MessageType::CloseConnection
}

fn lost() -> SystemException {
    failure(
        SystemExceptionKind::CommFailure,
        Minor::CONNECTION_LOST,
        Completion::Maybe,
    )
}

fn timed_out() -> SystemException {
    failure(
        SystemExceptionKind::Timeout,
        Minor::REPLY_TIMED_OUT,
        Completion::Maybe,
    )
}

fn failure(kind: SystemExceptionKind, minor: Minor, completed: Completion) -> SystemException {
    SystemException::new(kind, minor, completed)
}
