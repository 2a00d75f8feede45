//! A folder in main memory for what processes of a run write down while they are measured; and its removal on every way
//! out.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use punctual_os::TaskId;

/// A folder of this process that only its user can read.
///
/// Dropping it removes it. Where this process is killed, its [`Supervisor`](crate::Supervisor) does, and failing that the
/// next process that makes such a folder.
#[derive(Debug)]
pub struct MemoryFolder(PathBuf);

const PREFIX: &str = "punctual-flight-";

impl MemoryFolder {
    /// Makes the one of this process.
    ///
    /// # Errors
    /// There is no place in main memory where this user may write; the text says what to look for.
    pub fn create() -> io::Result<Self> {
        let mut failure = io::Error::from(io::ErrorKind::NotFound);
        for place in places() {
            remove_stale(&place);
            let path = path_of(&place, TaskId::current_process());
            // What is there is of another process that had this number.
            let _ = fs::remove_dir_all(&path);
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) => failure = error,
            }
        }
        let text = format!("no folder in main memory for records: {failure}; is there a /dev/shm?");
        Err(io::Error::new(failure.kind(), text))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for MemoryFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Removes that of a process, if it is there.
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
    fn the_folder_goes_with_its_owner_and_stale_ones_with_the_next() {
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
