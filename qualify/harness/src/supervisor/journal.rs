//! Journal of changes to the machine, written before each change, and the lock that prevents concurrent runs.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use punctual_os::TaskId;
use punctual_system::throttling::{self, RealtimeRuntime};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::exclusive_cpuset::ExclusiveCpuset;
use crate::foreign_tasks::{self, Move};
use crate::{files::naming, output_file};

pub(super) const FILE: &str = "changes.json";
const LOCK: &str = "lock";

/// Changes in force.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Entry {
    /// Boot id; a journal from before the last boot is ignored.
    boot: String,
    pub(super) throttling: Option<ThrottlingChange>,
    pub(super) moves: Vec<Move>,
    pub(super) cpuset: Option<ExclusiveCpuset>,
    /// Clock ticks since boot before the first change.
    pub(super) since: u64,
}

/// Change of real-time throttling, as in the kernel's file.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct ThrottlingChange {
    pub(super) before: String,
    pub(super) during: String,
}

impl Entry {
    pub(super) fn new(since: u64) -> Self {
        Self {
            boot: boot_id(),
            throttling: None,
            moves: Vec::new(),
            cpuset: None,
            since,
        }
    }

    /// Reads the journal of an earlier run; `None` if there is none.
    pub(super) fn read(file: &Path) -> io::Result<Option<Self>> {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(naming(file, &error)),
        };
        let entry: Self = serde_json::from_str(&text).map_err(|error| {
            let text = format!(
                "{} is not a journal of this program ({error}): restore the settings manually and delete it",
                file.display()
            );
            io::Error::new(io::ErrorKind::InvalidData, text)
        })?;
        if entry.boot == boot_id() {
            return Ok(Some(entry));
        }
        Self::remove(file)?;
        Ok(None)
    }

    pub(super) fn write(&self, file: &Path) -> io::Result<()> {
        let text = serde_json::to_string(self).map_err(io::Error::other)?;
        output_file::write(file, text.as_bytes())
    }

    pub(super) fn remove(file: &Path) -> io::Result<()> {
        match std::fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(naming(file, &error)),
            _ => Ok(()),
        }
    }

    pub(super) fn changes_anything(&self) -> bool {
        self.throttling.is_some() || !self.moves.is_empty() || self.cpuset.is_some()
    }

    /// Restores everything; returns a description. Settings that another program has changed since are left
    /// alone.
    ///
    /// # Errors
    /// Throttling or the cpuset could not be restored; the rest has been restored all the same.
    pub(super) fn undo(&self) -> io::Result<String> {
        let cpuset = self.cpuset.as_ref().map_or(Ok(()), ExclusiveCpuset::undo);
        let throttling = self
            .throttling
            .as_ref()
            .map_or(Ok("unchanged".to_owned()), ThrottlingChange::undo);
        let moved = foreign_tasks::restore(&self.moves, self.since);
        let throttling = throttling?;
        cpuset?;
        let cpuset = if self.cpuset.is_some() {
            ", exclusive cpuset removed"
        } else {
            ""
        };
        Ok(format!(
            "real-time throttling {throttling}, {moved} threads moved back{cpuset}"
        ))
    }
}

impl ThrottlingChange {
    fn undo(&self) -> io::Result<String> {
        match RealtimeRuntime::parse(&self.before) {
            Some(before) if throttling::runtime()?.to_string() == self.during => {
                throttling::set_runtime(before).map_err(|error| {
                    io::Error::new(error.kind(), format!("cannot restore {before}: {error}"))
                })?;
                Ok(format!("restored to {before}"))
            }
            _ => Ok("left as it is: another program has changed it".to_owned()),
        }
    }
}

/// Lock of the machine, held until this is dropped or the process ends.
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    pub(super) fn take(directory: &Path, run: TaskId) -> io::Result<Self> {
        let path = directory.join(LOCK);
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(|error| naming(&path, &error))?;
        let deadline = Instant::now() + Duration::from_secs(3);
        while flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            let mut holder = String::new();
            File::open(&path)?.read_to_string(&mut holder)?;
            // The supervisor of a run killed a moment ago is still restoring the machine.
            let gone = holder
                .parse::<TaskId>()
                .is_ok_and(|holder| !Path::new(&format!("/proc/{holder}")).exists());
            if !gone || Instant::now() > deadline {
                let text = format!(
                    "another measurement (process {}) is running on this machine, and would disturb this one: wait for \
                                         it, or end it (lock {})",
                    holder.trim(),
                    path.display()
                );
                return Err(io::Error::new(io::ErrorKind::WouldBlock, text));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        file.set_len(0)?;
        file.write_all(run.to_string().as_bytes())?;
        Ok(Self { _file: file })
    }
}

/// Returns the folder for both: the requested one, or the first usable default.
pub(super) fn directory(requested: &str) -> io::Result<PathBuf> {
    if !requested.is_empty() {
        return own_directory(PathBuf::from(requested));
    }
    let usual = [
        Some(PathBuf::from("/run/punctual")),
        std::env::var_os("XDG_RUNTIME_DIR").map(|path| PathBuf::from(path).join("punctual")),
    ];
    let usual = usual
        .into_iter()
        .flatten()
        .find_map(|path| own_directory(path).ok());
    usual.map_or_else(
        || own_directory(std::env::temp_dir().join(format!("punctual-{}", user()?))),
        Ok,
    )
}

/// Creates a private folder, or checks that it is private: a foreign journal could make us apply arbitrary
/// settings.
fn own_directory(path: PathBuf) -> io::Result<PathBuf> {
    match DirBuilder::new().mode(0o700).create(&path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(naming(&path, &error)),
        _ => {}
    }
    let found = std::fs::symlink_metadata(&path).map_err(|error| naming(&path, &error))?;
    if found.is_dir() && found.uid() == user()? && found.mode() & 0o022 == 0 {
        return Ok(path);
    }
    let text = format!("{} is not a directory writable by this user only", path.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, text))
}

fn user() -> io::Result<u32> {
    Ok(std::fs::metadata("/proc/self")?.uid())
}

fn boot_id() -> String {
    punctual_os::boot_id().unwrap_or_default()
}

#[cfg(test)]
mod tests;
