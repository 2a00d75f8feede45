//! Folder for temporary files of a run's processes, such as sockets of killed ones. It is the children's
//! TMPDIR and is removed with the run.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use punctual_os::TaskId;

const PREFIX: &str = "run-";

/// Creates the folder of a run and removes those of earlier ones, which are unused because the caller has the
/// lock.
pub(super) fn create(directory: &Path, run: TaskId) -> io::Result<PathBuf> {
    for entry in fs::read_dir(directory)?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    let path = directory.join(format!("{PREFIX}{run}"));
    DirBuilder::new().mode(0o700).create(&path)?;
    Ok(path)
}

/// Removes it, even if a process that is being killed still creates files in it.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    for _ in 0..50 {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => return Ok(()),
        }
    }
    fs::remove_dir_all(path)
}

/// Folder of this process's run.
static CURRENT: Mutex<Option<PathBuf>> = Mutex::new(None);

pub(crate) fn current() -> Option<PathBuf> {
    CURRENT.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

pub(super) fn set_current(path: Option<PathBuf>) {
    *CURRENT.lock().unwrap_or_else(PoisonError::into_inner) = path;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_removed_with_its_contents_and_earlier_ones() {
        let directory = punctual_fixtures::Folder::new("scratch");
        let earlier = directory.join("run-1/deeper");
        fs::create_dir_all(&earlier).unwrap();
        fs::write(directory.join("lock"), "").unwrap();
        let path = create(&directory, TaskId::current_process()).unwrap();
        assert!(!earlier.exists() && directory.join("lock").exists());
        fs::write(path.join("socket"), "").unwrap();
        remove(&path).unwrap();
        assert!(!path.exists());
        remove(&path).unwrap();
    }
}
