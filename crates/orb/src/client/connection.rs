//! Step 3 of a call, its connection. It is exclusive: one thread at a time uses it, for one call at a time,
//! and blocks in its own `read`. Its purpose states which calls may use it.

use std::{
    io,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use punctual_cdr::CodeSets;
use punctual_flight::Link;
use punctual_giop::{
    Version,
    connection::{Connection, Event, ReceiveHalf, Refused, Role, SendHalf},
};
use punctual_lane::{CallEnd, NetworkMark};
use punctual_os::open_files;
use punctual_sched::NetworkPriorityMapping;
use punctual_transport::{AddressError, Distrust, ProtocolPolicy, Stream};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use super::{
    call_context::{Deadline, Deadlines},
    call_end::exception,
    endpoint::Endpoint,
};
use crate::{Limits, pools::unstarted_servers};

/// Serves the lane of the calling thread until the stream is readable; `false`: the deadline has passed.
/// `None`: the thread serves no lane.
pub(super) type ServeWhileWaiting = fn(&dyn Stream, Option<Instant>) -> Option<io::Result<bool>>;

/// An exclusive connection.
pub(crate) struct ClientConnection {
    stream: Box<dyn Stream>,
    /// Identification for the flight recorder.
    pub(super) link: Link,
    purpose: Purpose,
    /// Whether the server restricts it to its band.
    pub(super) is_bound: bool,
    mark: NetworkMark,
    protocol: Connection,
    /// Code sets of requests.
    code_sets: CodeSets,
    /// Wait mode that was last set on the stream.
    waiting: Waiting,
    /// Whether its server is in this process, and perhaps no thread serves it yet.
    may_be_unstarted: bool,
    /// Time at which it was last known to be open, or used by a oneway call.
    seen_open: Instant,
}

/// How the stream waits.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Waiting {
    /// Reads and writes block, without a timeout or with the kernel's coarse timeout.
    Blocking(Option<Duration>),
    /// Reads and writes return immediately; the thread waits on the high-resolution timer.
    Fine,
}

/// Shortest timeout for which the kernel's coarse socket timeout is precise enough.
const COARSE: Duration = Duration::from_millis(50);
/// How late the kernel's coarse timeout may be.
const TICKS: Duration = Duration::from_millis(10);
/// A connection unused for this time may have been closed by the server: it is checked before a oneway call,
/// which would be lost unnoticed. Long beside the system call that this takes.
const CHECK_AFTER: Duration = Duration::from_millis(10);
/// Time that the network may take to report why a connection has ended: that a request arrived too late, or
/// the reply to a request that was refused before its end.
pub(super) const ANSWER: Duration = Duration::from_millis(200);
/// Duration of one wait without a deadline.
const WAIT_CHUNK: Duration = Duration::from_secs(3600);

impl ClientConnection {
    pub(super) fn open(
        key: &ConnectionKey<'_>,
        version: Version,
        protocols: &ProtocolPolicy,
        limits: &Limits,
        timeout: Duration,
    ) -> Result<Self, SystemException> {
        let endpoint = key.endpoint;
        let stream = connect(endpoint, protocols, timeout)?;
        Ok(Self {
            link: Link::of(stream.as_fd()),
            stream,
            purpose: Purpose::new(key),
            is_bound: false,
            mark: NetworkMark::new(&endpoint.properties(protocols)),
            protocol: Connection::new(Role::Client, version, limits.of_client_connection())
                .with_char_set(endpoint.code_sets().char, endpoint.announces_code_sets()),
            code_sets: endpoint.code_sets(),
            waiting: Waiting::Blocking(None),
            may_be_unstarted: unstarted_servers::include(endpoint),
            seen_open: Instant::now(),
        })
    }

    /// Returns whether it serves calls of this kind.
    pub(super) fn is_for(&self, key: &ConnectionKey<'_>) -> bool {
        self.purpose.is_for(key)
    }

    /// Returns whether both serve the same calls.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        self.purpose.is_alike(&other.purpose)
    }

    pub(super) fn leads_to(&self, endpoint: &Arc<Endpoint>) -> bool {
        Arc::ptr_eq(self.endpoint(), endpoint)
    }

    /// Returns whether the only reference that it served has been dropped.
    pub(super) fn is_orphan(&self) -> bool {
        self.purpose.is_orphan()
    }

    /// The band of its calls, if the server does not know it yet and may support bands.
    pub(super) fn unbound_band(&self) -> Option<Band> {
        self.purpose
            .band()
            .filter(|_| !self.is_bound && self.endpoint().may_bind_bands())
    }

    pub(super) fn endpoint(&self) -> &Arc<Endpoint> {
        self.purpose.endpoint()
    }

    /// Waits until its server is served, if that is in this process and the wait for a reply would have no
    /// end. Fails with BAD_INV_ORDER.
    #[inline(always)]
    pub(super) fn ensure_served(&mut self, deadlines: &Deadlines) -> Result<(), SystemException> {
        if self.may_be_unstarted && deadlines.reply.is_none() {
            unstarted_servers::wait_until_served(self.purpose.endpoint())?;
            self.may_be_unstarted = false;
        }
        Ok(())
    }

    /// Frees the memory of large replies, while no call uses it.
    #[inline(always)]
    pub(super) fn free_large(&mut self, max_kept: usize) {
        let receive = &mut self.protocol.receive;
        if receive.needs_watching() && receive.held() > max_kept {
            receive.release();
        }
    }

    /// Closes it gracefully while no call uses it. Never blocks.
    pub(super) fn close(&mut self) {
        if let Some(message) = self.protocol.close()
            && self.stream.set_nonblocking(true).is_ok()
        {
            // A peer that no longer exists or does not read sees the end of the stream.
            let _ = self.stream.write(&message);
        }
    }

    /// Returns whether the peer has closed it while it was unused.
    ///
    /// For oneway calls, which have no reply and would be lost. Asks the kernel at most once a second: a peer
    /// that closes idle connections waits longer.
    pub(super) fn is_abandoned(&mut self) -> bool {
        let now = Instant::now();
        let unused = now.duration_since(self.seen_open);
        self.seen_open = now;
        // The only unsolicited message of a server is CloseConnection; a late reply is dropped with the
        // connection.
        unused >= CHECK_AFTER && self.stream.is_readable().unwrap_or(true)
    }

    /// Sets the network priority of the next request.
    pub(super) fn set_network_priority(
        &self,
        mapping: &dyn NetworkPriorityMapping,
        priority: Option<Priority>,
    ) {
        self.mark.set(&*self.stream, mapping, priority);
    }

    /// Code sets of requests.
    pub(super) fn code_sets(&self) -> CodeSets {
        self.code_sets
    }

    /// The protocol's state for requests.
    pub(super) fn send_half(&mut self) -> &mut SendHalf {
        &mut self.protocol.send
    }

    /// The protocol's state for replies; the octets of a received one remain until the next receive.
    pub(super) fn receive_half(&self) -> &ReceiveHalf {
        &self.protocol.receive
    }

    /// Sets how the next writes and reads wait. No system call if nothing changes.
    #[inline]
    pub(super) fn wait_until(&mut self, deadlines: &Deadlines) -> io::Result<()> {
        let waiting = match deadlines.shortest() {
            Some(shortest) if shortest < COARSE => Waiting::Fine,
            coarse => Waiting::Blocking(coarse),
        };
        if self.waiting == waiting {
            return Ok(());
        }
        self.wait_as(waiting)
    }

    #[cold]
    fn wait_as(&mut self, waiting: Waiting) -> io::Result<()> {
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

    /// Sends a whole message. The error has `Completion::No` if no octet of it was sent.
    pub(super) fn send(&mut self, message: &[u8], deadline: Option<Deadline>) -> Result<(), SystemException> {
        match self.stream.write(message) {
            Ok(sent) if sent == message.len() => Ok(()),
            first => self.send_rest(message, first, deadline),
        }
    }

    /// The rest of a message for which there was not enough room, or the error.
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
                // From here on by the clock: the stream's own timeout would restart with each write.
                if self.waiting != Waiting::Fine {
                    self.stream.set_nonblocking(true).map_err(broken)?;
                    self.waiting = Waiting::Fine;
                }
                self.stream.wait_writable(left).map_err(broken)?;
            } else if self.waiting == Waiting::Fine {
                self.stream.wait_writable(WAIT_CHUNK).map_err(broken)?;
            }
            written = self.stream.write(&message[sent..]);
        }
    }

    /// Notifies the server that the reply to this request is no longer wanted. Never blocks; a server that
    /// does not read is not notified. `false`: the connection is of no further use.
    #[cold]
    pub(super) fn cancel(&mut self, request_id: u32) -> bool {
        let Some(message) = self.protocol.send.cancel(request_id) else {
            return true;
        };
        if self.waiting != Waiting::Fine {
            if self.stream.set_nonblocking(true).is_err() {
                return false;
            }
            self.waiting = Waiting::Fine;
        }
        match self.stream.write(&message) {
            Ok(sent) => sent == message.len(),
            Err(error) => error.kind() == io::ErrorKind::WouldBlock,
        }
    }

    /// Waits for the next event.
    ///
    /// Fails with TIMEOUT, with COMM_FAILURE if the connection is lost or the server breaks the protocol, and
    /// with IMP_LIMIT for a reply above the limit on the size of messages.
    pub(super) fn receive(
        &mut self,
        deadline: Option<Deadline>,
        serve: Option<ServeWhileWaiting>,
    ) -> Result<Event, SystemException> {
        let mut fine = self.waiting == Waiting::Fine;
        loop {
            match self.protocol.receive.poll(Instant::now) {
                Ok(Some(event)) => return Ok(event),
                Ok(None) => self.read(deadline, serve, &mut fine)?,
                Err(refused) => return Err(self.refused(refused)),
            }
        }
    }

    #[cold]
    fn refused(&self, refused: Refused) -> SystemException {
        let error = exception(refused.into(), Completion::Maybe);
        match error.minor {
            Minor::PEER_SPEAKS_NO_GIOP => {
                let sent = self.protocol.receive.unread();
                error.with_detail(&self.endpoint().detail().which_sent(sent))
            }
            _ => error,
        }
    }

    /// Names the server in the error of the wait for the reply to this request, and whether nothing has ever
    /// come from it.
    #[cold]
    pub(super) fn not_received(&self, request_id: u32, error: SystemException) -> SystemException {
        let is_first = request_id == 0 && self.protocol.receive.unread().is_empty();
        match error.minor {
            Minor::REPLY_TIMED_OUT if is_first => error.with_detail(&self.endpoint().detail().silent()),
            _ => self.endpoint().named_in(error),
        }
    }

    /// Waits for octets without reading them; returns whether none have come within this time.
    #[cold]
    pub(super) fn is_silent_for(&mut self, time: Duration) -> bool {
        matches!(self.stream.wait_readable(time), Ok(false))
    }

    /// Waits for octets and reads once; may return without any. `fine`: waits on the high-resolution timer,
    /// and not in the read.
    fn read(
        &mut self,
        deadline: Option<Deadline>,
        serve: Option<ServeWhileWaiting>,
        fine: &mut bool,
    ) -> Result<(), SystemException> {
        let served = serve.and_then(|serve| serve(&*self.stream, deadline.map(|deadline| deadline.at)));
        if let Some(readable) = served {
            if !readable.map_err(|_| lost())? {
                return Err(timed_out());
            }
        } else if *fine || deadline.is_some() {
            let left = deadline.map_or(WAIT_CHUNK, |deadline| deadline.left());
            if left.is_zero() {
                return Err(timed_out());
            }
            // The stream is set to the whole timeout: good for the wait that starts with it, and for no later
            // one.
            *fine |= deadline.is_some_and(|deadline| left + TICKS < deadline.timeout);
            if *fine && !self.stream.wait_readable(left).map_err(|_| lost())? {
                return Ok(());
            }
        }
        *fine |= deadline.is_some();
        match self.stream.read(self.protocol.receive.space()) {
            Ok(0) => Err(self.lost_or_closed(deadline)),
            Ok(count) => {
                self.protocol.receive.received(count);
                Ok(())
            }
            // The stream's timeout, which may be the shorter one of the request: the clock tells how much
            // time is left.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(self.broken_by(&error)),
        }
    }

    /// A server with TLS may refuse the client's certificate after the client has sent its request, which it
    /// then has not executed (RFC 8446, 4.4.2.4).
    #[cold]
    fn broken_by(&self, error: &io::Error) -> SystemException {
        Distrust::of(error).map_or_else(lost, |reason| self.endpoint().distrusted(reason))
    }

    /// Why the stream has ended: [`Minor::CLOSED_BEFORE_REQUEST`] if the last request cannot have reached the
    /// server, as after the restart of a server that was killed.
    #[cold]
    fn lost_or_closed(&self, deadline: Option<Deadline>) -> SystemException {
        let left = deadline.map_or(ANSWER, |deadline| deadline.left().min(ANSWER));
        if self.stream.was_closed_before_write(left) {
            let (kind, minor) = (SystemExceptionKind::Transient, Minor::CLOSED_BEFORE_REQUEST);
            failure(kind, minor, Completion::No)
        } else {
            lost()
        }
    }
}

/// Opens a stream to the endpoint. Fails with TIMEOUT or TRANSIENT.
pub(super) fn connect(
    endpoint: &Endpoint,
    protocols: &ProtocolPolicy,
    timeout: Duration,
) -> Result<Box<dyn Stream>, SystemException> {
    endpoint.connect(protocols, timeout).map_err(|error| {
        if let Some(reason) = Distrust::of(&error) {
            return endpoint.distrusted(reason);
        }
        let (kind, minor) = match error.kind() {
            io::ErrorKind::TimedOut => (SystemExceptionKind::Timeout, Minor::CONNECT_TIMED_OUT),
            io::ErrorKind::ConnectionRefused => (SystemExceptionKind::Transient, Minor::CONNECT_REFUSED),
            io::ErrorKind::PermissionDenied => (SystemExceptionKind::Transient, Minor::ADDRESS_FORBIDDEN),
            _ if open_files::are_exhausted() => {
                (SystemExceptionKind::NoResources, Minor::DESCRIPTORS_EXHAUSTED)
            }
            _ if error.get_ref().is_some_and(|inner| inner.is::<AddressError>()) => {
                (SystemExceptionKind::InvObjref, Minor::ADDRESS_MALFORMED)
            }
            _ => (SystemExceptionKind::Transient, Minor::HOST_UNKNOWN),
        };
        endpoint.named_in(failure(kind, minor, Completion::No))
    })
}

fn lost() -> SystemException {
    exception(CallEnd::Lost, Completion::Maybe)
}

pub(super) fn timed_out() -> SystemException {
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

/// Kind of the calls that a connection serves.
///
/// Source: the key of TAO's connection cache: the endpoint's address, and the policies that forbid sharing.
pub(crate) struct ConnectionKey<'r> {
    pub(crate) endpoint: &'r Arc<Endpoint>,
    /// Reference that the connection belongs to, if it is private.
    pub(crate) owner: Option<&'r Arc<Identity>>,
    pub(crate) band: Option<Band>,
}

/// The key that a connection was opened for, in a form that keeps no reference alive.
pub(crate) struct Purpose {
    endpoint: Arc<Endpoint>,
    /// The only reference that it serves.
    owner: Option<Weak<Identity>>,
    band: Option<Band>,
}

/// Distinguishes references.
pub(crate) struct Identity;

/// The lowest and the highest priority of a band, as references state them.
pub(crate) type Band = (i16, i16);

impl Purpose {
    pub(crate) fn new(key: &ConnectionKey<'_>) -> Self {
        Self {
            endpoint: Arc::clone(key.endpoint),
            owner: key.owner.map(Arc::downgrade),
            band: key.band,
        }
    }

    /// Returns whether calls of this kind may share the connection.
    pub(crate) fn is_for(&self, key: &ConnectionKey<'_>) -> bool {
        let owner = self.owner.as_ref().map(Weak::as_ptr);
        Arc::ptr_eq(&self.endpoint, key.endpoint)
            && self.band == key.band
            && owner == key.owner.map(Arc::as_ptr)
    }

    /// Returns whether the same calls may share either connection.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        let owner = |purpose: &Self| purpose.owner.as_ref().map(Weak::as_ptr);
        Arc::ptr_eq(&self.endpoint, &other.endpoint) && self.band == other.band && owner(self) == owner(other)
    }

    /// Returns whether the only reference that it served has been dropped.
    pub(crate) fn is_orphan(&self) -> bool {
        self.owner.as_ref().is_some_and(|owner| owner.strong_count() == 0)
    }

    pub(super) fn endpoint(&self) -> &Arc<Endpoint> {
        &self.endpoint
    }

    pub(super) fn band(&self) -> Option<Band> {
        self.band
    }
}
