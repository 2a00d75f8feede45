//! Helpers for files: removal of folders in use, errors with paths.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// Removes a folder that processes killed a moment ago may still use; retries for up to two seconds, each
/// time after `release`.
pub(crate) fn remove_released(folder: &Path, mut release: impl FnMut()) -> io::Result<()> {
    let deadline = Instant::now() + Duration::from_secs(2);
    loop {
        release();
        match std::fs::remove_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            other => return other,
        }
    }
}

/// Adds the path to an error.
pub(crate) fn naming(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
