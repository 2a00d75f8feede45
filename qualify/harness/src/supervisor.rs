//! Preparation of the machine for a run, and its restoration on every exit.

mod journal;
mod process;
pub(crate) mod scratch;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use punctual_os::{CpuSet, TaskId};
use serde::{Deserialize, Serialize};

use crate::child::{Child, ChildError, ChildSpec};
pub use process::main_if_asked;

/// How to prepare the machine.
///
/// A separate process lifts the kernel's real-time throttling, moves foreign tasks off the pinned CPUs, and
/// waits for the end of the run: [`Supervisor::finish`], a panic, a signal or SIGKILL, all of which close the
/// pipe between the two. It journals each change *beforehand*; if it is killed as well, the next run on the
/// machine finds the journal and repairs the settings. A lock prevents concurrent runs. Temporary files of
/// the children are in a folder that is removed with the run.
///
/// ```no_run
/// use punctual_harness::supervisor::{self, Preparation};
/// use punctual_os::CpuSet;
///
/// supervisor::main_if_asked(); // first thing in `main`
/// let supervisor = Preparation::new(CpuSet::single(1)).leave_system_alone(false).start()?;
/// println!("{}", supervisor.prepared());
/// // ... start the children, measure, stop the children ...
/// supervisor.finish()?;
/// # Ok::<(), punctual_harness::ChildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Preparation {
    pinned: CpuSet,
    scope: Scope,
    state_directory: Option<PathBuf>,
}

/// Settings that the supervising process may change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Scope {
    /// Everything.
    All,
    /// Changes nothing; it only prevents concurrent runs.
    LockOnly,
    /// It removes this process's trace instance at the end, and nothing else.
    TraceOnly,
}

impl Preparation {
    /// Prepares for a run on the CPUs `pinned`.
    pub fn new(pinned: CpuSet) -> Self {
        Self {
            pinned,
            scope: Scope::All,
            state_directory: None,
        }
    }

    /// Sets whether nothing is changed on the machine, not even to repair what an earlier run left. The lock
    /// is taken all the same.
    #[must_use]
    pub fn leave_system_alone(mut self, unchanged: bool) -> Self {
        self.scope = if unchanged { Scope::LockOnly } else { Scope::All };
        self
    }

    /// Prepares for observation only: nothing is changed, concurrent runs are permitted, and only this
    /// process's [`TraceInstance`](crate::TraceInstance) is removed at the end.
    pub fn watching() -> Self {
        Self {
            scope: Scope::TraceOnly,
            ..Self::new(CpuSet::empty())
        }
    }

    /// Sets the folder of lock and journal. Default: the first usable one of `/run/punctual`,
    /// `$XDG_RUNTIME_DIR/punctual` and a private folder of the user among temporary files. Runs with
    /// different folders do not detect each other.
    #[must_use]
    pub fn state_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.state_directory = Some(directory.into());
        self
    }

    /// Prepares the machine. The threads of this process are moved off the pinned CPUs, too; processes
    /// started later, as by [`ChildSpec`], have their own affinity. `main` must call [`main_if_asked`] first.
    ///
    /// [`Supervisor::prepared`] reports what was left unchanged because of missing rights.
    ///
    /// # Errors
    /// Another run holds the lock (the text names its process), or the supervising process could not be
    /// started.
    pub fn start(&self) -> Result<Supervisor, ChildError> {
        let directory = self
            .state_directory
            .as_ref()
            .map(|path| path.display().to_string());
        let spec = ChildSpec::new("supervisor", process::SUBCOMMAND)
            .argument(TaskId::current_process().to_string())
            .argument(self.pinned.to_string())
            .argument(self.scope.as_argument())
            .argument(directory.unwrap_or_default())
            .outliving();
        let (child, (prepared, scratch)) = spec.spawn::<(Prepared, Option<PathBuf>)>(TIMEOUT)?;
        scratch::set_current(scratch);
        Ok(Supervisor {
            child: Some(child),
            prepared,
        })
    }
}

impl Scope {
    const EACH: [Self; 3] = [Self::All, Self::LockOnly, Self::TraceOnly];

    fn as_argument(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::LockOnly => "lock-only",
            Self::TraceOnly => "trace-only",
        }
    }

    fn from_argument(text: &str) -> Option<Self> {
        Self::EACH.into_iter().find(|scope| scope.as_argument() == text)
    }
}

/// Prepared machine. Dropping this restores it.
#[derive(Debug)]
pub struct Supervisor {
    child: Option<Child>,
    prepared: Prepared,
}

impl Supervisor {
    /// Returns what was changed.
    pub fn prepared(&self) -> &Prepared {
        &self.prepared
    }

    /// Returns its process; `None` after it has ended.
    pub fn process(&self) -> Option<TaskId> {
        self.child.as_ref().map(Child::id)
    }

    /// Moves foreign tasks that have appeared on the pinned CPUs since; returns their number.
    ///
    /// # Errors
    /// The supervising process has ended.
    pub fn sweep(&mut self) -> Result<usize, ChildError> {
        let child = self
            .child
            .as_mut()
            .expect("only `finish` takes the child, and the supervisor with it");
        child.request(&Request::Sweep, TIMEOUT)
    }

    /// Makes the pinned CPUs a separate scheduling domain for this process with all its threads: only there
    /// does the kernel admit pinned threads to SCHED_DEADLINE. Meanwhile real-time throttling is as before
    /// the run, because admission depends on it, and the kernel does not balance the load of other CPUs.
    ///
    /// # Errors
    /// It is not possible here ([`Failure::Refused`](crate::child::Failure::Refused) states why; nothing is
    /// changed), or the supervising process has ended.
    pub fn isolate(&mut self, process: TaskId) -> Result<(), ChildError> {
        self.change(&Request::Isolate(process.get()))
    }

    /// Undoes [`isolate`](Self::isolate). The process should have ended.
    ///
    /// # Errors
    /// It could not be undone, or the supervising process has ended.
    pub fn share(&mut self) -> Result<(), ChildError> {
        self.change(&Request::Share)
    }

    fn change(&mut self, request: &Request) -> Result<(), ChildError> {
        let child = self
            .child
            .as_mut()
            .expect("only `finish` takes the child, and the supervisor with it");
        let _: usize = child.request(request, TIMEOUT)?;
        Ok(())
    }

    /// Restores the machine.
    ///
    /// # Errors
    /// The supervising process has ended or is late; the next run repairs the settings.
    pub fn finish(mut self) -> Result<(), ChildError> {
        self.restore()
    }

    fn restore(&mut self) -> Result<(), ChildError> {
        let Some(mut child) = self.child.take() else {
            return Ok(());
        };
        scratch::set_current(None);
        let restored: Result<usize, _> = child.request(&Request::Restore, TIMEOUT);
        restored?;
        child.stop(TIMEOUT)
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        // Errors are ignored: the next run repairs the settings.
        let _ = self.restore();
    }
}

/// Changes made to the machine for the run.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Prepared {
    /// Real-time throttling.
    pub throttling: Throttling,
    /// Number of foreign threads moved off the pinned CPUs.
    pub moved: usize,
    /// Number of foreign threads that could not be moved.
    pub refused: usize,
    /// Notices for the user, one sentence each: repairs, and what was not done and why.
    pub notices: Vec<String>,
}

/// State of the kernel's real-time throttling during the run.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Throttling {
    /// Lifted; the earlier value, as in the kernel's file.
    Lifted(String),
    /// It was off.
    WasOff,
    /// Unchanged.
    LeftAlone,
}

impl fmt::Display for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let throttling = match &self.throttling {
            Throttling::Lifted(before) => format!("lifted (was {before})"),
            Throttling::WasOff => "already off".to_owned(),
            Throttling::LeftAlone => "unchanged".to_owned(),
        };
        write!(
            f,
            "real-time throttling {throttling}, {} foreign threads moved",
            self.moved
        )?;
        if self.refused > 0 {
            write!(f, ", {} could not be moved", self.refused)?;
        }
        self.notices.iter().try_for_each(|notice| write!(f, "; {notice}"))
    }
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
enum Request {
    Sweep,
    /// Isolates this process.
    Isolate(i32),
    Share,
    Restore,
}

/// Timeout of requests to the supervising process, which inspects all threads of the machine.
const TIMEOUT: Duration = Duration::from_secs(20);
