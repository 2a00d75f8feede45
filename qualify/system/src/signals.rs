//! Requests to terminate: SIGINT (Ctrl-C), SIGTERM and SIGHUP; and SIGHUP as the request to read settings
//! again.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use punctual_os::Doorbell;

/// Termination request of the process, which it handles by cleaning up first.
///
/// Instead of ending the process, the signals set a flag and ring a bell. Only the first one counts, so that
/// repeated signals do not interrupt the clean-up. Permanent and for all threads of the process. Child
/// processes start with the default handling.
///
/// ```
/// let termination = punctual_system::signals::Termination::watch()?;
/// while termination.requested().is_none() {
///     // ... one unit of work, or wait in a `Poller` to which `termination` was added
///     # break;
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Termination {
    bell: &'static Doorbell,
}

/// Signal that requests termination.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TerminationSignal {
    /// SIGINT: Ctrl-C in the terminal.
    Interrupt,
    /// SIGTERM: sent by `kill` or a service manager.
    Terminate,
    /// SIGHUP: the terminal has been closed.
    HangUp,
}

impl Termination {
    /// Installs the handlers; further calls change nothing. Ignored signals (SIGHUP under `nohup`) stay
    /// ignored.
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
            if !is_ignored(signal.number())? {
                install(signal.number(), on_signal)?;
            }
        }
        Ok(Self { bell })
    }

    /// Returns the first signal received, if any.
    pub fn requested(self) -> Option<TerminationSignal> {
        Self::received()
    }

    /// Returns the first signal received by a process that watches for them, if any.
    ///
    /// ```
    /// assert_eq!(punctual_system::signals::Termination::received(), None);
    /// ```
    pub fn received() -> Option<TerminationSignal> {
        let number = FIRST.load(Ordering::Acquire);
        TerminationSignal::ALL
            .into_iter()
            .find(|signal| signal.number() == number)
    }
}

/// SIGHUP as the request to read settings again, instead of termination.
///
/// ```
/// use punctual_system::signals::{Reload, Termination};
///
/// let termination = Termination::watch()?;
/// let reload = Reload::watch()?;
/// while termination.requested().is_none() {
///     if reload.take() {
///         // ... read the settings again
///     }
///     # break;
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Reload(());

impl Reload {
    /// Installs the handler, also where SIGHUP was ignored. Permanent and for all threads of the process.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn watch() -> io::Result<Self> {
        install(libc::SIGHUP, on_reload)?;
        Ok(Self(()))
    }

    /// Returns whether a signal has come since the last call.
    pub fn take(self) -> bool {
        RELOAD.swap(false, Ordering::AcqRel)
    }
}

/// Readable after the first signal, permanently.
impl AsFd for Termination {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

impl TerminationSignal {
    const ALL: [Self; 3] = [Self::Interrupt, Self::Terminate, Self::HangUp];

    /// Returns the number of the signal. By convention of the shells, a process that it ends exits with 128
    /// plus this.
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
/// Number of the first signal; 0 before.
static FIRST: AtomicI32 = AtomicI32::new(0);

/// Whether a [`Reload`] is requested.
static RELOAD: AtomicBool = AtomicBool::new(false);

fn is_ignored(signal: libc::c_int) -> io::Result<bool> {
    // SAFETY: an all-zero sigaction is valid. The pointer is to a live variable.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        match libc::sigaction(signal, std::ptr::null(), &mut action) {
            0 => Ok(action.sa_sigaction == libc::SIG_IGN),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// The handlers of this file only: they are async-signal-safe.
fn install(signal: libc::c_int, handler: extern "C" fn(libc::c_int)) -> io::Result<()> {
    // SAFETY: an all-zero sigaction is valid (no flags, empty mask, default handling). The pointers are to
    // live variables. `handler` has the type of a handler without SA_SIGINFO and is async-signal-safe.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as libc::sighandler_t;
        // System calls of the interrupted thread are restarted.
        action.sa_flags = libc::SA_RESTART;
        match libc::sigaction(signal, &action, std::ptr::null_mut()) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Runs in any thread at any point: one atomic operation.
extern "C" fn on_reload(_: libc::c_int) {
    RELOAD.store(true, Ordering::Release);
}

/// Runs in any thread at any point: atomic operations and one write; no allocation, no lock.
extern "C" fn on_signal(signal: libc::c_int) {
    // SAFETY: returns the address of the calling thread's `errno`, which the interrupted code may be about to
    // read.
    let errno = unsafe { &mut *libc::__errno_location() };
    let saved = *errno;
    let _ = FIRST.compare_exchange(0, signal, Ordering::Release, Ordering::Relaxed);
    // Initialised before the handler is installed; the access is one atomic load.
    if let Some(bell) = BELL.get() {
        let _ = bell.ring();
    }
    *errno = saved;
}
