//! The kernel's numbers for threads and processes.

use std::fmt;

use rustix::process::Pid;

/// A thread or a process as the kernel numbers them: a process has the number of its first thread.
///
/// Functions that take one say whether they act on that thread alone or on the whole process. The kernel reuses
/// numbers, so one that outlives its thread may come to mean another.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct TaskId(Pid);

impl TaskId {
    /// The number must be positive.
    pub fn new(number: i32) -> Option<Self> {
        if number > 0 {
            Pid::from_raw(number).map(Self)
        } else {
            None
        }
    }

    /// The calling thread.
    pub fn current_thread() -> Self {
        Self(rustix::thread::gettid())
    }

    /// The calling process.
    pub fn current_process() -> Self {
        Self(rustix::process::getpid())
    }

    /// A child process that has been started.
    pub fn of_child(child: &std::process::Child) -> Self {
        Self(Pid::from_child(child))
    }

    /// The number, greater than 0.
    pub fn get(self) -> i32 {
        self.0.as_raw_nonzero().get()
    }

    /// Name of the thread, or of a process's first thread: at most 15 bytes.
    ///
    /// # Errors
    /// `NotFound`: no such thread exists.
    pub fn name(self) -> std::io::Result<String> {
        Ok(std::fs::read_to_string(format!("/proc/{self}/comm"))?
            .trim_end()
            .to_owned())
    }

    pub(crate) fn pid(self) -> Pid {
        self.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl std::str::FromStr for TaskId {
    type Err = std::io::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.trim().parse().ok().and_then(Self::new).ok_or_else(|| {
            std::io::Error::new(
                std::io::ErrorKind::InvalidInput,
                format!("`{text}` is no thread or process number"),
            )
        })
    }
}
