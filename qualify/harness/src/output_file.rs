//! Result files: checked before the measurement, replaced atomically, and never lost after it. `-` is
//! standard output.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// More than the largest report needs, in octets.
const ROOM: usize = 8 << 20;

/// Checks that a file can be written and that there is space for it. An existing file is not changed.
///
/// `-` is standard output: from now on, what else is printed goes to standard error.
///
/// # Errors
/// The file cannot be written; the text names it, and what to do.
pub fn check(file: &Path) -> io::Result<()> {
    if file == Path::new("-") {
        return reserve_standard_output().map_err(|error| cannot_write(file, &error));
    }
    if file.is_dir() {
        let text = format!(
            "cannot write {}: it is a folder; give a file name",
            file.display()
        );
        return Err(io::Error::new(io::ErrorKind::IsADirectory, text));
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

/// Checks several files as [`check`] does: none may be one of `inputs`, or be given twice.
///
/// # Errors
/// One of them cannot be written; the text names it, and what to do.
pub fn check_all<'f>(inputs: &[&Path], outputs: impl IntoIterator<Item = &'f Path>) -> io::Result<()> {
    let inputs: Vec<PathBuf> = inputs.iter().map(|file| absolute(file)).collect();
    let mut checked = Vec::new();
    for file in outputs {
        let place = absolute(file);
        let problem = if inputs.contains(&place) {
            "it is the file that is read; give another one"
        } else if checked.contains(&place) && !is_special(file) {
            "it is given twice; give each result a file of its own"
        } else {
            check(file)?;
            checked.push(place);
            continue;
        };
        let text = format!("cannot write {}: {problem}", file.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    Ok(())
}

/// Writes a file atomically: readers see the old or the new content.
///
/// # Errors
/// The file cannot be written; the text names it, and what to do.
pub fn write(file: &Path, text: &[u8]) -> io::Result<()> {
    let mut output = OutputFile::create(file)?;
    output
        .write_all(text)
        .map_err(|error| cannot_write(file, &error))?;
    output.finish()
}

/// Like [`write()`], and returns the path. If this fails, the text is saved in the folder for temporary
/// files, if possible.
///
/// # Errors
/// The file cannot be written; the text names the copy, if there is one.
pub fn write_or_keep<'f>(file: &'f Path, text: &[u8]) -> io::Result<&'f Path> {
    let Err(error) = write(file, text) else {
        return Ok(file);
    };
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let kept = std::env::temp_dir().join(format!("punctual-{}-{name}", std::process::id()));
    match fs::write(&kept, text) {
        Ok(()) => Err(io::Error::new(
            error.kind(),
            format!("{error}; saved as {}", kept.display()),
        )),
        Err(_) => {
            let _ = fs::remove_file(&kept);
            Err(error)
        }
    }
}

/// A file that is written piece by piece, and takes the place of the old one at its end.
///
/// Devices, pipes and links are written to directly: renaming would replace them by a file.
#[derive(Debug)]
pub struct OutputFile {
    to: BufWriter<File>,
    file: PathBuf,
    place: Place,
}

#[derive(Debug)]
enum Place {
    StandardOutput,
    Direct,
    /// Path of a file that is renamed at the end.
    Beside(PathBuf),
    Finished,
}

impl OutputFile {
    /// Creates the new file.
    ///
    /// # Errors
    /// It cannot be created; the text names it, and what to do.
    pub fn create(file: &Path) -> io::Result<Self> {
        let opened = if let Some(output) = STANDARD_OUTPUT.get().filter(|_| file == Path::new("-")) {
            output.try_clone().map(|to| (to, Place::StandardOutput))
        } else if is_special(file) {
            let mut options = OpenOptions::new();
            let opened = options.write(true).create(true).truncate(true).open(file);
            opened.map(|to| (to, Place::Direct))
        } else {
            let temporary = temporary(file);
            File::create(&temporary).map(|to| (to, Place::Beside(temporary)))
        };
        let (to, place) = opened.map_err(|error| cannot_write(file, &error))?;
        Ok(Self {
            to: BufWriter::new(to),
            file: file.to_owned(),
            place,
        })
    }

    /// Writes the rest, and replaces the old file.
    ///
    /// # Errors
    /// The file cannot be written; the text names it, and what to do. The old file is unchanged then.
    pub fn finish(mut self) -> io::Result<()> {
        let end: &[u8] = match self.place {
            Place::StandardOutput => b"\n",
            _ => b"",
        };
        let mut written = self.to.write_all(end).and_then(|()| self.to.flush());
        if let Place::Beside(temporary) = &self.place {
            written = written.and_then(|()| fs::rename(temporary, &self.file));
        }
        written.map_err(|error| cannot_write(&self.file, &error))?;
        self.place = Place::Finished;
        Ok(())
    }
}

impl Write for OutputFile {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.to.write(octets)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Place::Beside(temporary) = &self.place {
            let _ = fs::remove_file(temporary);
        }
    }
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

/// Returns whether the file is a link, a pipe or a device, such as `/dev/stdout`, which must not be replaced.
fn is_special(file: &Path) -> bool {
    fs::symlink_metadata(file).is_ok_and(|metadata| !metadata.is_file())
}

/// Returns the path without links and `..`, also of a file that does not exist yet.
fn absolute(file: &Path) -> PathBuf {
    file.canonicalize().unwrap_or_else(|_| {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize();
        let name = file.file_name().unwrap_or_default();
        folder.map_or_else(|_| file.to_owned(), |folder| folder.join(name))
    })
}

fn temporary(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!(".{name}.{}", std::process::id()))
}

fn cannot_write(file: &Path, error: &io::Error) -> io::Error {
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
    io::Error::new(
        error.kind(),
        format!("cannot write {}: {error}{next}", file.display()),
    )
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
        // No user may create files there.
        let error_there = error("/proc/r.json");
        assert!(
            error_there.starts_with("cannot write /proc/r.json: "),
            "{error_there}"
        );
        let error = write(Path::new("/nowhere/r.json"), b"").unwrap_err().to_string();
        assert!(error.starts_with("cannot write /nowhere/r.json: "), "{error}");
    }

    #[test]
    fn no_file_is_read_and_written_or_written_twice() {
        let folder = punctual_fixtures::Folder::new("output");
        let (read, link, new) = (folder.join("in.toml"), folder.join("link"), folder.join("new"));
        fs::write(&read, "old").unwrap();
        std::os::unix::fs::symlink(&read, &link).unwrap();
        let error = |outputs: &[&Path]| {
            let checked = check_all(&[&read], outputs.iter().copied());
            checked.map_or_else(|error| error.to_string(), |()| String::new())
        };
        assert!(error(&[&new, &read]).contains("it is the file that is read"));
        assert!(error(&[&link]).contains("it is the file that is read"));
        assert!(error(&[&new, &folder.join(".").join("new")]).contains("it is given twice"));
        assert_eq!(error(&[&new, Path::new("/dev/null"), Path::new("/dev/null")]), "");
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

    #[test]
    fn a_file_that_is_not_finished_leaves_the_old_one() {
        let folder = punctual_fixtures::Folder::new("output");
        let file = folder.join("r.json");
        fs::write(&file, "old").unwrap();
        let mut output = OutputFile::create(&file).unwrap();
        output.write_all(b"half").unwrap();
        drop(output);
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn a_link_is_written_through() {
        let folder = punctual_fixtures::Folder::new("output");
        let (file, link) = (folder.join("file.json"), folder.join("link.json"));
        std::os::unix::fs::symlink(&file, &link).unwrap();
        for text in ["first", "next"] {
            write(&link, text.as_bytes()).unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
        write(&file, b"last").unwrap();
        assert_eq!(fs::read_to_string(&link).unwrap(), "last");
    }
}
