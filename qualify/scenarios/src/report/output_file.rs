//! Files that results go to: tried before the measurement, and never lost after it.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use crate::Error;

/// As much as a report of everything takes, and some more.
const ROOM: usize = 8 << 20;

/// Whether a file can be written, and has room. What is there already stays as it is.
pub(crate) fn check(file: &Path) -> Result<(), Error> {
    if file.is_dir() {
        return Err(format!(
            "cannot write {}: it is a folder; name a file in it",
            file.display()
        )
        .into());
    }
    let tried = if is_special(file) {
        OpenOptions::new().write(true).open(file).map(drop)
    } else {
        let beside = beside(file);
        let tried = allocate(&beside);
        let _ = fs::remove_file(&beside);
        tried
    };
    tried.map_err(|error| cannot_write(file, &error))
}

/// Writes a file whole or not at all. Where that fails the text is kept in the folder for temporary files, if that can
/// be; gives where it is.
///
/// # Errors
/// It could not be written, and where it was kept instead.
pub(crate) fn write_or_keep<'f>(file: &'f Path, text: &[u8]) -> Result<&'f Path, Error> {
    let Err(error) = write(file, text) else {
        return Ok(file);
    };
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let kept = std::env::temp_dir().join(format!("punctual-{}-{name}", std::process::id()));
    let what = cannot_write(file, &error);
    match fs::write(&kept, text) {
        Ok(()) => Err(format!("{what}; it is kept in {}", kept.display()).into()),
        Err(_) => {
            let _ = fs::remove_file(&kept);
            Err(what)
        }
    }
}

pub(crate) fn write(file: &Path, text: &[u8]) -> io::Result<()> {
    if is_special(file) {
        return OpenOptions::new().write(true).open(file)?.write_all(text);
    }
    let beside = beside(file);
    let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, file));
    written.inspect_err(|_| {
        let _ = fs::remove_file(&beside);
    })
}

fn allocate(file: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(file)?;
    let piece = vec![b' '; 1 << 20];
    (0..ROOM / piece.len()).try_for_each(|_| file.write_all(&piece))?;
    // Some file systems find out only then that there is no room.
    file.sync_data()
}

/// A pipe or a device, such as `/dev/stdout`: nothing can be put in its place.
fn is_special(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|metadata| !metadata.is_file())
}

fn beside(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!(".{name}.{}", std::process::id()))
}

fn cannot_write(file: &Path, error: &io::Error) -> Error {
    let next = match error.kind() {
        io::ErrorKind::NotFound => "; does its folder exist?".to_owned(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; name a file in a folder of your own".to_owned()
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            format!("; make {} MB of room, or name a file elsewhere", ROOM >> 20)
        }
        _ => String::new(),
    };
    format!("cannot write {}: {error}{next}", file.display()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("punctual-output-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn trying_leaves_nothing_and_changes_nothing() {
        let folder = folder("try");
        let file = folder.join("r.json");
        check(&file).unwrap();
        assert!(!file.exists());
        fs::write(&file, "old").unwrap();
        check(&file).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_cannot_be_written_says_what_to_do() {
        let said = |file: &str| check(Path::new(file)).unwrap_err().to_string();
        assert!(said("/nowhere/r.json").contains("does its folder exist?"));
        assert!(said("/tmp").contains("name a file in it"));
    }

    #[test]
    fn what_was_measured_is_kept_when_there_is_no_room_any_more() {
        let said = write_or_keep(Path::new("/dev/full"), b"all of it")
            .unwrap_err()
            .to_string();
        assert!(said.contains("8 MB of room"), "{said}");
        let (_, kept) = said.split_once("it is kept in ").unwrap();
        assert_eq!(fs::read(kept).unwrap(), b"all of it");
        fs::remove_file(kept).unwrap();
    }
}
