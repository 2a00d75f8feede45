//! Exclusive cpuset: a separate scheduling domain for one process, which the kernel requires before it admits
//! pinned threads to SCHED_DEADLINE; removed on every exit.
//!
//! Supports version 1 control groups only. Source: the kernel's `sched-deadline.rst` (section 5) and
//! `cpusets.rst`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use punctual_os::{CpuSet, TaskId};
use serde::{Deserialize, Serialize};

use crate::files::{naming, remove_released};

const CONTROLLER: &str = "/sys/fs/cgroup/cpuset";
const BALANCE: &str = "cpuset.sched_load_balance";

/// Journal entry of an exclusive cpuset: the folder to remove, and the setting to restore.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct ExclusiveCpuset {
    folder: PathBuf,
    /// Load balancing of the root cpuset; while it is on, all CPUs are one domain.
    balance_before: String,
}

impl ExclusiveCpuset {
    /// Prepares the cpuset of a run. Changes nothing yet.
    ///
    /// # Errors
    /// No version 1 controller exists, or the folder exists already.
    pub(crate) fn of(run: TaskId) -> io::Result<Self> {
        let controller = Path::new(CONTROLLER);
        let balance_before = fs::read_to_string(controller.join(BALANCE)).map_err(|error| {
            let text = format!("no version 1 cpuset controller at {CONTROLLER} ({error})");
            io::Error::new(error.kind(), text)
        })?;
        let folder = controller.join(format!("punctual-{run}"));
        if folder.exists() {
            let text = format!("{} already exists", folder.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
        }
        Ok(Self {
            folder,
            balance_before: balance_before.trim().to_owned(),
        })
    }

    /// Creates it with these CPUs and moves the process into it, with all its threads.
    ///
    /// # Errors
    /// The right is missing, or another cpuset has one of the CPUs. Call [`undo`](Self::undo) to revert
    /// partial changes.
    pub(crate) fn make(&self, cpus: &CpuSet, process: TaskId) -> io::Result<()> {
        let controller = Path::new(CONTROLLER);
        fs::create_dir(&self.folder).map_err(|error| naming(&self.folder, &error))?;
        let memory = fs::read_to_string(controller.join("cpuset.mems"))?;
        write(&self.folder.join("cpuset.cpus"), &cpus.to_string())?;
        write(&self.folder.join("cpuset.mems"), memory.trim())?;
        write(&self.folder.join("cpuset.cpu_exclusive"), "1")?;
        write(&controller.join(BALANCE), "0")?;
        write(&self.folder.join("cgroup.procs"), &process.to_string())
    }

    /// Moves its processes back, removes it, and restores the setting unless another program has changed it
    /// since. Further calls change nothing.
    ///
    /// # Errors
    /// One of the two failed; the other has been tried all the same.
    pub(crate) fn undo(&self) -> io::Result<()> {
        let removed = self.remove();
        let balance = Path::new(CONTROLLER).join(BALANCE);
        let restored = match fs::read_to_string(&balance) {
            Ok(now) if now.trim() == "0" && self.balance_before != "0" => {
                write(&balance, &self.balance_before)
            }
            Ok(_) => Ok(()),
            Err(error) => Err(naming(&balance, &error)),
        };
        removed.and(restored)
    }

    fn remove(&self) -> io::Result<()> {
        let release = || {
            let inside = fs::read_to_string(self.folder.join("cgroup.procs")).unwrap_or_default();
            for process in inside.lines() {
                // Fails only for processes that have ended meanwhile.
                let _ = fs::write(Path::new(CONTROLLER).join("cgroup.procs"), process);
            }
        };
        match remove_released(&self.folder, release) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(naming(&self.folder, &error)),
            _ => Ok(()),
        }
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    fs::write(path, text).map_err(|error| naming(path, &error))
}
