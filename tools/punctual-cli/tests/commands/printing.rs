//! Standard output that takes no more.

use std::{fs::OpenOptions, io, process::Command};

#[test]
fn without_a_reader_it_ends_without_a_word() {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let output = Command::new(env!("CARGO_BIN_EXE_punctual"))
        .args(["bench", "list"])
        .stdout(writer)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(128 + 13));
}

#[test]
fn a_full_disk_is_an_error() {
    for arguments in [
        &["bench", "list"][..],
        &["explain"],
        &["plan", "../../services/scheduling/radar.toml"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_punctual"))
            .args(arguments)
            .stdout(OpenOptions::new().write(true).open("/dev/full").unwrap())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(
            said.starts_with("error: cannot write to standard output: No space left"),
            "{said}"
        );
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}
