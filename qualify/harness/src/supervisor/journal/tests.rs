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
fn what_was_written_is_read_until_it_is_removed() {
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
fn a_journal_of_before_the_last_boot_is_forgotten() {
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
fn a_journal_that_cannot_be_read_stops_the_run() {
    let scratch = Scratch::new("garbage");
    let file = scratch.0.join(FILE);
    std::fs::write(&file, "{").unwrap();
    let error = Entry::read(&file).unwrap_err().to_string();
    assert!(error.contains("restore the settings by hand"), "{error}");
}

/// The value that the change claims to have set is not the one in force, so this test changes nothing.
#[test]
fn a_setting_that_somebody_else_changed_is_left_to_them() {
    let change = ThrottlingChange {
        before: "950000".into(),
        during: "123456".into(),
    };
    let before = throttling::runtime().unwrap();
    assert_eq!(change.undo().unwrap(), "has been changed by somebody else");
    assert_eq!(throttling::runtime().unwrap(), before);
}

#[test]
fn a_second_run_is_refused_and_told_who_is_first() {
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
fn a_directory_that_others_can_write_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new("mode");
    std::fs::set_permissions(&scratch.0, std::fs::Permissions::from_mode(0o777)).unwrap();
    let error = own_directory(scratch.0.clone()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    let link = scratch.0.join("link");
    std::os::unix::fs::symlink("/tmp", &link).unwrap();
    assert!(own_directory(link).is_err());
}
