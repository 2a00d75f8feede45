//! Interfaces of streams and listeners.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd},
    sync::Arc,
    thread,
    time::Duration,
};

use punctual_os::{Interest, Poller, Trigger};
use punctual_sched::NetworkPriority;

use crate::Peer;

/// A connection: ordered octets in both directions. Threads may read and write concurrently. A stream around
/// another one implements [`WrappedStream`](crate::WrappedStream) instead.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// # use std::os::unix::net::UnixStream;
/// use std::{io, time::Duration};
///
/// use punctual::transport::{SocketStream, Stream};
///
/// /// Reads what arrives in time.
/// fn read_within(stream: &dyn Stream, limit: Duration, buffer: &mut [u8]) -> io::Result<usize> {
///     if !stream.wait_readable(limit)? {
///         return Err(io::ErrorKind::TimedOut.into());
///     }
///     stream.read(buffer)
/// }
/// # let (one, other) = UnixStream::pair()?;
/// # let (one, other) = (SocketStream::new(one), SocketStream::new(other));
/// # let mut buffer = [0; 16];
/// let late = read_within(&one, Duration::ZERO, &mut buffer);
/// assert_eq!(late.unwrap_err().kind(), io::ErrorKind::TimedOut);
/// other.write(b"GIOP")?;
/// assert_eq!(read_within(&one, Duration::from_secs(5), &mut buffer)?, 4);
/// # Ok::<(), io::Error>(())
/// ```
pub trait Stream: Send + Sync {
    /// Reads the available data, at least one octet; 0 at the end of the stream. Blocks unless
    /// [`Self::set_nonblocking`].
    ///
    /// A read that does not fill the buffer has consumed all available data, and [`Self::as_fd`] signals
    /// later data. Fails with `WouldBlock` if no data is available in non-blocking mode, or none arrived
    /// within the timeout.
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize>;

    /// Writes as many octets as fit, at least one. Blocks unless [`Self::set_nonblocking`].
    fn write(&self, octets: &[u8]) -> io::Result<usize>;

    /// Sets whether reads and writes return immediately.
    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()>;

    /// Sets the timeout of blocking reads and writes; `None` for no limit. Rounded up to the kernel's tick;
    /// expires one to three ticks late.
    fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()>;

    /// Waits for data with a timeout on the high-resolution timer. Returns `false` if none arrived.
    ///
    /// With a timeout of zero it takes nothing from the stream, so that [`Self::as_fd`] still signals the
    /// data to a poller of another thread; what has arrived may then turn out to be no data.
    fn wait_readable(&self, timeout: Duration) -> io::Result<bool>;

    /// Returns whether a read returns data, or the end, without waiting. For the thread that reads then: it
    /// may process what has arrived and is no data, and a poller need not signal the rest any more.
    ///
    /// Default: [`Self::wait_readable`] with a timeout of zero. Streams on which other octets arrive than
    /// data override it.
    fn is_readable(&self) -> io::Result<bool> {
        self.wait_readable(Duration::ZERO)
    }

    /// Waits for room to write. Returns `false` if there was none within the timeout.
    ///
    /// Default: waits up to a millisecond and returns `true`. Transports should override it if they can wait
    /// for room.
    fn wait_writable(&self, timeout: Duration) -> io::Result<bool> {
        thread::sleep(timeout.min(Duration::from_millis(1)));
        Ok(true)
    }

    /// Returns whether the peer is known to have closed the connection before the end of the last write
    /// reached it. Called after [`Self::read`] has returned 0; may wait this long for the network's answer.
    ///
    /// A request for which this is `true` was not executed, and the ORB sends it again. Default: `false`, not
    /// known. Transports whose writes succeed although the peer has closed should override it.
    fn was_closed_before_write(&self, _timeout: Duration) -> bool {
        false
    }

    /// Shuts down both directions; blocked reads and writes return.
    fn shutdown(&self);

    /// Marks packets sent from now on. Default, for transports without packets: no action.
    fn set_network_priority(&self, _priority: NetworkPriority) -> io::Result<()> {
        Ok(())
    }

    /// Returns the opener of the connection. Called once for each accepted connection.
    fn origin(&self) -> Origin {
        Origin {
            peer: Peer::Unknown,
            process: None,
        }
    }

    /// Returns the descriptor for a poller, edge-triggered: readable when data has arrived since the last
    /// read that did not fill its buffer, writable when there is room since the last write that failed.
    fn as_fd(&self) -> BorrowedFd<'_>;
}

impl AsFd for dyn Stream + '_ {
    fn as_fd(&self) -> BorrowedFd<'_> {
        Stream::as_fd(self)
    }
}

/// The opener of an accepted connection.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use std::os::unix::net::UnixStream;
///
/// use punctual::transport::{Peer, SocketStream, Stream};
///
/// let (one, _other) = UnixStream::pair()?;
/// let origin = SocketStream::new(one).origin();
/// assert!(matches!(origin.peer, Peer::SameHost { user: Some(_) }), "the kernel reports the user");
/// assert_eq!(origin.process, Some(std::process::id()));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Origin {
    /// The peer.
    pub peer: Peer,
    /// Its process id, as reported by the kernel, if it is on this host and does not use TCP.
    pub process: Option<u32>,
}

/// A source of accepted connections.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use std::{io, time::Duration};
///
/// use punctual::transport::{Listener, ProtocolProperties, Stream, Tcp, Transport};
///
/// /// Accepts a connection that has been opened.
/// fn accept(listener: &dyn Listener) -> io::Result<Box<dyn Stream>> {
///     loop {
///         if let Some(stream) = listener.accept()? {
///             return Ok(stream);
///         }
///         // A lane waits with a poller here: `Listener::watch`.
///     }
/// }
/// let properties = ProtocolProperties::default();
/// let listener = Tcp.listen("127.0.0.1:0", None, &properties)?;
/// let _client = Tcp.connect(listener.address(), &properties, Duration::from_secs(5))?;
/// assert!(accept(&*listener)?.origin().peer.is_local());
/// # Ok::<(), io::Error>(())
/// ```
pub trait Listener: Send + Sync {
    /// Accepts the next connection, in non-blocking mode; `None` if none is waiting. Never blocks, and never
    /// handles more than one: peers that connect without a pause must not keep the lane's thread.
    ///
    /// # Errors
    /// `Interrupted`: a connection was waiting, but has ended or is not complete yet; another call may return
    /// one. All others mean that the system cannot accept for now.
    fn accept(&self) -> io::Result<Option<Box<dyn Stream>>>;

    /// Like [`Self::accept`], and calls `admits` before anything expensive is done for a connection. The
    /// stream of a connection that is not admitted is returned nevertheless, for the lane to close it
    /// gracefully, unless it does not exist yet.
    ///
    /// Default: calls it after accepting.
    ///
    /// # Errors
    /// Like [`Self::accept`].
    fn accept_from(&self, admits: &mut dyn FnMut(Origin) -> bool) -> io::Result<Option<Box<dyn Stream>>> {
        let accepted = self.accept()?;
        if let Some(stream) = &accepted {
            admits(stream.origin());
        }
        Ok(accepted)
    }

    /// Has `poller` report under `token`, once ([`Trigger::OneShot`]), that [`Self::accept`] may not return
    /// `None`.
    ///
    /// Default: when [`Self::as_fd`] is readable.
    fn watch(&self, poller: &Arc<Poller>, token: u64) -> io::Result<()> {
        poller.add(self.as_fd(), token, Interest::READ, Trigger::OneShot)
    }

    /// Has `poller` report once more, including connections that are ready already.
    fn watch_again(&self, poller: &Poller, token: u64) -> io::Result<()> {
        poller.modify(self.as_fd(), token, Interest::READ, Trigger::OneShot)
    }

    /// Stops listening: new connections are refused, and those waiting to be accepted are reset.
    fn shutdown(&self);

    /// Returns the address for clients, in the form for [`crate::Transport::connect`].
    fn address(&self) -> &str;

    /// Returns the descriptor for a poller.
    fn as_fd(&self) -> BorrowedFd<'_>;
}
