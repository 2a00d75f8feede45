//! Streams over sockets.

use std::{
    io,
    net::Shutdown,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::{Duration, Instant},
};

use punctual_os::socket_option::unacknowledged;
use punctual_sched::NetworkPriority;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{RecvFlags, SendFlags, recv, send},
};
use socket2::{SockAddr, Socket};

use crate::{Origin, Peer, ProtocolProperties, Stream};

/// A stream over a connected socket of type SOCK_STREAM: TCP, Unix, or any other that a transport opens.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use std::os::unix::net::UnixStream;
///
/// use punctual::transport::{SocketStream, Stream};
///
/// // A transport wraps the sockets that it has connected or accepted.
/// let (one, other) = UnixStream::pair()?;
/// let (one, other) = (SocketStream::new(one), SocketStream::new(other));
/// one.write(b"GIOP")?;
/// let mut buffer = [0; 16];
/// let count = other.read(&mut buffer)?;
/// assert_eq!(&buffer[..count], b"GIOP");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct SocketStream {
    socket: Socket,
}

impl SocketStream {
    /// Takes over a connected socket.
    pub fn new(socket: impl Into<OwnedFd>) -> Self {
        Self {
            socket: Socket::from(socket.into()),
        }
    }
}

impl Stream for SocketStream {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        retry_interrupted(|| recv(&self.socket, &mut *buffer, RecvFlags::empty()).map(|(count, _)| count))
    }

    fn write(&self, octets: &[u8]) -> io::Result<usize> {
        // A closed connection is an error, not a signal, also in programs that do not ignore SIGPIPE.
        retry_interrupted(|| send(&self.socket, octets, SendFlags::NOSIGNAL))
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.socket.set_nonblocking(nonblocking)
    }

    fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.socket.set_read_timeout(timeout)?;
        self.socket.set_write_timeout(timeout)
    }

    fn wait_readable(&self, timeout: Duration) -> io::Result<bool> {
        wait_for(&self.socket, PollFlags::IN, timeout)
    }

    fn wait_writable(&self, timeout: Duration) -> io::Result<bool> {
        wait_for(&self.socket, PollFlags::OUT, timeout)
    }

    /// TCP accepts a write after the peer's FIN. If the peer had closed by then, its system answers with a
    /// reset and acknowledges nothing (RFC 9293, 3.10.7.4); if it only ended its own direction, no reset
    /// follows.
    fn was_closed_before_write(&self, timeout: Duration) -> bool {
        let is_unacknowledged = || unacknowledged(&self.socket).is_ok_and(|octets| octets > 0);
        is_unacknowledged()
            && wait_for(&self.socket, PollFlags::empty(), timeout).unwrap_or(false)
            && is_unacknowledged()
    }

    fn shutdown(&self) {
        // It fails if the peer has closed the connection first.
        let _ = self.socket.shutdown(Shutdown::Both);
    }

    fn set_network_priority(&self, priority: NetworkPriority) -> io::Result<()> {
        let address = self.socket.local_addr()?;
        if address.is_unix() {
            return Ok(());
        }
        let ds_field = priority.ds_field().into();
        if address.is_ipv6() {
            self.socket.set_tclass_v6(ds_field)?;
        }
        // IPv6 sockets can carry IPv4 packets, too. This also sets the queue, which therefore is set last.
        self.socket.set_tos_v4(ds_field)?;
        self.socket.set_priority(priority.queue.into())
    }

    fn origin(&self) -> Origin {
        origin(&self.socket)
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Returns the opener of a connection; called while the socket is open.
pub(crate) fn origin(socket: &Socket) -> Origin {
    let of = |peer| Origin { peer, process: None };
    let (Ok(own), Ok(peer)) = (socket.local_addr(), socket.peer_addr()) else {
        // The connection is already closed.
        return of(Peer::Unknown);
    };
    if own.is_unix() {
        let credentials = rustix::net::sockopt::socket_peercred(socket).ok();
        return Origin {
            peer: Peer::SameHost {
                user: credentials.map(|credentials| credentials.uid.as_raw()),
            },
            process: credentials.map(|credentials| credentials.pid.as_raw_nonzero().get().cast_unsigned()),
        };
    }
    let (Some(own), Some(peer)) = (own.as_socket(), peer.as_socket()) else {
        return of(Peer::Unknown);
    };
    let (own, peer) = (own.ip().to_canonical(), peer.ip().to_canonical());
    if peer.is_loopback() || peer == own {
        of(Peer::Loopback)
    } else {
        of(Peer::Network(peer))
    }
}

/// Connects a socket, with a timeout on the high-resolution timer, and leaves it in blocking mode.
pub(crate) fn connect(socket: &Socket, address: &SockAddr, timeout: Duration) -> io::Result<()> {
    let in_progress = Some(Errno::INPROGRESS.raw_os_error());
    socket.set_nonblocking(true)?;
    match socket.connect(address) {
        Err(error) if error.raw_os_error() == in_progress => {
            if !wait_for(socket, PollFlags::OUT, timeout)? {
                return Err(io::ErrorKind::TimedOut.into());
            }
            if let Some(error) = socket.take_error()? {
                return Err(error);
            }
        }
        result => result?,
    }
    socket.set_nonblocking(false)
}

fn wait_for(socket: &Socket, event: PollFlags, timeout: Duration) -> io::Result<bool> {
    let deadline = Instant::now() + timeout;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec {
            tv_sec: left.as_secs() as i64,
            tv_nsec: left.subsec_nanos().into(),
        };
        match poll(&mut [PollFd::new(socket, event)], Some(&timeout)) {
            Ok(ready) => return Ok(ready > 0),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Accepts the next connection of a non-blocking listening socket, in non-blocking mode. `Interrupted`: it
/// has ended before it was accepted.
pub(crate) fn accept(listening: &Socket) -> io::Result<Option<Socket>> {
    match listening.accept() {
        Ok((socket, _)) => {
            socket.set_nonblocking(true)?;
            Ok(Some(socket))
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {
            Err(io::ErrorKind::Interrupted.into())
        }
        Err(error) => Err(error),
    }
}

/// Sets the buffer sizes of a socket, before it listens or connects: TCP negotiates its window then.
pub(crate) fn set_buffers(socket: &Socket, properties: &ProtocolProperties) -> io::Result<()> {
    if let Some(size) = properties.send_buffer_size {
        socket.set_send_buffer_size(size as usize)?;
    }
    if let Some(size) = properties.recv_buffer_size {
        socket.set_recv_buffer_size(size as usize)?;
    }
    Ok(())
}

/// Maximal number of connections that wait to be accepted.
pub(crate) const BACKLOG: i32 = 128;

fn retry_interrupted(mut operation: impl FnMut() -> rustix::io::Result<usize>) -> io::Result<usize> {
    loop {
        match operation() {
            Err(Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
}
