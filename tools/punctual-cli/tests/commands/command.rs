//! Runs `punctual`, and reads what it says.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{self, Command},
    sync::atomic::{AtomicUsize, Ordering},
};

pub struct Run {
    pub code: i32,
    pub said: String,
    pub complained: String,
}

pub fn run(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_punctual"))
        .args(arguments)
        .output()
        .unwrap();
    Run {
        code: output.status.code().expect("it ends by itself"),
        said: String::from_utf8(output.stdout).unwrap(),
        complained: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A file of this test run, replaced whole: a test that reads it while another writes it never sees a part.
pub fn file(name: &str, text: &str) -> PathBuf {
    static WRITTEN: AtomicUsize = AtomicUsize::new(0);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(name);
    let unique = (process::id(), WRITTEN.fetch_add(1, Ordering::Relaxed));
    let whole = folder.join(format!("{name}.{}-{}", unique.0, unique.1));
    fs::write(&whole, text).unwrap();
    fs::rename(&whole, &file).unwrap();
    file
}

/// The cells of the row that begins with this one.
pub fn row<'t>(text: &'t str, first: &str) -> Vec<&'t str> {
    let mut rows = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.find(|cells| cells.first() == Some(&first))
        .unwrap_or_else(|| panic!("no row `{first}` in {text}"))
}
