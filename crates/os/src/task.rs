//! Kernel ids of threads and processes.

use std::fmt;

use rustix::process::Pid;

/// Kernel id of a thread or a process; a process has the id of its first thread.
///
/// Functions with such a parameter document whether they act on the thread alone or on the whole process. The
/// kernel reuses ids, so an id that outlives its thread may denote another one.
///
/// ```
/// # use punctual_os as punctual;
/// use punctual::TaskId;
///
/// let own = TaskId::current_thread();
/// assert_eq!(TaskId::new(own.get()), Some(own));
/// assert_eq!(TaskId::new(0), None);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct TaskId(Pid);

impl TaskId {
    /// Converts a number, which must be positive.
    pub fn new(number: i32) -> Option<Self> {
        if number > 0 {
            Pid::from_raw(number).map(Self)
        } else {
            None
        }
    }

    /// Returns the id of the calling thread.
    pub fn current_thread() -> Self {
        Self(rustix::thread::gettid())
    }

    /// Returns the id of the calling process.
    pub fn current_process() -> Self {
        Self(rustix::process::getpid())
    }

    /// Returns the id of a child process.
    pub fn of_child(child: &std::process::Child) -> Self {
        Self(Pid::from_child(child))
    }

    /// Returns the number, which is positive.
    pub fn get(self) -> i32 {
        self.0.as_raw_nonzero().get()
    }

    /// Returns the name of the thread, or of a process's first thread: at most 15 bytes.
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
                format!("`{text}` is not a thread or process id"),
            )
        })
    }
}
