//! Killing one process, by its descriptor.

use std::io;
use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Kills one process, never another one that has reused its id.
#[derive(Debug)]
pub struct Killer(OwnedFd);

impl Killer {
    pub(crate) fn of(process: &std::process::Child) -> io::Result<Self> {
        Ok(Self(pidfd_open(Pid::from_child(process), PidfdFlags::empty())?))
    }

    /// Kills it (SIGKILL); no effect if it has already ended.
    ///
    /// # Errors
    /// None is known for a child of this process.
    pub fn kill(&self) -> io::Result<()> {
        match pidfd_send_signal(&self.0, Signal::KILL) {
            Err(error) if error != rustix::io::Errno::SRCH => Err(error.into()),
            _ => Ok(()),
        }
    }
}
