//! Counts that the kernel keeps: system calls, cycles in user mode, context switches (perf_event_open).

mod attributes;

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;

use crate::process;
use attributes::Attributes;
use punctual_os::TaskId;

/// What is counted.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum CounterKind {
    /// Entries into the kernel by system call (tracepoint raw_syscalls:sys_enter). Every one slows down a little while
    /// it is counted: count in a pass of its own, not while timing.
    Syscalls,
    /// Cycles of the CPU in user mode, counted by hardware.
    UserCycles,
    /// Times that the thread was taken from its CPU, of its own will or not.
    ContextSwitches,
}

/// A count of one thread. It starts disabled, at 0.
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

    /// Counts the context switches of a thread. See [`open`](Self::open).
    ///
    /// # Errors
    /// [`PerfError`].
    pub fn context_switches(thread: TaskId, inherit: bool) -> Result<Self, PerfError> {
        Self::open(thread, CounterKind::ContextSwitches, inherit)
    }

    /// Counts what one thread does: of a process, its first thread only ([`ProcessCounter`] counts all). With
    /// `inherit`, what threads and processes that it starts from now on do is added, also after they have ended.
    ///
    /// # Errors
    /// [`PerfError`]: rights are missing, the machine cannot count this, or there is no such thread.
    pub fn open(thread: TaskId, kind: CounterKind, inherit: bool) -> Result<Self, PerfError> {
        let attributes = Attributes::new(kind, inherit)?;
        attributes
            .open(thread)
            .map(|event| Self { event })
            .map_err(|error| PerfError::of(kind, thread, error))
    }

    /// Starts to count, or goes on.
    ///
    /// # Errors
    /// None is known for a valid counter.
    pub fn enable(&self) -> io::Result<()> {
        attributes::control(&self.event, attributes::ENABLE)
    }

    /// Pauses. When a thread pauses its own counter of system calls, that call is the last one counted.
    ///
    /// # Errors
    /// None is known for a valid counter.
    pub fn disable(&self) -> io::Result<()> {
        attributes::control(&self.event, attributes::DISABLE)
    }

    /// Back to 0; whether it counts does not change.
    ///
    /// # Errors
    /// None is known for a valid counter.
    pub fn reset(&self) -> io::Result<()> {
        attributes::control(&self.event, attributes::RESET)
    }

    /// The count. When the hardware had to be shared with other counters, it is extrapolated from the part of the time
    /// in which it was counted. When a thread reads its own counter of system calls, that call is counted.
    ///
    /// # Errors
    /// None is known for a valid counter.
    pub fn read(&self) -> io::Result<u64> {
        let mut record = [0u8; 24];
        let length = rustix::io::read(&self.event, &mut record)?;
        if length != record.len() {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("{length} of 24 bytes of a count"),
            ));
        }
        let [value, enabled, running] =
            [0, 8, 16].map(|at| u64::from_ne_bytes(record[at..at + 8].try_into().expect("eight bytes")));
        Ok(extrapolated(value, enabled, running))
    }
}

/// A count over all threads of a process.
///
/// Threads started later by those that it has when the counter is opened are counted too. Open it while the process
/// starts no thread: one that appears in that very moment may be missed.
#[derive(Debug)]
pub struct ProcessCounter {
    counters: Vec<Counter>,
}

impl ProcessCounter {
    /// Opens one counter per thread. They start disabled, at 0.
    ///
    /// # Errors
    /// [`PerfError`], as [`Counter::open`].
    pub fn open(process: TaskId, kind: CounterKind) -> Result<Self, PerfError> {
        let threads = process::threads_of(process).map_err(|_| PerfError::NoSuchTask(process))?;
        let mut counters = Vec::with_capacity(threads.len());
        for thread in threads {
            match Counter::open(thread, kind, true) {
                Ok(counter) => counters.push(counter),
                // It ended since it was listed.
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

    /// As [`Counter::enable`], one thread after the other.
    ///
    /// # Errors
    /// As [`Counter::enable`].
    pub fn enable(&self) -> io::Result<()> {
        self.counters.iter().try_for_each(Counter::enable)
    }

    /// As [`Counter::disable`], one thread after the other.
    ///
    /// # Errors
    /// As [`Counter::disable`].
    pub fn disable(&self) -> io::Result<()> {
        self.counters.iter().try_for_each(Counter::disable)
    }

    /// As [`Counter::reset`], one thread after the other.
    ///
    /// # Errors
    /// As [`Counter::reset`].
    pub fn reset(&self) -> io::Result<()> {
        self.counters.iter().try_for_each(Counter::reset)
    }

    /// The sum over all threads.
    ///
    /// # Errors
    /// As [`Counter::read`].
    pub fn read(&self) -> io::Result<u64> {
        self.counters.iter().map(Counter::read).sum()
    }
}

/// Why something cannot be counted.
#[derive(Debug, thiserror::Error)]
pub enum PerfError {
    /// A right is missing.
    #[error(
        "counting {kind} was refused ({source}): be root, or grant CAP_PERFMON \
         (`sudo setcap cap_perfmon+ep BINARY`) or `sudo sysctl kernel.perf_event_paranoid=-1`"
    )]
    Denied {
        /// What was to be counted.
        kind: CounterKind,
        /// What the kernel said.
        source: io::Error,
    },
    /// The machine has no such counter; virtual machines often have none for cycles.
    #[error("this machine cannot count {kind} ({source})")]
    Unsupported {
        /// What was to be counted.
        kind: CounterKind,
        /// What the kernel said.
        source: io::Error,
    },
    /// The list of the kernel's tracepoints cannot be read.
    #[error("the tracepoint {name} cannot be found: {source}")]
    NoTracepoint {
        /// The tracepoint.
        name: &'static str,
        /// Why it was not found.
        source: io::Error,
    },
    /// There is no such thread or process.
    #[error("there is no thread or process {0}; has it ended?")]
    NoSuchTask(TaskId),
    /// Anything else.
    #[error("counting {kind} of {task} failed: {source}")]
    Failed {
        /// What was to be counted.
        kind: CounterKind,
        /// Whose.
        task: TaskId,
        /// What the kernel said.
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
            Self::ContextSwitches => "context switches",
        })
    }
}

/// `enabled` and `running` are the times that it was to count and did count.
fn extrapolated(value: u64, enabled: u64, running: u64) -> u64 {
    if running == 0 || running >= enabled {
        return value;
    }
    let scaled = u128::from(value) * u128::from(enabled) / u128::from(running);
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
