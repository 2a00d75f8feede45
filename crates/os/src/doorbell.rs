//! Waking a poller from another thread or process.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

/// Event source that other threads and processes can ring: an eventfd that a [`crate::Poller`] waits for.
#[derive(Debug)]
pub struct Doorbell {
    eventfd: OwnedFd,
}

impl Doorbell {
    /// Creates a bell that has not rung.
    ///
    /// # Errors
    /// The limit of open files (RLIMIT_NOFILE) is reached.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            eventfd: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
        })
    }

    /// Rings the bell. Never blocks; rings add up until they are [drained](Self::drain). With
    /// [`crate::Trigger::Edge`] every ring wakes a waiter, drained or not.
    ///
    /// # Errors
    /// None is known for a valid bell.
    pub fn ring(&self) -> io::Result<()> {
        match rustix::io::write(&self.eventfd, &1u64.to_ne_bytes()) {
            // The counter is full after 2^64-2 rings; the bell is still ringing.
            Ok(_) | Err(Errno::AGAIN) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Silences the bell and returns the number of rings since the last drain. Never blocks.
    ///
    /// # Errors
    /// None is known for a valid bell.
    pub fn drain(&self) -> io::Result<u64> {
        let mut rings = [0; 8];
        match rustix::io::read(&self.eventfd, &mut rings) {
            Ok(_) => Ok(u64::from_ne_bytes(rings)),
            Err(Errno::AGAIN) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for Doorbell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.eventfd.as_fd()
    }
}

/// Descriptor, to be passed to another process.
impl From<Doorbell> for OwnedFd {
    fn from(doorbell: Doorbell) -> Self {
        doorbell.eventfd
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_add_up_until_drained() {
        let doorbell = Doorbell::new().unwrap();
        assert_eq!(doorbell.drain().unwrap(), 0);
        doorbell.ring().unwrap();
        doorbell.ring().unwrap();
        assert_eq!(doorbell.drain().unwrap(), 2);
        assert_eq!(doorbell.drain().unwrap(), 0);
    }
}
