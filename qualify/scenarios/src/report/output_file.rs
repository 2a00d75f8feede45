//! Result files: checked before the measurement, and never lost after it.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::OnceLock,
};

use crate::error::Error;

/// More than the largest report needs, in octets.
const ROOM: usize = 8 << 20;

/// Checks that a file can be written and that there is space for it. An existing file is not changed.
///
/// `-` is standard output: from now on, what else is printed goes to standard error.
pub(crate) fn check(file: &Path) -> Result<(), Error> {
    if file == Path::new("-") {
        return reserve_standard_output().map_err(|error| cannot_write(file, &error));
    }
    if file.is_dir() {
        return Err(format!(
            "cannot write {}: it is a folder; give a file name",
            file.display()
        )
        .into());
    }
    let tried = if is_special(file) {
        OpenOptions::new().write(true).open(file).map(drop)
    } else {
        let temporary = temporary(file);
        let tried = allocate(&temporary);
        let _ = fs::remove_file(&temporary);
        tried
    };
    tried.map_err(|error| cannot_write(file, &error))
}

/// Writes a file atomically and returns its path. If this fails, the text is saved in the folder for
/// temporary files, if possible.
///
/// # Errors
/// The file could not be written; the error names the copy, if there is one.
pub(crate) fn write_or_keep<'f>(file: &'f Path, text: &[u8]) -> Result<&'f Path, Error> {
    let Err(error) = write(file, text) else {
        return Ok(file);
    };
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let kept = std::env::temp_dir().join(format!("punctual-{}-{name}", std::process::id()));
    let what = cannot_write(file, &error);
    match fs::write(&kept, text) {
        Ok(()) => Err(format!("{what}; saved as {}", kept.display()).into()),
        Err(_) => {
            let _ = fs::remove_file(&kept);
            Err(what)
        }
    }
}

/// Writes a file atomically: readers see the old or the new content.
pub(crate) fn write(file: &Path, text: &[u8]) -> io::Result<()> {
    write_with(file, |to| to.write_all(text))
}

/// Like [`write`], for what is written piece by piece.
pub(crate) fn write_with(
    file: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let buffered = |to: &File, end: &[u8]| {
        let mut to = BufWriter::new(to);
        content(&mut to)?;
        to.write_all(end)?;
        to.flush()
    };
    if let Some(output) = STANDARD_OUTPUT.get().filter(|_| file == Path::new("-")) {
        return buffered(output, b"\n");
    }
    if is_special(file) {
        return buffered(&OpenOptions::new().write(true).open(file)?, b"");
    }
    let temporary = temporary(file);
    let written = File::create(&temporary)
        .and_then(|to| buffered(&to, b""))
        .and_then(|()| fs::rename(&temporary, file));
    written.inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })
}

/// The standard output that was there before [`reserve_standard_output`].
static STANDARD_OUTPUT: OnceLock<File> = OnceLock::new();

fn reserve_standard_output() -> io::Result<()> {
    if STANDARD_OUTPUT.get().is_none() {
        let output = rustix::io::fcntl_dupfd_cloexec(io::stdout(), 3)?;
        rustix::stdio::dup2_stdout(io::stderr())?;
        let _ = STANDARD_OUTPUT.set(output.into());
    }
    Ok(())
}

fn allocate(file: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(file)?;
    let piece = vec![b' '; 1 << 20];
    (0..ROOM / piece.len()).try_for_each(|_| file.write_all(&piece))?;
    // Some file systems report missing space only here.
    file.sync_data()
}

/// Returns whether the file is a pipe or a device, such as `/dev/stdout`, which cannot be replaced.
fn is_special(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|metadata| !metadata.is_file())
}

fn temporary(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!(".{name}.{}", std::process::id()))
}

fn cannot_write(file: &Path, error: &io::Error) -> Error {
    let next = match error.kind() {
        io::ErrorKind::NotFound => "; does its folder exist?".to_owned(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; choose a folder that you may write to".to_owned()
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            format!("; free {} MB, or choose another file system", ROOM >> 20)
        }
        _ => String::new(),
    };
    format!("cannot write {}: {error}{next}", file.display()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checking_leaves_no_file_and_changes_none() {
        let folder = punctual_fixtures::Folder::new("output");
        let file = folder.join("r.json");
        check(&file).unwrap();
        assert!(!file.exists());
        fs::write(&file, "old").unwrap();
        check(&file).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn errors_state_what_to_do() {
        let error = |file: &str| check(Path::new(file)).unwrap_err().to_string();
        assert!(error("/nowhere/r.json").contains("does its folder exist?"));
        assert!(error("/tmp").contains("give a file name"));
    }

    #[test]
    fn results_are_saved_elsewhere_when_the_disk_is_full() {
        let message = write_or_keep(Path::new("/dev/full"), b"all of it")
            .unwrap_err()
            .to_string();
        assert!(message.contains("free 8 MB"), "{message}");
        let (_, kept) = message.split_once("saved as ").unwrap();
        assert_eq!(fs::read(kept).unwrap(), b"all of it");
        fs::remove_file(kept).unwrap();
    }
}
