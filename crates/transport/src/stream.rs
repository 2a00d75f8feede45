use std::{
    io,
    os::fd::{AsFd, BorrowedFd},
    thread,
    time::Duration,
};

use punctual_sched::NetworkPriority;

use crate::Peer;

/// A connection: octets in order, both ways. Threads may read and write at the same time.
pub trait Stream: Send + Sync {
    /// Reads what is there, at least one octet; 0 at the end of the stream. Blocks unless [`Self::set_nonblocking`].
    ///
    /// Less than there was room for: that was all, and [`Self::as_fd`] shows what comes later. Fails with `WouldBlock` where
    /// nothing is there in non-blocking mode, or nothing came within the read time-out.
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize>;

    /// Writes as much as there is room for, at least one octet. Blocks unless [`Self::set_nonblocking`].
    fn write(&self, octets: &[u8]) -> io::Result<usize>;

    /// Whether reads and writes return at once.
    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()>;

    /// How long blocking reads and writes wait; `None`: for ever. Rounded up to the kernel's tick, one or two late.
    fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()>;

    /// Waits at most this long, on the high-resolution timer, for something to read; `false` where nothing came.
    fn wait_readable(&self, timeout: Duration) -> io::Result<bool>;

    /// Waits at most this long for room to write; `false` where none came.
    ///
    /// Default: a millisecond at most, and says that there may be room. Transports that can wait for it should.
    fn wait_writable(&self, timeout: Duration) -> io::Result<bool> {
        thread::sleep(timeout.min(Duration::from_millis(1)));
        Ok(true)
    }

    /// Ends both directions; whoever blocks in a read or write returns.
    fn shutdown(&self);

    /// Marks what is sent from now on. Default, for transports without packets: nothing.
    fn set_network_priority(&self, _priority: NetworkPriority) -> io::Result<()> {
        Ok(())
    }

    /// Who is at the other end. Asked once for each connection that is accepted.
    fn peer(&self) -> Peer {
        Peer::Unknown
    }

    /// What to wait for in a poller, edge-triggered: readable when something came since the last read that got less than it had
    /// room for, writable when there is room since the last write that failed.
    fn as_fd(&self) -> BorrowedFd<'_>;
}

impl AsFd for dyn Stream + '_ {
    fn as_fd(&self) -> BorrowedFd<'_> {
        Stream::as_fd(self)
    }
}

/// Accepts connections.
pub trait Listener: Send + Sync {
    /// The next connection, in non-blocking mode; `None` where there is none. Never blocks.
    fn accept(&self) -> io::Result<Option<Box<dyn Stream>>>;

    /// Stops listening: who connects from now on is refused, who waited to be accepted is reset.
    fn shutdown(&self);

    /// The address at which clients reach it, as [`crate::Transport::connect`] takes it.
    fn address(&self) -> &str;

    /// What to wait for in a poller.
    fn as_fd(&self) -> BorrowedFd<'_>;
}
