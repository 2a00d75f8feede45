//! Runs `punctual`, and reads what it says.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
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

/// A file of this test run.
pub fn file(name: &str, text: &str) -> PathBuf {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&file, text).unwrap();
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
