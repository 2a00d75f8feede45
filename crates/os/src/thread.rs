//! Threads that are named and configured before their first own instruction runs.

mod stack;

use std::io;
use std::sync::{Arc, OnceLock};

use crate::{CpuSet, Scheduling, TaskId, affinity, scheduling};

/// Everything there is to say about a thread before it starts.
///
/// ```
/// use punctual_os::{CpuSet, Granted, Scheduling, ThreadSpec};
/// use punctual_types::NativePriority;
///
/// let lane = ThreadSpec::new("radar-lane-0")
///     .scheduling(Scheduling::fifo(NativePriority(40)))
///     .affinity(CpuSet::single(0))
///     .stack_bytes(256 * 1024)
///     .prefault(true)
///     .spawn(|| 6 * 7)?;
/// if let Granted::Denied(reason) = lane.granted() {
///     // It runs, in the ordinary class.
///     assert_eq!(reason, std::io::ErrorKind::PermissionDenied);
/// }
/// assert_eq!(lane.join().unwrap(), 42);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ThreadSpec {
    /// Shown by debuggers and `ps -L`; the kernel keeps its first 15 bytes.
    pub name: String,
    /// Class and priority; [`Scheduling::OTHER`] by default.
    pub scheduling: Scheduling,
    /// The CPUs it may run on; by default those of the thread that starts it.
    pub affinity: Option<CpuSet>,
    /// The size of its stack in bytes; 2 MiB by default. The C library rounds up and has a minimum of its own.
    pub stack_bytes: usize,
    /// Whether its whole stack is made resident before it starts, so that no page fault comes later; off by default.
    pub prefault: bool,
}

/// What became of the scheduling that a [`ThreadSpec`] asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Granted {
    /// The thread runs in the real-time class and at the priority that were asked for.
    RealTime,
    /// A real-time class was asked for and refused for the reason given; the thread runs in the ordinary class.
    /// [`crate::rights::probe`] says which command grants the right.
    Denied(io::ErrorKind),
    /// The ordinary class was asked for, and is what it has.
    Ordinary,
}

/// A thread that was started by [`ThreadSpec::spawn`]. Dropping it lets the thread run on by itself.
#[derive(Debug)]
pub struct Thread<T> {
    handle: std::thread::JoinHandle<Option<T>>,
    tid: TaskId,
    granted: Granted,
}

impl ThreadSpec {
    /// The default size of a stack in bytes.
    pub const DEFAULT_STACK_BYTES: usize = 2 * 1024 * 1024;

    /// A thread of the ordinary class, wherever its starter may run.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            scheduling: Scheduling::OTHER,
            affinity: None,
            stack_bytes: Self::DEFAULT_STACK_BYTES,
            prefault: false,
        }
    }

    /// Sets class and priority.
    pub fn scheduling(mut self, scheduling: Scheduling) -> Self {
        self.scheduling = scheduling;
        self
    }

    /// Sets the CPUs it may run on.
    pub fn affinity(mut self, cpus: impl Into<Option<CpuSet>>) -> Self {
        self.affinity = cpus.into();
        self
    }

    /// Sets the size of its stack in bytes.
    pub fn stack_bytes(mut self, bytes: usize) -> Self {
        self.stack_bytes = bytes;
        self
    }

    /// Sets whether its stack is made resident before it starts.
    pub fn prefault(mut self, prefault: bool) -> Self {
        self.prefault = prefault;
        self
    }

    /// Starts the thread and returns once it is configured and about to run `f`.
    ///
    /// A real-time class that the process has no right to does not stop the thread: it runs in the ordinary class, and
    /// [`Thread::granted`] says so.
    ///
    /// # Errors
    /// The thread could not be created, a CPU does not exist, the priority is outside its class, or the name holds a
    /// NUL. `f` has not run then.
    pub fn spawn<F, T>(self, f: F) -> io::Result<Thread<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        if self.name.contains('\0') {
            let text = format!("the thread name {:?} contains a NUL character", self.name);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let start = Arc::new(StartReport {
            outcome: OnceLock::new(),
            starter: std::thread::current(),
        });
        let report = Arc::clone(&start);
        let builder = std::thread::Builder::new()
            .name(kernel_name(&self.name).to_owned())
            .stack_size(self.stack_bytes);
        #[expect(clippy::disallowed_methods, reason = "the one place that makes threads")]
        let handle = builder.spawn(move || {
            let configured = self.configure_current();
            let ready = configured.is_ok();
            report.give(configured);
            // Before `f`, which may run for the life of the process.
            drop((self, report));
            ready.then(f)
        })?;
        match start.take() {
            Ok((tid, granted)) => Ok(Thread { handle, tid, granted }),
            Err(error) => {
                let text = format!(
                    "thread `{}` could not be configured: {error}",
                    kernel_name_of(&handle)
                );
                // It ends by itself, without having run `f`.
                let _ = handle.join();
                Err(io::Error::new(error.kind(), text))
            }
        }
    }

    /// Runs inside the new thread. The class comes last: the rest needs no priority, and must not delay those that do.
    fn configure_current(&self) -> io::Result<(TaskId, Granted)> {
        if let Some(cpus) = &self.affinity {
            affinity::set_current(cpus)?;
        }
        if self.prefault {
            stack::prefault();
        }
        let granted = match scheduling::set_current(self.scheduling) {
            Ok(()) if self.scheduling.is_realtime() => Granted::RealTime,
            Ok(()) => Granted::Ordinary,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                // The class of the starter has been inherited; giving it up needs no right.
                scheduling::set_current(Scheduling::OTHER)?;
                Granted::Denied(error.kind())
            }
            Err(error) => return Err(error),
        };
        Ok((TaskId::current_thread(), granted))
    }
}

impl<T> Thread<T> {
    /// Waits, without a deadline, for the thread to end, and gives its result, or its panic as an error.
    pub fn join(self) -> std::thread::Result<T> {
        self.handle
            .join()
            .map(|result| result.expect("a thread that started has run its function"))
    }

    /// What became of the scheduling that was asked for.
    pub fn granted(&self) -> Granted {
        self.granted
    }

    /// The kernel's number of the thread.
    pub fn tid(&self) -> TaskId {
        self.tid
    }

    /// Whether the thread has run its function to the end; [`join`](Self::join) returns at once then.
    pub fn is_finished(&self) -> bool {
        self.handle.is_finished()
    }

    /// The standard library's handle, for `unpark` and the name.
    pub fn thread(&self) -> &std::thread::Thread {
        self.handle.thread()
    }
}

/// How the new thread tells its starter what became of its configuration.
struct StartReport {
    outcome: OnceLock<Outcome>,
    starter: std::thread::Thread,
}

type Outcome = Result<(TaskId, Granted), ConfigureError>;

#[derive(Clone, Debug)]
struct ConfigureError {
    kind: io::ErrorKind,
    text: String,
}

impl StartReport {
    fn give(&self, configured: io::Result<(TaskId, Granted)>) {
        let outcome = configured.map_err(|error| ConfigureError {
            kind: error.kind(),
            text: error.to_string(),
        });
        self.outcome.set(outcome).expect("one thread gives one report");
        self.starter.unpark();
    }

    fn take(&self) -> io::Result<(TaskId, Granted)> {
        loop {
            if let Some(outcome) = self.outcome.get() {
                return outcome
                    .clone()
                    .map_err(|error| io::Error::new(error.kind, error.text));
            }
            // Returns at once when the report came between the two lines.
            std::thread::park();
        }
    }
}

/// The part of a name that fits the kernel's 15 bytes, cut between characters.
fn kernel_name(name: &str) -> &str {
    const KERNEL_LIMIT: usize = 15;
    let mut end = name.len().min(KERNEL_LIMIT);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

fn kernel_name_of<T>(handle: &std::thread::JoinHandle<T>) -> &str {
    handle.thread().name().unwrap_or_default()
}

#[cfg(test)]
mod tests;
