use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use punctual_cdr::CharSet;
use punctual_flight::Link;
use punctual_giop::{
    Assembled, FragmentAssembler, FragmentLimits, Framing, MessageHeader, MessageType, ServiceContext,
    UTF_16, Version, char_set_id, write_close_connection,
};
use punctual_lane::{NetworkMark, serve_until_readable};
use punctual_sched::NetworkPriorityMapping;
use punctual_transport::{ProtocolPolicy, Stream};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use super::{
    Endpoint,
    connection_cache::{Band, ConnectionKey, Permit, Purpose},
    deadline::{Deadline, Deadlines},
    invoke::{Answer, Arrived, Speech},
    route::char_set_in_force,
};
use crate::{Limits, WaitStrategy, orb_core::OrbCore, receive_buffer::ReceiveBuffer};

/// A connection that one thread at a time uses for one call at a time: it blocks in its own `read`.
pub(crate) struct ClientConnection {
    stream: Box<dyn Stream>,
    pub(super) link: Link,
    purpose: Purpose,
    /// The server keeps it to its band.
    pub(super) is_bound: bool,
    /// Of GIOP, spoken by the reference that opened it.
    version: Version,
    permit: Permit,
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
    waiting: Waiting,
    /// When it was last seen to be open, or used by a oneway call.
    seen_open: Instant,
}

/// How the stream waits.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Waiting {
    /// In reads and writes themselves, for ever or as long as the kernel's coarse time-out.
    Blocking(Option<Duration>),
    /// On the high-resolution timer; reads and writes return at once.
    Fine,
}

/// From here on the kernel's coarse socket time-out is fine enough.
const COARSE: Duration = Duration::from_millis(50);
/// How late the kernel's coarse time-out may be.
const TICKS: Duration = Duration::from_millis(10);
const LOOK_AFTER: Duration = Duration::from_secs(1);
/// How long to wait at a time where nothing limits it.
const WHILE: Duration = Duration::from_secs(3600);

impl ClientConnection {
    pub(super) fn open(
        key: &ConnectionKey<'_>,
        permit: Permit,
        version: Version,
        protocols: &ProtocolPolicy,
        limits: &Limits,
        timeout: Duration,
    ) -> Result<Self, SystemException> {
        let endpoint = key.endpoint;
        let stream = connect(endpoint, protocols, timeout)?;
        let fragments = FragmentLimits {
            max_message_size: limits.max_message_size,
            max_pending: limits.max_fragmented_messages,
        };
        Ok(Self {
            link: Link::of(stream.as_fd()),
            stream,
            purpose: Purpose::new(key),
            is_bound: false,
            version,
            permit,
            mark: NetworkMark::new(&endpoint.properties(protocols)),
            char_set: char_set_in_force(endpoint.char_set),
            announces_code_sets: endpoint.char_set.is_some(),
            next_request_id: 0,
            buffer: ReceiveBuffer::new(limits.max_message_size),
            fragments: FragmentAssembler::new(fragments),
            assembled: None,
            max_message_size: limits.max_message_size,
            waiting: Waiting::Blocking(None),
            seen_open: Instant::now(),
        })
    }

    /// Whether calls of this kind may share it.
    pub(super) fn is_for(&self, key: &ConnectionKey<'_>) -> bool {
        self.purpose.is_for(key)
    }

    /// Whether the same calls may share either.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        self.purpose.is_alike(&other.purpose)
    }

    pub(super) fn leads_to(&self, endpoint: &Arc<Endpoint>) -> bool {
        Arc::ptr_eq(self.endpoint(), endpoint)
    }

    /// Whether what it was opened for is gone: the reference that it served alone, or the ORB or lane.
    pub(super) fn is_orphan(&self) -> bool {
        self.permit.is_void() || self.purpose.is_orphan()
    }

    /// The band that it is for, while the server does not know of it and may want to.
    pub(super) fn unbound_band(&self) -> Option<Band> {
        self.purpose
            .band()
            .filter(|_| !self.is_bound && self.endpoint().may_bind_bands())
    }

    pub(super) fn endpoint(&self) -> &Arc<Endpoint> {
        self.purpose.endpoint()
    }

    pub(super) fn permit(&self) -> &Permit {
        &self.permit
    }

    /// Ends it in good order, where no call uses it. Never blocks.
    pub(super) fn close(self: Box<Self>) {
        // Before GIOP 1.2 it is the server's to say so.
        if self.version < Version::V1_2 || self.stream.set_nonblocking(true).is_err() {
            return;
        }
        let mut message = Vec::new();
        write_close_connection(&mut message, self.version);
        // A peer that has gone, or does not read, will see the end of the stream.
        let _ = self.stream.write(&message);
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

    /// How the next request is written.
    pub(super) fn speech(&mut self) -> Speech {
        Speech {
            request_id: self.new_request_id(),
            char_set: self.char_set,
            announces_code_sets: self.announces_code_sets,
        }
    }

    /// What the first request tells of the text to come.
    pub(super) fn code_sets(&self) -> ServiceContext<'static> {
        code_sets(self.char_set)
    }

    pub(super) fn new_request_id(&mut self) -> u32 {
        let id = self.next_request_id;
        self.next_request_id = id.wrapping_add(1);
        id
    }

    /// Sets how the coming writes and reads wait. No system call where it is what it was.
    pub(super) fn wait_until(&mut self, deadlines: &Deadlines) -> io::Result<()> {
        let waiting = match deadlines.shortest() {
            Some(shortest) if shortest < COARSE => Waiting::Fine,
            coarse => Waiting::Blocking(coarse),
        };
        if self.waiting == waiting {
            return Ok(());
        }
        let was_fine = self.waiting == Waiting::Fine;
        match waiting {
            Waiting::Fine => self.stream.set_nonblocking(true)?,
            Waiting::Blocking(timeout) => {
                if was_fine {
                    self.stream.set_nonblocking(false)?;
                }
                self.stream.set_timeout(timeout)?;
            }
        }
        self.waiting = waiting;
        Ok(())
    }

    /// Sends a whole message. `Completion::No` in the error where not one octet of it has left.
    pub(super) fn send(&mut self, message: &[u8], deadline: Option<Deadline>) -> Result<(), SystemException> {
        match self.stream.write(message) {
            Ok(sent) if sent == message.len() => Ok(()),
            first => self.send_rest(message, first, deadline),
        }
    }

    /// There was not room for all of it, or the peer has gone.
    #[cold]
    fn send_rest(
        &mut self,
        message: &[u8],
        mut written: io::Result<usize>,
        deadline: Option<Deadline>,
    ) -> Result<(), SystemException> {
        let mut sent = 0;
        loop {
            match written {
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => {
                    return Err(not_sent(
                        SystemExceptionKind::CommFailure,
                        Minor::WRITE_FAILED,
                        sent,
                    ));
                }
            }
            if sent == message.len() {
                return Ok(());
            }
            let broken = |_| not_sent(SystemExceptionKind::CommFailure, Minor::WRITE_FAILED, sent);
            if let Some(deadline) = deadline {
                let left = deadline.left();
                if left.is_zero() {
                    return Err(not_sent(
                        SystemExceptionKind::Timeout,
                        Minor::REQUEST_TIMED_OUT,
                        sent,
                    ));
                }
                // From here on by the clock: the stream's own time-out would start anew with each write.
                if self.waiting != Waiting::Fine {
                    self.stream.set_nonblocking(true).map_err(broken)?;
                    self.waiting = Waiting::Fine;
                }
                self.stream.wait_writable(left).map_err(broken)?;
            } else if self.waiting == Waiting::Fine {
                self.stream.wait_writable(WHILE).map_err(broken)?;
            }
            written = self.stream.write(&message[sent..]);
        }
    }

    /// Waits for the next message, put together if it came in fragments; then [`Self::message`] and [`Self::consume`].
    ///
    /// Fails with TIMEOUT, COMM_FAILURE, or MARSHAL for what is no GIOP.
    pub(super) fn receive(
        &mut self,
        deadline: Option<Deadline>,
        strategy: WaitStrategy,
    ) -> Result<MessageHeader, SystemException> {
        let malformed = failure(
            SystemExceptionKind::Marshal,
            Minor::REPLY_MALFORMED,
            Completion::Maybe,
        );
        let mut fine = self.waiting == Waiting::Fine;
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
                    let served = match strategy {
                        WaitStrategy::Blocking => None,
                        WaitStrategy::Serving => serve_until_readable::<OrbCore>(
                            &*self.stream,
                            deadline.map(|deadline| deadline.at),
                        ),
                    };
                    if let Some(readable) = served {
                        if !readable.map_err(|_| lost())? {
                            return Err(timed_out());
                        }
                    } else if fine || deadline.is_some() {
                        let left = deadline.map_or(WHILE, |deadline| deadline.left());
                        if left.is_zero() {
                            return Err(timed_out());
                        }
                        // The stream is set to the whole time-out: good for the wait that starts with it, and for no later one.
                        fine |= deadline.is_some_and(|deadline| left + TICKS < deadline.within);
                        if fine && !self.stream.wait_readable(left).map_err(|_| lost())? {
                            continue;
                        }
                    }
                    fine |= deadline.is_some();
                    match self.buffer.read(&*self.stream, needed) {
                        Ok((0, _)) => return Err(lost()),
                        Ok(_) => {}
                        // The stream's time-out, which may be the shorter one for the request: how much is left, says the clock.
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                        Err(_) => return Err(lost()),
                    }
                }
                Err(_) => return Err(malformed),
            }
        }
    }

    /// The answer that has arrived.
    pub(super) fn answer<'c>(&'c self, arrived: &'c Arrived) -> Answer<'c> {
        Answer {
            message: self.message(&arrived.header),
            header: &arrived.header,
            fragment_starts: self.fragment_starts(),
            char_set: self.char_set,
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

/// A stream to the endpoint; fails with TIMEOUT or TRANSIENT.
pub(super) fn connect(
    endpoint: &Endpoint,
    protocols: &ProtocolPolicy,
    timeout: Duration,
) -> Result<Box<dyn Stream>, SystemException> {
    endpoint.connect(protocols, timeout).map_err(|error| {
        let (kind, minor) = match error.kind() {
            io::ErrorKind::TimedOut => (SystemExceptionKind::Timeout, Minor::CONNECT_TIMED_OUT),
            io::ErrorKind::ConnectionRefused => (SystemExceptionKind::Transient, Minor::CONNECT_REFUSED),
            _ => (SystemExceptionKind::Transient, Minor::HOST_UNKNOWN),
        };
        failure(kind, minor, Completion::No)
    })
}

/// What the first request over a connection tells of the text to come.
pub(super) fn code_sets(char_set: CharSet) -> ServiceContext<'static> {
    ServiceContext::CodeSets {
        char: char_set_id(char_set),
        wchar: UTF_16,
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

fn not_sent(kind: SystemExceptionKind, minor: Minor, sent: usize) -> SystemException {
    let completed = if sent == 0 {
        Completion::No
    } else {
        Completion::Maybe
    };
    failure(kind, minor, completed)
}

fn failure(kind: SystemExceptionKind, minor: Minor, completed: Completion) -> SystemException {
    SystemException::new(kind, minor, completed)
}
