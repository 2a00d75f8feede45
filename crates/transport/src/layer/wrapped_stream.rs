//! Streams that layers put around others.

use std::{io, os::fd::BorrowedFd, time::Duration};

use punctual_sched::NetworkPriority;

use crate::{Origin, Stream};

/// A [`Stream`] around another one. A method that it does not define is that of the stream inside.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use std::{io, sync::atomic::{AtomicU64, Ordering}};
///
/// use punctual::transport::{Stream, WrappedStream};
///
/// /// Counts the octets that are written.
/// struct Counted {
///     stream: Box<dyn Stream>,
///     written: AtomicU64,
/// }
///
/// impl WrappedStream for Counted {
///     fn inner(&self) -> &dyn Stream {
///         &*self.stream
///     }
///
///     fn write(&self, octets: &[u8]) -> io::Result<usize> {
///         let count = self.inner().write(octets)?;
///         self.written.fetch_add(count as u64, Ordering::Relaxed);
///         Ok(count)
///     }
/// }
/// # use punctual_transport::SocketStream;
/// let (near, far) = std::os::unix::net::UnixStream::pair()?;
/// let counted = Counted { stream: Box::new(SocketStream::new(near)), written: AtomicU64::new(0) };
/// let stream: &dyn Stream = &counted;
/// stream.write(b"octets")?;
/// assert_eq!(counted.written.into_inner(), 6);
/// # drop(far);
/// # Ok::<(), io::Error>(())
/// ```
pub trait WrappedStream: Send + Sync {
    /// Returns the stream inside.
    fn inner(&self) -> &dyn Stream;

    /// See [`Stream::read`].
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner().read(buffer)
    }

    /// See [`Stream::write`].
    fn write(&self, octets: &[u8]) -> io::Result<usize> {
        self.inner().write(octets)
    }

    /// See [`Stream::set_nonblocking`].
    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.inner().set_nonblocking(nonblocking)
    }

    /// See [`Stream::set_timeout`].
    fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.inner().set_timeout(timeout)
    }

    /// See [`Stream::wait_readable`].
    fn wait_readable(&self, timeout: Duration) -> io::Result<bool> {
        self.inner().wait_readable(timeout)
    }

    /// See [`Stream::is_readable`].
    fn is_readable(&self) -> io::Result<bool> {
        self.inner().is_readable()
    }

    /// See [`Stream::wait_writable`].
    fn wait_writable(&self, timeout: Duration) -> io::Result<bool> {
        self.inner().wait_writable(timeout)
    }

    /// See [`Stream::was_closed_before_write`].
    fn was_closed_before_write(&self, timeout: Duration) -> bool {
        self.inner().was_closed_before_write(timeout)
    }

    /// See [`Stream::set_network_priority`].
    fn set_network_priority(&self, priority: NetworkPriority) -> io::Result<()> {
        self.inner().set_network_priority(priority)
    }

    /// See [`Stream::shutdown`].
    fn shutdown(&self) {
        self.inner().shutdown();
    }

    /// See [`Stream::origin`].
    fn origin(&self) -> Origin {
        self.inner().origin()
    }

    /// See [`Stream::as_fd`].
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner().as_fd()
    }
}

impl<T: WrappedStream> Stream for T {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        WrappedStream::read(self, buffer)
    }

    fn write(&self, octets: &[u8]) -> io::Result<usize> {
        WrappedStream::write(self, octets)
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        WrappedStream::set_nonblocking(self, nonblocking)
    }

    fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        WrappedStream::set_timeout(self, timeout)
    }

    fn wait_readable(&self, timeout: Duration) -> io::Result<bool> {
        WrappedStream::wait_readable(self, timeout)
    }

    fn is_readable(&self) -> io::Result<bool> {
        WrappedStream::is_readable(self)
    }

    fn wait_writable(&self, timeout: Duration) -> io::Result<bool> {
        WrappedStream::wait_writable(self, timeout)
    }

    fn was_closed_before_write(&self, timeout: Duration) -> bool {
        WrappedStream::was_closed_before_write(self, timeout)
    }

    fn shutdown(&self) {
        WrappedStream::shutdown(self);
    }

    fn set_network_priority(&self, priority: NetworkPriority) -> io::Result<()> {
        WrappedStream::set_network_priority(self, priority)
    }

    fn origin(&self) -> Origin {
        WrappedStream::origin(self)
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        WrappedStream::as_fd(self)
    }
}
