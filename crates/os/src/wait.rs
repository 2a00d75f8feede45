//! Waiting for one of two file descriptors.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Waits until one of two descriptors is readable, for at most `timeout` (`None`: no limit). Returns which
/// are readable.
///
/// A [`Poller`](crate::Poller) may be one of them: it is readable while it has an event for
/// [`Poller::wait_one`](crate::Poller::wait_one). One system call, no allocation. Signals do not end the
/// wait. Closing by the peer and errors count as readable.
///
/// ```
/// use std::os::fd::AsFd;
/// use std::time::Duration;
///
/// use punctual_os::{Doorbell, wait};
///
/// let (front, back) = (Doorbell::new()?, Doorbell::new()?);
/// back.ring()?;
/// assert_eq!(wait::for_either(front.as_fd(), back.as_fd(), None)?, (false, true));
/// back.drain()?;
/// let nothing = wait::for_either(front.as_fd(), back.as_fd(), Some(Duration::ZERO))?;
/// assert_eq!(nothing, (false, false));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// None is known for open descriptors.
pub fn for_either(
    first: BorrowedFd<'_>,
    second: BorrowedFd<'_>,
    timeout: Option<Duration>,
) -> io::Result<(bool, bool)> {
    let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let mut left = timeout;
    let mut descriptors = [first, second].map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
    loop {
        // A time that the kernel's type cannot hold is no limit.
        let limit = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(&mut descriptors, limit.as_ref()) {
            Ok(_) => break,
            Err(Errno::INTR) => {
                left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            }
            Err(error) => return Err(error.into()),
        }
    }
    let [first, second] = descriptors.map(|descriptor| !descriptor.revents().is_empty());
    Ok((first, second))
}
