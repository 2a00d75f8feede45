use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;

/// A bell between two processes: a pipe whose ends never block.
///
/// # Errors
/// The limit of open files (RLIMIT_NOFILE) or of the user's pipes is reached; or SIGPIPE would end the process, which Rust
/// programs ignore from the start and others have to.
pub fn bell() -> io::Result<(Ear, Ringer)> {
    ignores_sigpipe()?;
    let (ear, ringer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    // So that a client of another user, to whom the end is given, can open it anew. There is no path by which others could.
    let all = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH;
    rustix::fs::fchmod(&ringer, all)?;
    Ok((Ear::of(ear), Ringer(ringer)))
}

/// The end that rings.
#[derive(Debug)]
pub struct Ringer(OwnedFd);

impl Ringer {
    /// Rings. Never blocks; a bell that is full of rings is ringing, and that is what counts. `false`: nobody has the other
    /// end any more.
    pub fn ring(&self) -> bool {
        // The only other errors are those of a bad descriptor.
        !matches!(rustix::io::write(&self.0, &[1]), Err(Errno::PIPE))
    }

    /// The end that a peer has handed over, as an open file of our own: its blocking mode is then ours alone to choose.
    ///
    /// # Errors
    /// It is no pipe; `/proc` is not mounted; the other end is closed; SIGPIPE would end the process.
    pub fn from_peer(end: OwnedFd) -> io::Result<Self> {
        is_pipe(&end)?;
        ignores_sigpipe()?;
        reopen(&end, OFlags::WRONLY | OFlags::NONBLOCK).map(Self)
    }
}

/// To hand it to another process.
impl From<Ringer> for OwnedFd {
    fn from(ringer: Ringer) -> Self {
        ringer.0
    }
}

/// The end to wait for: readable when it rings, hung up when nobody has the other end any more.
///
/// To be waited for with [`crate::Trigger::Edge`]: a ring that is not drained does not hide the next.
#[derive(Debug)]
pub struct Ear {
    pipe: OwnedFd,
    expected: AtomicU32,
    drains: AtomicBool,
}

/// Far below the room of the smallest pipe, one page.
const DRAIN_AFTER: u32 = 512;

impl Ear {
    fn of(pipe: OwnedFd) -> Self {
        Self {
            pipe,
            expected: AtomicU32::new(0),
            drains: AtomicBool::new(false),
        }
    }

    /// To be called before each wait that the peer may ring for: empties the pipe when it could be filling up. Look for what
    /// was rung for after it, not before.
    pub fn expect(&self) {
        // Threads that come at once may count as one: the pipe has room for many times as many rings.
        let expected = self.expected.load(Ordering::Relaxed) + 1;
        self.expected.store(expected, Ordering::Relaxed);
        if expected > DRAIN_AFTER {
            self.drain();
        }
    }

    #[cold]
    fn drain(&self) {
        // Of several threads one does it.
        if self.drains.swap(true, Ordering::Acquire) {
            return;
        }
        // One ring stays: a poller that has noted an event and not delivered it yet would forget it if it found none.
        let rings = rustix::io::ioctl_fionread(&self.pipe).unwrap_or(0);
        let mut room = [0; 4096];
        let count = room.len().min((rings as usize).saturating_sub(1));
        // In non-blocking mode; should it fail, nothing is lost.
        let _ = rustix::io::read(&self.pipe, &mut room[..count]);
        self.expected.store(0, Ordering::Relaxed);
        self.drains.store(false, Ordering::Release);
    }

    /// Whether nobody has the other end any more; one system call.
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

    /// For a thread that waits for nothing else.
    ///
    /// # Errors
    /// The limit of open files is reached; `/proc` is not mounted.
    pub fn sleeper(&self) -> io::Result<Sleeper> {
        reopen(&self.pipe, OFlags::RDONLY).map(Sleeper)
    }

    /// The end that a peer has handed over, as an open file of our own.
    ///
    /// # Errors
    /// It is no pipe; `/proc` is not mounted.
    pub fn from_peer(end: OwnedFd) -> io::Result<Self> {
        is_pipe(&end)?;
        reopen(&end, OFlags::RDONLY | OFlags::NONBLOCK).map(Self::of)
    }
}

/// An [`Ear`] for one thread that waits for nothing else: it blocks in `read`, which is cheaper than a poller. Rings that it takes
/// are heard by nobody else.
#[derive(Debug)]
pub struct Sleeper(OwnedFd);

impl Sleeper {
    /// Waits until it rings, for as long as that takes, and takes all rings. `false`: nobody has the other end any more.
    pub fn sleep(&self) -> bool {
        let mut rings = [0; 64];
        // Interrupted by a signal it was woken for nothing, as it may be anyway.
        !matches!(rustix::io::read(&self.0, &mut rings), Ok(0))
    }

    /// Wakes whoever sleeps from another thread of this process.
    ///
    /// # Errors
    /// The limit of open files is reached, or `/proc` is not mounted any more.
    pub fn wake(&self) -> io::Result<()> {
        // Not kept open: then the peer's end would not be missed.
        reopen(&self.0, OFlags::WRONLY | OFlags::NONBLOCK).map(|end| {
            Ringer(end).ring();
        })
    }
}

impl AsFd for Ear {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}

/// To hand it to another process.
impl From<Ear> for OwnedFd {
    fn from(ear: Ear) -> Self {
        ear.pipe
    }
}

fn is_pipe(end: &OwnedFd) -> io::Result<()> {
    // Asks nobody but the kernel, whatever kind of file it is.
    match rustix::pipe::fcntl_getpipe_size(end) {
        Ok(_) => Ok(()),
        Err(_) => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the peer's bell is no pipe: it is not used",
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
            format!("the peer's bell cannot be opened anew: {error}; is /proc mounted?"),
        )
    })
}

/// Ringing a bell whose other end is closed raises the signal.
fn ignores_sigpipe() -> io::Result<()> {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: no action is given, so nothing changes; the present one is written to memory of the right type, for which all
    // zeros is a value, should the call fail.
    let action = unsafe {
        libc::sigaction(libc::SIGPIPE, std::ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    if action.sa_sigaction == libc::SIG_DFL {
        return Err(io::Error::other(
            "SIGPIPE would end the process when a peer goes away: ignore it before using shared memory",
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
        let (ear, ringer) = bell().unwrap();
        let poller = Poller::new().unwrap();
        poller.add(&ear, 1, Interest::READ, Trigger::Edge).unwrap();
        for ring in 0..100_000 {
            ear.expect();
            assert!(ringer.ring());
            let event = poller.wait_one(Some(std::time::Duration::ZERO)).unwrap();
            assert!(event.is_some(), "ring {ring}");
        }
    }

    /// An event that a poller has noted and nobody has fetched survives that another one empties the pipe.
    #[test]
    fn draining_hides_no_ring_from_another_waiter() {
        let (ear, ringer) = bell().unwrap();
        let poller = Poller::new().unwrap();
        poller.add(&ear, 1, Interest::READ, Trigger::Edge).unwrap();
        for round in 0..10 {
            (0..300).for_each(|_| assert!(ringer.ring()));
            (0..=DRAIN_AFTER).for_each(|_| ear.expect());
            let event = poller.wait_one(Some(std::time::Duration::ZERO)).unwrap();
            assert!(event.is_some(), "round {round}");
            let rings = rustix::io::ioctl_fionread(&ear).unwrap();
            assert_eq!(rings, 1, "round {round}");
        }
    }

    #[test]
    fn a_dead_peer_is_seen_from_both_ends() {
        let (ear, ringer) = bell().unwrap();
        assert!(!ear.is_hung_up());
        drop(ringer);
        assert!(ear.is_hung_up());
        let (ear, ringer) = bell().unwrap();
        assert!(ringer.ring());
        drop(ear);
        assert!(!ringer.ring());
    }

    /// What would stop an eventfd's ringer for ever.
    #[test]
    fn a_sleeper_is_woken_by_rings_by_its_own_process_and_by_the_end() {
        let (ear, ringer) = bell().unwrap();
        let sleeper = ear.sleeper().unwrap();
        assert!(ringer.ring() && ringer.ring());
        assert!(sleeper.sleep(), "all rings at once");
        std::thread::scope(|scope| {
            let asleep = scope.spawn(|| sleeper.sleep());
            sleeper.wake().unwrap();
            assert!(asleep.join().unwrap());
            let asleep = scope.spawn(|| sleeper.sleep());
            drop(ringer);
            assert!(!asleep.join().unwrap());
        });
        assert!(ear.is_hung_up(), "whoever woke it did not keep the end");
    }

    #[test]
    fn a_peer_cannot_make_the_ringer_block() {
        let (ear, ringer) = bell().unwrap();
        let kept: OwnedFd = ringer.into();
        let ours = Ringer::from_peer(kept.try_clone().unwrap()).unwrap();
        // The peer keeps the end, makes it blocking, and fills the pipe.
        while rustix::io::write(&kept, &[0; 4096]).is_ok() {}
        rustix::fs::fcntl_setfl(&kept, OFlags::empty()).unwrap();
        rustix::fs::fcntl_setfl(&ear, OFlags::empty()).unwrap();
        assert!(ours.ring(), "returns, although the pipe is full");
    }

    #[test]
    fn only_pipes_are_taken() {
        let file = || OwnedFd::from(std::fs::File::open("/proc/self/exe").unwrap());
        assert_eq!(
            Ringer::from_peer(file()).unwrap_err().kind(),
            io::ErrorKind::InvalidData
        );
        assert_eq!(
            Ear::from_peer(file()).unwrap_err().kind(),
            io::ErrorKind::InvalidData
        );
    }
}
