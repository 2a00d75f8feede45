//! Folder in main memory for records of measured processes, removed on every exit.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use punctual_os::TaskId;

/// Folder of this process, readable by its user only.
///
/// Removed when dropped. If this process is killed, its [`Supervisor`](crate::Supervisor) removes it, or else
/// the next process that creates such a folder.
#[derive(Debug)]
pub struct MemoryFolder(PathBuf);

const PREFIX: &str = "punctual-flight-";

impl MemoryFolder {
    /// Creates the folder of this process.
    ///
    /// # Errors
    /// No folder in main memory is writable by this user.
    pub fn create() -> io::Result<Self> {
        let mut failure = io::Error::from(io::ErrorKind::NotFound);
        for place in places() {
            remove_stale(&place);
            let path = path_of(&place, TaskId::current_process());
            // An existing folder belonged to another process with the same id.
            let _ = fs::remove_dir_all(&path);
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) => failure = error,
            }
        }
        let text = format!(
            "cannot create a folder for records in main memory: {failure}; check that /dev/shm exists"
        );
        Err(io::Error::new(failure.kind(), text))
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for MemoryFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Removes the folder of a process, if it exists.
pub(crate) fn remove_of(process: TaskId) {
    for place in places() {
        let _ = fs::remove_dir_all(path_of(&place, process));
    }
}

fn places() -> impl Iterator<Item = PathBuf> {
    let own = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let places = [Some(PathBuf::from("/dev/shm")), own, Some("/run".into())];
    places.into_iter().flatten()
}

fn path_of(place: &Path, process: TaskId) -> PathBuf {
    place.join(format!("{PREFIX}{process}"))
}

fn remove_stale(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let Some(Ok(process)) = process.map(str::parse::<TaskId>) else {
            continue;
        };
        if !Path::new(&format!("/proc/{process}")).exists() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_removed_with_its_owner_or_by_the_next_one() {
        let folder = match MemoryFolder::create() {
            Ok(folder) => folder,
            Err(error) => return punctual_fixtures::skip_error(&error),
        };
        let place = folder.0.parent().unwrap().to_owned();
        let mut process = std::process::Command::new("true").spawn().unwrap();
        let id = TaskId::of_child(&process);
        process.wait().unwrap();
        let stale = path_of(&place, id);
        fs::create_dir(&stale).unwrap();
        remove_stale(&place);
        assert!(!stale.exists() && folder.0.exists());
        fs::create_dir(&stale).unwrap();
        remove_of(id);
        assert!(!stale.exists() && folder.0.exists());
        let path = folder.0.clone();
        drop(folder);
        assert!(!path.exists());
    }
}
