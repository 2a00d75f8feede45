//! Waking a waiting place from another thread or process.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

/// Something to ring that a [`crate::Poller`] can wait for: an eventfd.
#[derive(Debug)]
pub struct Doorbell {
    eventfd: OwnedFd,
}

impl Doorbell {
    /// A bell that has not rung.
    ///
    /// # Errors
    /// The limit of open files (RLIMIT_NOFILE) is reached.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            eventfd: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
        })
    }

    /// Rings. Never blocks; rings that nobody has [drained](Self::drain) add up. With [`crate::Trigger::Edge`] every
    /// ring wakes a waiter, drained or not.
    ///
    /// # Errors
    /// None is known for a valid bell.
    pub fn ring(&self) -> io::Result<()> {
        match rustix::io::write(&self.eventfd, &1u64.to_ne_bytes()) {
            // Full after 2^64-2 rings: it is ringing, and that is what counts.
            Ok(_) | Err(Errno::AGAIN) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Silences it and gives the number of rings since it was last silenced. Never blocks.
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

/// To hand it to another process.
impl From<Doorbell> for OwnedFd {
    fn from(bell: Doorbell) -> Self {
        bell.eventfd
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_add_up_until_drained() {
        let bell = Doorbell::new().unwrap();
        assert_eq!(bell.drain().unwrap(), 0);
        bell.ring().unwrap();
        bell.ring().unwrap();
        assert_eq!(bell.drain().unwrap(), 2);
        assert_eq!(bell.drain().unwrap(), 0);
    }
}
