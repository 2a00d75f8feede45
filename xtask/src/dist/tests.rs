//! Tests: what is in the archive, and that its checksums are right. A script stands in for the program.

use std::{fs, os::unix::fs::PermissionsExt, process::Command};

use super::{elf, pack, within};

const PROGRAM: &str = "#!/bin/sh
case $1 in
  completions) echo \"completes in $2\" ;;
  man) echo .TH > \"$3/punctual.1\"; echo .TH > \"$3/punctual-bench.1\" ;;
esac
";

#[test]
fn the_archive_is_complete_and_its_checksums_are_right() {
    let folder = std::env::temp_dir().join(format!("punctual-dist-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let program = folder.join("program");
    fs::write(&program, PROGRAM).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();

    let archive = pack(&program, "notices", &folder, "punctual-1.0-any").unwrap();
    let first = fs::read(&archive).unwrap();
    fs::remove_dir_all(folder.join("punctual-1.0-any")).unwrap();
    within(
        &folder,
        "sha256sum --quiet -c punctual-1.0-any.tar.gz.sha256 && tar xzf punctual-1.0-any.tar.gz",
    )
    .unwrap();
    let content = folder.join("punctual-1.0-any");
    let files = within(&content, "find . -type f | LC_ALL=C sort").unwrap();
    let expected = "./LICENSE-APACHE ./LICENSE-MIT ./SHA256SUMS ./THIRD-PARTY.txt ./completions/_punctual \
                    ./completions/punctual.bash ./completions/punctual.fish ./man/man1/punctual-bench.1 \
                    ./man/man1/punctual.1 ./punctual";
    assert_eq!(files.split_whitespace().collect::<Vec<_>>().join(" "), expected);
    within(
        &content,
        "sha256sum --quiet -c SHA256SUMS && ./punctual completions zsh",
    )
    .unwrap();

    fs::write(content.join("THIRD-PARTY.txt"), "changed").unwrap();
    let check = Command::new("sha256sum")
        .args(["--status", "-c", "SHA256SUMS"])
        .current_dir(&content)
        .status();
    assert!(!check.unwrap().success(), "a changed file goes unnoticed");

    // Again, and equal.
    pack(&program, "notices", &folder, "punctual-1.0-any").unwrap();
    assert_eq!(fs::read(&archive).unwrap(), first);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn linking_is_recognised() {
    // This test is linked dynamically.
    let this = fs::read(std::env::current_exe().unwrap()).unwrap();
    assert_eq!(elf::needs_interpreter(&this), Ok(true));
    let mut header = vec![0; 0x40];
    header[..6].copy_from_slice(b"\x7fELF\x02\x01");
    assert_eq!(
        elf::needs_interpreter(&header),
        Ok(false),
        "it has no program headers"
    );
    header[0x38] = 1;
    header[0x20] = 0x40;
    assert!(elf::needs_interpreter(&header).is_err(), "its header is cut off");
    assert!(elf::needs_interpreter(b"#!/bin/sh").is_err());
}
