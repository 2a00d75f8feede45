//! Helpers for files: atomic replacement, removal of folders in use, errors with paths.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// Writes a temporary file and renames it, so that a reader sees either the old or the new text.
///
/// Devices, pipes and links are written to directly: renaming would replace them by a file.
///
/// # Errors
/// The file cannot be written; the text names it.
pub(crate) fn replace_file(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let is_replaceable = std::fs::symlink_metadata(file).map_or(true, |there| there.is_file());
    let written = if is_replaceable {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let beside = file.with_file_name(format!(".{name}.{}", std::process::id()));
        std::fs::write(&beside, bytes)
            .and_then(|()| std::fs::rename(&beside, file))
            .inspect_err(|_| {
                let _ = std::fs::remove_file(&beside);
            })
    } else {
        std::fs::write(file, bytes)
    };
    written.map_err(|error| {
        io::Error::new(
            error.kind(),
            format!("{} cannot be written: {error}", file.display()),
        )
    })
}

/// Removes a folder that processes killed a moment ago may still use; retries for up to two seconds, each
///
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
