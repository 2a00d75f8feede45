//! Kernel counters of system calls, cycles and instructions in user mode, and context switches
//! (perf_event_open).

mod attributes;

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;

use crate::process;
use attributes::Attributes;
use punctual_os::TaskId;

/// Kind of event that a counter counts.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum CounterKind {
    /// System calls (tracepoint raw_syscalls:sys_enter). Counting slows each of them down a little: count in
    /// a separate pass, not while timing.
    Syscalls,
    /// CPU cycles in user mode, counted by hardware.
    UserCycles,
    /// Instructions in user mode, counted by hardware.
    UserInstructions,
    /// Context switches, voluntary and involuntary.
    ContextSwitches,
}

/// Counter of one thread. It starts disabled, at 0.
#[derive(Debug)]
pub struct Counter {
    event: OwnedFd,
}

impl Counter {
    /// Counts the system calls of a thread. See [`open`](Self::open).
    ///
    /// # Errors
    /// [`PerfError`].
    pub fn syscalls(thread: TaskId, inherit: bool) -> Result<Self, PerfError> {
        Self::open(thread, CounterKind::Syscalls, inherit)
    }

    /// Counts the cycles of a thread in user mode. See [`open`](Self::open).
    ///
    /// # Errors
    /// [`PerfError`].
    pub fn user_cycles(thread: TaskId, inherit: bool) -> Result<Self, PerfError> {
        Self::open(thread, CounterKind::UserCycles, inherit)
    }

    /// Counts the instructions of a thread in user mode. See [`open`](Self::open).
    ///
    /// # Errors
    /// [`PerfError`].
    pub fn user_instructions(thread: TaskId, inherit: bool) -> Result<Self, PerfError> {
        Self::open(thread, CounterKind::UserInstructions, inherit)
    }

    /// Counts the context switches of a thread. See [`open`](Self::open).
    ///
    /// # Errors
    /// [`PerfError`].
    pub fn context_switches(thread: TaskId, inherit: bool) -> Result<Self, PerfError> {
        Self::open(thread, CounterKind::ContextSwitches, inherit)
    }

    /// Opens a counter of one thread; of a process, its first thread only ([`ProcessCounter`] counts all).
    /// With `inherit`, it includes threads and processes started from now on, also after they have ended.
    ///
    /// # Errors
    /// [`PerfError`]: a right is missing, the machine cannot count this, or no such thread exists.
    pub fn open(thread: TaskId, kind: CounterKind, inherit: bool) -> Result<Self, PerfError> {
        let attributes = Attributes::new(kind, inherit)?;
        attributes
            .open(thread)
            .map(|event| Self { event })
            .map_err(|error| PerfError::of(kind, thread, error))
    }

    /// Starts or continues counting.
    ///
    /// # Errors
    /// None is known for a valid counter.
    pub fn enable(&self) -> io::Result<()> {
        attributes::control(&self.event, attributes::ENABLE)
    }

    /// Pauses counting. If a thread pauses its own counter of system calls, that call is the last one
    /// counted.
    ///
    /// # Errors
    /// None is known for a valid counter.
    pub fn disable(&self) -> io::Result<()> {
        attributes::control(&self.event, attributes::DISABLE)
    }

    /// Resets the count to 0; the counter stays enabled or disabled.
    ///
    /// # Errors
    /// None is known for a valid counter.
    pub fn reset(&self) -> io::Result<()> {
        attributes::control(&self.event, attributes::RESET)
    }

    /// Returns the count. If the hardware is shared with other counters, the count is extrapolated from the
    /// time in which it was active. If a thread reads its own counter of system calls, that call is counted.
    ///
    /// # Errors
    /// None is known for a valid counter.
    pub fn read(&self) -> io::Result<u64> {
        let mut record = [0u8; 24];
        let length = rustix::io::read(&self.event, &mut record)?;
        if length != record.len() {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("counter record too short: {length} of 24 bytes"),
            ));
        }
        let [value, enabled, running] =
            [0, 8, 16].map(|at| u64::from_ne_bytes(record[at..at + 8].try_into().expect("eight bytes")));
        Ok(extrapolated(value, enabled, running))
    }
}

/// Counter of all threads of a process.
///
/// Threads started later by the present ones are included. Open it while the process starts no thread: one
/// that starts at the same time may be missed.
#[derive(Debug)]
pub struct ProcessCounter {
    counters: Vec<Counter>,
}

impl ProcessCounter {
    /// Opens one counter per thread. They start disabled, at 0.
    ///
    /// # Errors
    /// Those of [`Counter::open`].
    pub fn open(process: TaskId, kind: CounterKind) -> Result<Self, PerfError> {
        let threads = process::threads_of(process).map_err(|_| PerfError::NoSuchTask(process))?;
        let mut counters = Vec::with_capacity(threads.len());
        for thread in threads {
            match Counter::open(thread, kind, true) {
                Ok(counter) => counters.push(counter),
                // It has ended since it was listed.
                Err(PerfError::NoSuchTask(_)) => {}
                Err(error) => return Err(error),
            }
        }
        if counters.is_empty() {
            Err(PerfError::NoSuchTask(process))
        } else {
            Ok(Self { counters })
        }
    }

    /// Starts or continues counting, one thread after the other.
    ///
    /// # Errors
    /// Those of [`Counter::enable`].
    pub fn enable(&self) -> io::Result<()> {
        self.counters.iter().try_for_each(Counter::enable)
    }

    /// Pauses counting, one thread after the other.
    ///
    /// # Errors
    /// Those of [`Counter::disable`].
    pub fn disable(&self) -> io::Result<()> {
        self.counters.iter().try_for_each(Counter::disable)
    }

    /// Resets the counts to 0, one thread after the other.
    ///
    /// # Errors
    /// Those of [`Counter::reset`].
    pub fn reset(&self) -> io::Result<()> {
        self.counters.iter().try_for_each(Counter::reset)
    }

    /// Returns the sum over all threads.
    ///
    /// # Errors
    /// Those of [`Counter::read`].
    pub fn read(&self) -> io::Result<u64> {
        self.counters.iter().map(Counter::read).sum()
    }
}

/// Error of a counter.
#[derive(Debug, thiserror::Error)]
pub enum PerfError {
    /// A right is missing.
    #[error(
        "no right to count {kind} ({source}): run as root, or run `sudo setcap cap_perfmon+ep BINARY` \
         or `sudo sysctl kernel.perf_event_paranoid=-1`"
    )]
    Denied {
        /// Kind of event to count.
        kind: CounterKind,
        /// Error of the kernel.
        source: io::Error,
    },
    /// The machine has no such counter; virtual machines often lack one for cycles.
    #[error("this machine cannot count {kind} ({source})")]
    Unsupported {
        /// Kind of event to count.
        kind: CounterKind,
        /// Error of the kernel.
        source: io::Error,
    },
    /// The tracepoint cannot be found.
    #[error("cannot find the tracepoint {name}: {source}")]
    NoTracepoint {
        /// Name of the tracepoint.
        name: &'static str,
        /// Cause.
        source: io::Error,
    },
    /// No such thread or process exists.
    #[error("no thread or process {0}; it may have ended")]
    NoSuchTask(TaskId),
    /// Other errors.
    #[error("counting {kind} of {task} failed: {source}")]
    Failed {
        /// Kind of event to count.
        kind: CounterKind,
        /// Thread or process to count.
        task: TaskId,
        /// Error of the kernel.
        source: io::Error,
    },
}

impl PerfError {
    fn of(kind: CounterKind, task: TaskId, source: io::Error) -> Self {
        match source.raw_os_error() {
            Some(libc::EACCES | libc::EPERM) => Self::Denied { kind, source },
            Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP | libc::ENOSYS) => {
                Self::Unsupported { kind, source }
            }
            Some(libc::ESRCH) => Self::NoSuchTask(task),
            _ => Self::Failed { kind, task, source },
        }
    }
}

impl fmt::Display for CounterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Syscalls => "system calls",
            Self::UserCycles => "cycles in user mode",
            Self::UserInstructions => "instructions in user mode",
            Self::ContextSwitches => "context switches",
        })
    }
}

/// Extrapolates a count; `enabled` and `running` are the times in which it should have counted and did count.
fn extrapolated(value: u64, enabled: u64, running: u64) -> u64 {
    if running == 0 || running >= enabled {
        return value;
    }
    let scaled = u128::from(value) * u128::from(enabled) / u128::from(running);
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
