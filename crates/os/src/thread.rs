//! Threads that are named and configured before their function runs.

mod stack;

use std::io;
use std::sync::{Arc, OnceLock};

pub use self::stack::Stack;
use crate::{CpuSet, Scheduling, TaskId, affinity, scheduling};

/// Configuration of a thread.
///
/// ```
/// # mod punctual { pub use {punctual_os::*, punctual_types::*}; }
/// use punctual::{CpuSet, NativePriority, Scheduling, ThreadSpec};
///
/// let lane = ThreadSpec::new("radar-lane-0")
///     .scheduling(Scheduling::fifo(NativePriority(40)))
///     .affinity(CpuSet::single(0))
///     .stack_bytes(256 * 1024)
///     .prefault_bytes(64 * 1024)
///     .spawn(|| 6 * 7)?;
/// // Without the right to a real-time class, it runs in the ordinary class.
/// assert_eq!(lane.join().unwrap(), 42);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ThreadSpec {
    /// Name, as shown by debuggers and `ps -L`; the kernel keeps the first 15 bytes.
    pub name: String,
    /// Scheduling class and priority; default: [`Scheduling::OTHER`].
    pub scheduling: Scheduling,
    /// CPUs on which it may run; default: those of the starting thread.
    pub affinity: Option<CpuSet>,
    /// Stack size in bytes; default: 2 MiB. The C library rounds up and enforces a minimum.
    pub stack_bytes: usize,
    /// How many bytes of its stack, from the base, are made resident before it starts, so that using them
    /// causes no page fault. The rest is made resident, and locked if memory is locked, when it is first
    /// touched. Default 0: nothing is touched in advance, and with locked memory the kernel makes the whole
    /// stack resident.
    pub prefault_bytes: usize,
}

/// Whether the scheduling requested by a [`ThreadSpec`] was granted.
///
/// ```
/// # use punctual_os as punctual;
/// use punctual::{Granted, ThreadSpec};
///
/// let thread = ThreadSpec::new("logger").spawn(|| ())?;
/// assert_eq!(thread.granted(), Granted::Ordinary);
/// # thread.join().unwrap();
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Granted {
    /// The thread runs in the requested real-time class and priority.
    RealTime,
    /// The requested real-time class was refused for the given reason; the thread runs in the ordinary class.
    /// [`crate::rights::probe`] returns the commands that grant the right.
    Denied(io::ErrorKind),
    /// The thread runs in the ordinary class, as requested.
    Ordinary,
}

/// Thread started by [`ThreadSpec::spawn`]. Dropping this detaches the thread.
///
/// ```
/// # use punctual_os as punctual;
/// use punctual::{Thread, ThreadSpec};
///
/// let thread: Thread<i32> = ThreadSpec::new("answer").spawn(|| 6 * 7)?;
/// println!("thread {} runs: {:?}", thread.tid(), thread.granted());
/// assert_eq!(thread.join().unwrap(), 42);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Thread<T> {
    handle: std::thread::JoinHandle<Option<T>>,
    configured: Configured,
}

/// Facts about a configured thread.
#[derive(Clone, Debug)]
struct Configured {
    tid: TaskId,
    granted: Granted,
    stack: Option<Stack>,
}

impl ThreadSpec {
    /// Default stack size in bytes.
    pub const DEFAULT_STACK_BYTES: usize = 2 * 1024 * 1024;
    /// Prefaulted bytes that suffice for calls of servants without large local variables.
    pub const USUAL_PREFAULT_BYTES: usize = 256 * 1024;

    /// Configures a thread of the ordinary class, on the CPUs of the starting thread.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            scheduling: Scheduling::OTHER,
            affinity: None,
            stack_bytes: Self::DEFAULT_STACK_BYTES,
            prefault_bytes: 0,
        }
    }

    /// Sets scheduling class and priority.
    pub fn scheduling(mut self, scheduling: Scheduling) -> Self {
        self.scheduling = scheduling;
        self
    }

    /// Sets the CPUs on which it may run.
    pub fn affinity(mut self, cpus: impl Into<Option<CpuSet>>) -> Self {
        self.affinity = cpus.into();
        self
    }

    /// Sets the stack size in bytes.
    pub fn stack_bytes(mut self, bytes: usize) -> Self {
        self.stack_bytes = bytes;
        self
    }

    /// Sets how many bytes of its stack are made resident before it starts.
    pub fn prefault_bytes(mut self, bytes: usize) -> Self {
        self.prefault_bytes = bytes;
        self
    }

    /// Starts the thread and returns when it is configured and about to run `f`.
    ///
    /// If the process has no right to the real-time class, the thread runs in the ordinary class, and
    /// [`Thread::granted`] returns [`Granted::Denied`].
    ///
    /// # Errors
    /// The thread could not be created, a CPU does not exist, the priority is outside the range of its class,
    /// or the name contains a NUL. `f` has not run.
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
        #[expect(clippy::disallowed_methods, reason = "the only place that starts threads")]
        let handle = builder.spawn(move || {
            let configured = self.configure_current();
            let ready = configured
                .as_ref()
                .ok()
                .map(|configured| configured.stack.clone());
            report.send(configured);
            // Before `f`, which may run as long as the process.
            drop((self, report));
            ready.map(|stack| {
                let _measured = scopeguard::guard(stack, |stack| {
                    stack.iter().for_each(Stack::end);
                });
                f()
            })
        })?;
        match start.wait() {
            Ok(configured) => Ok(Thread { handle, configured }),
            Err(error) => {
                let text = format!(
                    "thread `{}` could not be configured: {error}",
                    kernel_name_of(&handle)
                );
                // It ends without having run `f`.
                let _ = handle.join();
                Err(io::Error::new(error.kind(), text))
            }
        }
    }

    /// Runs in the new thread. The class comes last: the rest needs no priority and must not delay threads
    /// that do.
    fn configure_current(&self) -> io::Result<Configured> {
        if let Some(cpus) = &self.affinity {
            affinity::set_current(cpus)?;
        }
        let prefault = (self.prefault_bytes > 0).then_some(self.prefault_bytes);
        let stack = prefault.and_then(Stack::prefault);
        let granted = match scheduling::set_current(self.scheduling) {
            Ok(()) if self.scheduling.is_realtime() => Granted::RealTime,
            Ok(()) => Granted::Ordinary,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                // The class of the starting thread has been inherited; leaving it needs no right.
                scheduling::set_current(Scheduling::OTHER)?;
                Granted::Denied(error.kind())
            }
            Err(error) => return Err(error),
        };
        Ok(Configured {
            tid: TaskId::current_thread(),
            granted,
            stack,
        })
    }
}

impl<T> Thread<T> {
    /// Waits, without a deadline, for the thread to end. Returns its result, or its panic as an error.
    pub fn join(self) -> std::thread::Result<T> {
        self.handle
            .join()
            .map(|result| result.expect("a thread that started has run its function"))
    }

    /// Returns whether the requested scheduling was granted.
    pub fn granted(&self) -> Granted {
        self.configured.granted
    }

    /// Returns the kernel's id of the thread.
    pub fn tid(&self) -> TaskId {
        self.configured.tid
    }

    /// Returns the thread's stack, if it was prefaulted; its high-water mark stays available when the thread
    /// has ended.
    pub fn stack(&self) -> Option<&Stack> {
        self.configured.stack.as_ref()
    }

    /// Returns whether the thread's function has returned; if so, [`join`](Self::join) does not wait.
    pub fn is_finished(&self) -> bool {
        self.handle.is_finished()
    }

    /// Returns the standard library's handle, for `unpark` and the name.
    pub fn thread(&self) -> &std::thread::Thread {
        self.handle.thread()
    }
}

/// Report of the new thread to the starting thread about its configuration.
struct StartReport {
    outcome: OnceLock<Outcome>,
    starter: std::thread::Thread,
}

type Outcome = Result<Configured, ConfigureError>;

#[derive(Clone, Debug)]
struct ConfigureError {
    kind: io::ErrorKind,
    text: String,
}

impl StartReport {
    fn send(&self, configured: io::Result<Configured>) {
        let outcome = configured.map_err(|error| ConfigureError {
            kind: error.kind(),
            text: error.to_string(),
        });
        self.outcome.set(outcome).expect("one thread sends one report");
        self.starter.unpark();
    }

    fn wait(&self) -> io::Result<Configured> {
        loop {
            if let Some(outcome) = self.outcome.get() {
                return outcome
                    .clone()
                    .map_err(|error| io::Error::new(error.kind, error.text));
            }
            // Returns at once if the report was sent between the two lines.
            std::thread::park();
        }
    }
}

/// Returns the part of a name that fits the kernel's 15 bytes, cut between characters.
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
