//! Entries, locks and their folder.

use super::*;

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("punctual-journal-{name}-{}", std::process::id()));
        Self(own_directory(path).unwrap())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn an_entry_is_readable_until_it_is_removed() {
    let scratch = Scratch::new("entry");
    let file = scratch.0.join(FILE);
    assert_eq!(Entry::read(&file).unwrap(), None);
    let mut entry = Entry::new(7);
    assert!(!entry.changes_anything());
    entry.throttling = Some(ThrottlingChange {
        before: "950000".into(),
        during: "-1".into(),
    });
    assert!(entry.changes_anything());
    entry.write(&file).unwrap();
    assert_eq!(Entry::read(&file).unwrap(), Some(entry));
    Entry::remove(&file).unwrap();
    Entry::remove(&file).unwrap();
    assert_eq!(Entry::read(&file).unwrap(), None);
}

#[test]
fn a_journal_from_before_the_last_boot_is_ignored() {
    let scratch = Scratch::new("boot");
    let file = scratch.0.join(FILE);
    let entry = Entry {
        boot: "another".into(),
        ..Entry::new(7)
    };
    entry.write(&file).unwrap();
    assert_eq!(Entry::read(&file).unwrap(), None);
    assert!(!file.exists());
}

#[test]
fn an_invalid_journal_is_an_error() {
    let scratch = Scratch::new("garbage");
    let file = scratch.0.join(FILE);
    std::fs::write(&file, "{").unwrap();
    let error = Entry::read(&file).unwrap_err().to_string();
    assert!(error.contains("restore the settings manually"), "{error}");
}

/// The recorded value is not the one in force, so this test changes nothing.
#[test]
fn a_setting_changed_by_another_program_is_not_restored() {
    let change = ThrottlingChange {
        before: "950000".into(),
        during: "123456".into(),
    };
    let before = throttling::runtime().unwrap();
    assert_eq!(
        change.undo().unwrap(),
        "left as it is: another program has changed it"
    );
    assert_eq!(throttling::runtime().unwrap(), before);
}

#[test]
fn a_second_run_is_refused_with_the_first_ones_process() {
    let scratch = Scratch::new("lock");
    let me = TaskId::current_process();
    let lock = Lock::take(&scratch.0, me).unwrap();
    let error = Lock::take(&scratch.0, me).err().unwrap();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    assert!(error.to_string().contains(&format!("(process {me})")), "{error}");
    drop(lock);
    Lock::take(&scratch.0, me).unwrap();
}

#[test]
fn a_folder_writable_by_others_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new("mode");
    std::fs::set_permissions(&scratch.0, std::fs::Permissions::from_mode(0o777)).unwrap();
    let error = own_directory(scratch.0.clone()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    let link = scratch.0.join("link");
    std::os::unix::fs::symlink("/tmp", &link).unwrap();
    assert!(own_directory(link).is_err());
}
