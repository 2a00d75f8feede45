//! Prepares the machine for a run, and restores it on every way out.
//!
//! A process of its own lifts the kernel's real-time throttling, moves foreign tasks off the pinned CPUs, and waits for
//! the run to end: by [`Supervisor::finish`], by a panic, by a signal, or by SIGKILL, all of which close the pipe
//! between the two. It writes down what it changes *before* it changes it; if it is killed as well, the next run on the
//! machine finds that journal and repairs what was left. A lock keeps two runs apart. Temporary files of the children
//! are in a folder that goes with the run.
//!
//! ```no_run
//! use punctual_harness::supervisor::{self, Preparation};
//! use punctual_os::CpuSet;
//!
//! supervisor::main_if_asked(); // first thing in `main`
//! let supervisor = Preparation::new(CpuSet::single(1)).leave_system_alone(false).start()?;
//! println!("{}", supervisor.prepared());
//! // ... start the children, measure, stop the children ...
//! supervisor.finish()?;
//! # Ok::<(), punctual_harness::ChildError>(())
//! ```

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

/// How the machine is to be prepared.
#[derive(Clone, Debug)]
pub struct Preparation {
    pinned: CpuSet,
    hands: Hands,
    state_directory: Option<PathBuf>,
}

/// How far the supervising process may go.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Hands {
    /// Everything.
    On,
    /// It changes nothing, and keeps other runs away.
    Off,
    /// It removes this process's trace instance in the end, and nothing else.
    TraceOnly,
}

impl Preparation {
    /// For a run on the CPUs `pinned`.
    pub fn new(pinned: CpuSet) -> Self {
        Self {
            pinned,
            hands: Hands::On,
            state_directory: None,
        }
    }

    /// Whether nothing is changed on the machine, not even to repair what an earlier run left. The lock is taken all
    /// the same.
    #[must_use]
    pub fn leave_system_alone(mut self, hands_off: bool) -> Self {
        self.hands = if hands_off { Hands::Off } else { Hands::On };
        self
    }

    /// For watching only: nothing is changed, other runs go on beside this one, and what is restored in the end is this
    /// process's [`TraceInstance`](crate::TraceInstance).
    pub fn watching() -> Self {
        Self {
            hands: Hands::TraceOnly,
            ..Self::new(CpuSet::empty())
        }
    }

    /// Where the lock and the journal are: by default `/run/punctual` if it can be had, else
    /// `$XDG_RUNTIME_DIR/punctual`, else a directory of the user's own where temporary files are. Runs with different
    /// directories do not know of each other.
    #[must_use]
    pub fn state_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.state_directory = Some(directory.into());
        self
    }

    /// Prepares the machine. The threads of this process are moved off the pinned CPUs too; what it starts from then
    /// on, as [`ChildSpec`] does, brings its own affinity. `main` must call [`main_if_asked`] first.
    ///
    /// What the rights do not suffice for is left as it is and told in [`Supervisor::prepared`].
    ///
    /// # Errors
    /// Another run holds the lock (its process is named), or the supervising process could not be started.
    pub fn start(&self) -> Result<Supervisor, ChildError> {
        let directory = self
            .state_directory
            .as_ref()
            .map(|path| path.display().to_string());
        let spec = ChildSpec::new("supervisor", process::SUBCOMMAND)
            .argument(TaskId::current_process().to_string())
            .argument(self.pinned.to_string())
            .argument(self.hands.as_argument())
            .argument(directory.unwrap_or_default())
            .outliving();
        let (child, (prepared, scratch)) = spec.spawn::<(Prepared, Option<PathBuf>)>(PATIENCE)?;
        scratch::set_current(scratch);
        Ok(Supervisor {
            child: Some(child),
            prepared,
        })
    }
}

impl Hands {
    const ALL: [Self; 3] = [Self::On, Self::Off, Self::TraceOnly];

    fn as_argument(self) -> &'static str {
        match self {
            Self::On => "hands-on",
            Self::Off => "hands-off",
            Self::TraceOnly => "trace-only",
        }
    }

    fn from_argument(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|hands| hands.as_argument() == text)
    }
}

/// The machine as prepared. Dropping it restores the machine.
#[derive(Debug)]
pub struct Supervisor {
    child: Option<Child>,
    prepared: Prepared,
}

impl Supervisor {
    /// What was changed.
    pub fn prepared(&self) -> &Prepared {
        &self.prepared
    }

    /// Its process; `None` once it has ended.
    pub fn process(&self) -> Option<TaskId> {
        self.child.as_ref().map(Child::id)
    }

    /// Moves foreign tasks that have come to the pinned CPUs since, and gives their number.
    ///
    /// # Errors
    /// The supervising process is gone.
    pub fn sweep(&mut self) -> Result<usize, ChildError> {
        let child = self
            .child
            .as_mut()
            .expect("only `finish` takes the child, and the supervisor with it");
        child.ask(&Request::Sweep, PATIENCE)
    }

    /// Makes the pinned CPUs a scheduling domain of their own with this process alone, all its threads included: only there
    /// does the kernel let threads that are kept to some CPUs have SCHED_DEADLINE. Meanwhile real-time throttling is as
    /// before the run, for what the kernel admits depends on it, and the kernel does not balance other CPUs' loads.
    ///
    /// # Errors
    /// It cannot be had here ([`Failure::Refused`](crate::child::Failure::Refused) says why; nothing is changed then), or
    /// the supervising process is gone.
    pub fn isolate(&mut self, process: TaskId) -> Result<(), ChildError> {
        self.change(&Request::Isolate(process.get()))
    }

    /// Undoes [`isolate`](Self::isolate). The process should have ended.
    ///
    /// # Errors
    /// It could not be undone, or the supervising process is gone.
    pub fn share(&mut self) -> Result<(), ChildError> {
        self.change(&Request::Share)
    }

    fn change(&mut self, request: &Request) -> Result<(), ChildError> {
        let child = self
            .child
            .as_mut()
            .expect("only `finish` takes the child, and the supervisor with it");
        let _: usize = child.ask(request, PATIENCE)?;
        Ok(())
    }

    /// Restores the machine and waits for that.
    ///
    /// # Errors
    /// The supervising process is gone or late; the next run repairs what it left.
    pub fn finish(mut self) -> Result<(), ChildError> {
        self.restore()
    }

    fn restore(&mut self) -> Result<(), ChildError> {
        let Some(mut child) = self.child.take() else {
            return Ok(());
        };
        scratch::set_current(None);
        let restored: Result<usize, _> = child.ask(&Request::Restore, PATIENCE);
        restored?;
        child.stop(PATIENCE)
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        // There is nobody to tell; the next run repairs what is left.
        let _ = self.restore();
    }
}

/// What was changed on the machine for the run.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Prepared {
    /// What became of real-time throttling.
    pub throttling: Throttling,
    /// How many foreign threads were moved off the pinned CPUs.
    pub moved: usize,
    /// How many could not be.
    pub refused: usize,
    /// What the user should know, a sentence each: repairs, and what was not done and why.
    pub notices: Vec<String>,
}

/// What became of the kernel's real-time throttling.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Throttling {
    /// It was lifted; the value before, as the kernel's file holds it.
    Lifted(String),
    /// There was none.
    WasOff,
    /// It was left as it was.
    LeftAlone,
}

impl fmt::Display for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let throttling = match &self.throttling {
            Throttling::Lifted(before) => format!("lifted (was {before})"),
            Throttling::WasOff => "off already".to_owned(),
            Throttling::LeftAlone => "left as it is".to_owned(),
        };
        write!(
            f,
            "real-time throttling {throttling}, {} foreign threads moved",
            self.moved
        )?;
        if self.refused > 0 {
            write!(f, ", {} could not be", self.refused)?;
        }
        self.notices.iter().try_for_each(|notice| write!(f, "; {notice}"))
    }
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
enum Request {
    Sweep,
    /// The process.
    Isolate(i32),
    Share,
    Restore,
}

/// How long the supervising process may take for anything; it looks at all threads of the machine.
const PATIENCE: Duration = Duration::from_secs(20);
