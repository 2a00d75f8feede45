//! Doorbell between two processes that do not trust each other: a pipe.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;

/// Creates a doorbell between two processes: a pipe whose ends never block.
///
/// # Errors
/// The limit of open files (RLIMIT_NOFILE) or of the user's pipes is reached; or SIGPIPE would end the
/// process (Rust programs ignore it by default, others must do so explicitly).
pub fn doorbell() -> io::Result<(DoorbellReceiver, DoorbellSender)> {
    ignores_sigpipe()?;
    let (receiver, sender) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    // Allows a client of another user that receives the end to reopen it. No path exists by which others
    // could.
    let all = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH;
    rustix::fs::fchmod(&sender, all)?;
    Ok((DoorbellReceiver::of(receiver), DoorbellSender(sender)))
}

/// Sending end of a doorbell.
#[derive(Debug)]
pub struct DoorbellSender(OwnedFd);

impl DoorbellSender {
    /// Rings. Never blocks; if the pipe is full, the doorbell is ringing anyway. Returns `false` if the
    /// other end has been closed.
    pub fn ring(&self) -> bool {
        // The only other errors are those of an invalid descriptor.
        !matches!(rustix::io::write(&self.0, &[1]), Err(Errno::PIPE))
    }

    /// Reopens an end received from a peer, so that the peer cannot change its blocking mode.
    ///
    /// # Errors
    /// The descriptor is not a pipe; `/proc` is not mounted; the other end is closed; SIGPIPE would end the
    /// process.
    pub fn from_peer(end: OwnedFd) -> io::Result<Self> {
        is_pipe(&end)?;
        ignores_sigpipe()?;
        reopen(&end, OFlags::WRONLY | OFlags::NONBLOCK).map(Self)
    }
}

/// Descriptor, to be passed to another process.
impl From<DoorbellSender> for OwnedFd {
    fn from(sender: DoorbellSender) -> Self {
        sender.0
    }
}

/// Receiving end of a doorbell: readable when it rings, hung up when the other end has been closed.
///
/// Wait with [`crate::Trigger::Edge`]: a ring that is not drained does not hide the next one.
#[derive(Debug)]
pub struct DoorbellReceiver {
    pipe: OwnedFd,
    expected: AtomicU32,
    drains: AtomicBool,
}

/// Far below the capacity of the smallest pipe, one page.
const DRAIN_AFTER: u32 = 512;

impl DoorbellReceiver {
    fn of(pipe: OwnedFd) -> Self {
        Self {
            pipe,
            expected: AtomicU32::new(0),
            drains: AtomicBool::new(false),
        }
    }

    /// Call this before each wait that the peer may end: drains the pipe before it can fill up. Check the
    /// condition that the ring announces after this call, not before.
    pub fn expect(&self) {
        // Simultaneous threads may count as one: the pipe has room for many times this number of rings.
        let expected = self.expected.load(Ordering::Relaxed) + 1;
        self.expected.store(expected, Ordering::Relaxed);
        if expected > DRAIN_AFTER {
            self.drain();
        }
    }

    #[cold]
    fn drain(&self) {
        // One thread drains at a time.
        if self.drains.swap(true, Ordering::Acquire) {
            return;
        }
        // One ring stays: a poller drops an event that it has not delivered yet if the pipe is empty by then.
        let rings = rustix::io::ioctl_fionread(&self.pipe).unwrap_or(0);
        let mut room = [0; 4096];
        let count = room.len().min((rings as usize).saturating_sub(1));
        // Non-blocking; if it fails, nothing is lost.
        let _ = rustix::io::read(&self.pipe, &mut room[..count]);
        self.expected.store(0, Ordering::Relaxed);
        self.drains.store(false, Ordering::Release);
    }

    /// Returns whether the other end has been closed. One system call.
    pub fn is_hung_up(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let mut fds = [PollFd::new(&self.pipe, PollFlags::empty())];
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let _ = poll(&mut fds, Some(&now));
        fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
    }

    /// Creates a blocking receiver, for a thread that waits for nothing else.
    ///
    /// # Errors
    /// The limit of open files is reached; `/proc` is not mounted.
    pub fn sleeper(&self) -> io::Result<Sleeper> {
        reopen(&self.pipe, OFlags::RDONLY).map(Sleeper)
    }

    /// Reopens an end received from a peer.
    ///
    /// # Errors
    /// The descriptor is not a pipe; `/proc` is not mounted.
    pub fn from_peer(end: OwnedFd) -> io::Result<Self> {
        is_pipe(&end)?;
        reopen(&end, OFlags::RDONLY | OFlags::NONBLOCK).map(Self::of)
    }
}

/// Blocking [`DoorbellReceiver`] for one thread that waits for nothing else: `read` is cheaper than a poller.
/// Rings that it consumes reach no other receiver.
#[derive(Debug)]
pub struct Sleeper(OwnedFd);

impl Sleeper {
    /// Waits for a ring, without a deadline, and consumes all rings. Returns `false` if the other end has
    /// been closed.
    pub fn sleep(&self) -> bool {
        let mut rings = [0; 64];
        // A signal causes a spurious wake-up, which callers allow for.
        !matches!(rustix::io::read(&self.0, &mut rings), Ok(0))
    }

    /// Wakes the sleeping thread from another thread of this process.
    ///
    /// # Errors
    /// The limit of open files is reached, or `/proc` is no longer mounted.
    pub fn wake(&self) -> io::Result<()> {
        // Not kept open: otherwise a closed peer could not be detected.
        reopen(&self.0, OFlags::WRONLY | OFlags::NONBLOCK).map(|end| {
            DoorbellSender(end).ring();
        })
    }
}

impl AsFd for DoorbellReceiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}

/// Descriptor, to be passed to another process.
impl From<DoorbellReceiver> for OwnedFd {
    fn from(receiver: DoorbellReceiver) -> Self {
        receiver.pipe
    }
}

fn is_pipe(end: &OwnedFd) -> io::Result<()> {
    // Handled by the kernel alone, for every kind of file.
    match rustix::pipe::fcntl_getpipe_size(end) {
        Ok(_) => Ok(()),
        Err(_) => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the peer's bell is not a pipe and has been rejected",
        )),
    }
}

fn reopen(end: &OwnedFd, flags: OFlags) -> io::Result<OwnedFd> {
    use std::os::fd::AsRawFd;
    let path = format!("/proc/self/fd/{}", end.as_raw_fd());
    rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty()).map_err(|error| {
        let error = io::Error::from(error);
        io::Error::new(
            error.kind(),
            format!("the peer's bell cannot be reopened: {error}; check that /proc is mounted"),
        )
    })
}

/// Checks that SIGPIPE is not fatal: ringing a bell whose other end is closed raises it.
fn ignores_sigpipe() -> io::Result<()> {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: no action is given, so nothing changes; the present one is written to memory of the right type,
    // for which all zeros is a valid value if the call fails.
    let action = unsafe {
        libc::sigaction(libc::SIGPIPE, std::ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    if action.sa_sigaction == libc::SIG_DFL {
        return Err(io::Error::other(
            "SIGPIPE would end the process when a peer disconnects; ignore it before using shared memory",
        ));
    }
    Ok(())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::{Interest, Poller, Trigger};

    #[test]
    fn every_ring_wakes_and_the_pipe_never_fills() {
        let (receiver, sender) = doorbell().unwrap();
        let poller = Poller::new().unwrap();
        poller.add(&receiver, 1, Interest::READ, Trigger::Edge).unwrap();
        for ring in 0..100_000 {
            receiver.expect();
            assert!(sender.ring());
            let event = poller.wait_one(Some(std::time::Duration::ZERO)).unwrap();
            assert!(event.is_some(), "ring {ring}");
        }
    }

    /// An event that a poller has queued survives draining by another receiver.
    #[test]
    fn draining_hides_no_ring_from_another_waiter() {
        let (receiver, sender) = doorbell().unwrap();
        let poller = Poller::new().unwrap();
        poller.add(&receiver, 1, Interest::READ, Trigger::Edge).unwrap();
        for round in 0..10 {
            (0..300).for_each(|_| assert!(sender.ring()));
            (0..=DRAIN_AFTER).for_each(|_| receiver.expect());
            let event = poller.wait_one(Some(std::time::Duration::ZERO)).unwrap();
            assert!(event.is_some(), "round {round}");
            let rings = rustix::io::ioctl_fionread(&receiver).unwrap();
            assert_eq!(rings, 1, "round {round}");
        }
    }

    #[test]
    fn both_ends_detect_a_dead_peer() {
        let (receiver, sender) = doorbell().unwrap();
        assert!(!receiver.is_hung_up());
        drop(sender);
        assert!(receiver.is_hung_up());
        let (receiver, sender) = doorbell().unwrap();
        assert!(sender.ring());
        drop(receiver);
        assert!(!sender.ring());
    }

    /// A closed end wakes the sleeper; with an eventfd it would sleep forever.
    #[test]
    fn a_sleeper_is_woken_by_rings_by_its_own_process_and_by_the_end() {
        let (receiver, sender) = doorbell().unwrap();
        let sleeper = receiver.sleeper().unwrap();
        assert!(sender.ring() && sender.ring());
        assert!(sleeper.sleep(), "all rings at once");
        std::thread::scope(|scope| {
            let asleep = scope.spawn(|| sleeper.sleep());
            sleeper.wake().unwrap();
            assert!(asleep.join().unwrap());
            let asleep = scope.spawn(|| sleeper.sleep());
            drop(sender);
            assert!(!asleep.join().unwrap());
        });
        assert!(receiver.is_hung_up(), "`wake` does not keep the end open");
    }

    #[test]
    fn a_peer_cannot_make_the_ringer_block() {
        let (receiver, sender) = doorbell().unwrap();
        let kept: OwnedFd = sender.into();
        let ours = DoorbellSender::from_peer(kept.try_clone().unwrap()).unwrap();
        // A hostile peer keeps the end, makes it blocking, and fills the pipe.
        while rustix::io::write(&kept, &[0; 4096]).is_ok() {}
        rustix::fs::fcntl_setfl(&kept, OFlags::empty()).unwrap();
        rustix::fs::fcntl_setfl(&receiver, OFlags::empty()).unwrap();
        assert!(ours.ring(), "returns, although the pipe is full");
    }

    #[test]
    fn only_pipes_are_accepted() {
        let file = || OwnedFd::from(std::fs::File::open("/proc/self/exe").unwrap());
        assert_eq!(
            DoorbellSender::from_peer(file()).unwrap_err().kind(),
            io::ErrorKind::InvalidData
        );
        assert_eq!(
            DoorbellReceiver::from_peer(file()).unwrap_err().kind(),
            io::ErrorKind::InvalidData
        );
    }
}
