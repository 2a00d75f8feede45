//! Being asked to end: SIGINT (Ctrl-C), SIGTERM and SIGHUP.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

use punctual_os::Doorbell;

/// Notices that the process has been asked to end, so that it can put things right first.
///
/// Instead of ending the process, the signals set a flag and ring a bell. The first one counts; later ones change
/// nothing, so that impatience does not interrupt the clean-up. For the life of the process, in all its threads. A
/// child process starts with the signals as usual.
///
/// ```
/// let termination = punctual_system::signals::Termination::watch()?;
/// while termination.requested().is_none() {
///     // ... one piece of work; or wait in a `Poller` that `termination` was added to
///     # break;
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Termination {
    bell: &'static Doorbell,
}

/// How the process was asked to end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TerminationSignal {
    /// SIGINT, Ctrl-C on the terminal.
    Interrupt,
    /// SIGTERM, by `kill` or a service manager.
    Terminate,
    /// SIGHUP: the terminal has gone.
    HangUp,
}

impl Termination {
    /// Starts to watch; again is the same. A signal that is ignored already (SIGHUP under `nohup`) stays ignored.
    ///
    /// # Errors
    /// The limit of open files (RLIMIT_NOFILE) is reached.
    pub fn watch() -> io::Result<Self> {
        let bell = match BELL.get() {
            Some(bell) => bell,
            None => {
                let bell = Doorbell::new()?;
                BELL.get_or_init(|| bell)
            }
        };
        for signal in TerminationSignal::ALL {
            install(signal.number())?;
        }
        Ok(Self { bell })
    }

    /// The signal that came first, if one came.
    pub fn requested(self) -> Option<TerminationSignal> {
        let number = FIRST.load(Ordering::Acquire);
        TerminationSignal::ALL
            .into_iter()
            .find(|signal| signal.number() == number)
    }
}

/// Readable once a signal has come. Nobody reads it, so it stays so.
impl AsFd for Termination {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

impl TerminationSignal {
    const ALL: [Self; 3] = [Self::Interrupt, Self::Terminate, Self::HangUp];

    /// The number; a process that ends for it exits with 128 plus this, by the shells' custom.
    pub const fn number(self) -> i32 {
        match self {
            Self::Interrupt => libc::SIGINT,
            Self::Terminate => libc::SIGTERM,
            Self::HangUp => libc::SIGHUP,
        }
    }
}

impl fmt::Display for TerminationSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
            Self::HangUp => "SIGHUP",
        })
    }
}

static BELL: OnceLock<Doorbell> = OnceLock::new();
/// The number of the first signal; 0 before.
static FIRST: AtomicI32 = AtomicI32::new(0);

fn install(signal: libc::c_int) -> io::Result<()> {
    let handler: extern "C" fn(libc::c_int) = on_signal;
    // SAFETY: an all-zero sigaction is valid (no flags, empty mask, default handling). The pointers are to live
    // variables. `on_signal` has the type of a handler without SA_SIGINFO, and does only what a handler may do.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let mut before: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(signal, std::ptr::null(), &mut before) != 0 {
            return Err(io::Error::last_os_error());
        }
        if before.sa_sigaction == libc::SIG_IGN {
            return Ok(());
        }
        action.sa_sigaction = handler as libc::sighandler_t;
        // System calls of the thread that happens to be hit go on.
        action.sa_flags = libc::SA_RESTART;
        match libc::sigaction(signal, &action, std::ptr::null_mut()) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Runs in any thread at any point: atomic operations and one write, no allocation and no lock.
extern "C" fn on_signal(signal: libc::c_int) {
    // SAFETY: gives the address of the calling thread's own `errno`, which the interrupted code may be about to read.
    let errno = unsafe { &mut *libc::__errno_location() };
    let saved = *errno;
    let _ = FIRST.compare_exchange(0, signal, Ordering::Release, Ordering::Relaxed);
    // Set before the handler is installed; reading it is one atomic load.
    if let Some(bell) = BELL.get() {
        let _ = bell.ring();
    }
    *errno = saved;
}
