//! CPUs that are a scheduling domain of their own, for one process: what the kernel wants before it lets threads that
//! may not run everywhere have SCHED_DEADLINE. And its removal on every way out.
//!
//! Of control groups of version 1 only. Source: the kernel's `sched-deadline.rst` (section 5) and `cpusets.rst`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use punctual_os::{CpuSet, TaskId};
use serde::{Deserialize, Serialize};

const CONTROLLER: &str = "/sys/fs/cgroup/cpuset";
const BALANCE: &str = "cpuset.sched_load_balance";

/// An exclusive cpuset, as the journal has it: the folder to be removed, and the setting to be restored.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct ExclusiveCpuset {
    folder: PathBuf,
    /// Of all CPUs' cpuset: as long as it balances, all are one domain.
    balance_before: String,
}

impl ExclusiveCpuset {
    /// That of a run. Nothing is changed yet.
    ///
    /// # Errors
    /// There is no controller of version 1, or it has such a folder already.
    pub(crate) fn of(run: TaskId) -> io::Result<Self> {
        let controller = Path::new(CONTROLLER);
        let balance_before = fs::read_to_string(controller.join(BALANCE)).map_err(|error| {
            let text = format!("no cpuset controller of version 1 at {CONTROLLER} ({error})");
            io::Error::new(error.kind(), text)
        })?;
        let folder = controller.join(format!("punctual-{run}"));
        if folder.exists() {
            let text = format!("{} is there already", folder.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
        }
        Ok(Self {
            folder,
            balance_before: balance_before.trim().to_owned(),
        })
    }

    /// Makes it of these CPUs and moves the process there, with all its threads.
    ///
    /// # Errors
    /// No right to it, or another cpuset has one of the CPUs. What has been done until then is there: undo it.
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

    /// Removes it, with whoever is still there back among the others, and restores the setting, unless somebody else has
    /// set it since. Again is the same.
    ///
    /// # Errors
    /// One of the two could not be done; the other has been tried all the same.
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
        let deadline = Instant::now() + Duration::from_secs(2);
        loop {
            let inside = fs::read_to_string(self.folder.join("cgroup.procs")).unwrap_or_default();
            for process in inside.lines() {
                // One that has ended meanwhile is gone from there too.
                let _ = fs::write(Path::new(CONTROLLER).join("cgroup.procs"), process);
            }
            match fs::remove_dir(&self.folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                // Somebody who was killed a moment ago is there still.
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy && Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                other => return other.map_err(|error| naming(&self.folder, &error)),
            }
        }
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    fs::write(path, text).map_err(|error| naming(path, &error))
}

fn naming(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
