//! Output fits a terminal of 80 columns, and has colours there only.

use std::{
    fs::File,
    io::Read,
    process::{Command, Stdio},
    thread,
};

use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[test]
fn output_fits_80_columns() {
    for arguments in [
        &["bench", "list"][..],
        &["bench", "--help"],
        &["doctor"],
        &["explain"],
        &["plan", "services/scheduling/radar.toml", "--explain", "all"],
        &["plan", "--simulate", "docs/simulation/figure-6.toml"],
        &["qualify", "--help"],
        &["qualify", "--claims"],
    ] {
        let shown = on_a_terminal(arguments, &[]);
        assert!(shown.lines().count() > 5, "{arguments:?}: {shown}");
        for line in without_colours(&shown).lines() {
            assert!(line.trim_end().chars().count() <= 80, "{arguments:?}: {line}");
        }
    }
}

#[test]
fn output_fits_narrower_terminals() {
    for columns in [60, 40] {
        for arguments in [
            &["bench", "list"][..],
            &["doctor"],
            &["plan", "services/scheduling/radar.toml", "--explain", "all"],
            &["plan", "--simulate", "docs/simulation/figure-6.toml"],
        ] {
            let shown = on_a_terminal_of(columns, arguments, &[]);
            for line in without_colours(&shown).lines() {
                // A word is not divided.
                let is_word = line.split_whitespace().count() == 1;
                let fits = line.trim_end().chars().count() <= columns.into();
                assert!(fits || is_word, "{arguments:?}: {line}");
            }
        }
    }
}

#[test]
fn errors_fit_80_columns() {
    for arguments in [
        &["call", "corbaloc::localhost:1/Valve", "_non_existent"][..],
        &["call", "corbaloc:uiop:/run/valve/Valve", "_non_existent"],
        &["events", "tail", "corbaloc::localhost:1/Events"],
        &["new", "Valve"],
        &["top", "1"],
    ] {
        let shown = on_a_terminal(arguments, &[]);
        assert!(shown.starts_with("error: "), "{arguments:?}: {shown}");
        assert!(shown.lines().count() > 1, "{arguments:?}: {shown}");
        for line in shown.lines() {
            assert!(line.chars().count() <= 80, "{arguments:?}: {line}");
        }
    }
}

#[test]
fn colours_are_for_terminals_and_not_with_no_color() {
    assert!(on_a_terminal(&["doctor"], &[]).contains("\x1b[1m"));
    assert!(!on_a_terminal(&["doctor"], &[("NO_COLOR", "1")]).contains('\x1b'));
    assert!(!on_a_terminal(&["doctor"], &[("TERM", "dumb")]).contains('\x1b'));
    let piped = crate::command::run(["doctor"]);
    assert!(!piped.said.contains('\x1b'), "{}", piped.said);
}

fn on_a_terminal(arguments: &[&str], environment: &[(&str, &str)]) -> String {
    on_a_terminal_of(80, arguments, environment)
}

/// Output of the program on a terminal of this width.
fn on_a_terminal_of(columns: u16, arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave = File::options()
        .read(true)
        .write(true)
        .open(name.to_str().unwrap())
        .unwrap();
    let size = Winsize {
        ws_row: 24,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&slave, size).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_punctual"))
        .args(arguments)
        .current_dir(ROOT)
        .env_remove("NO_COLOR")
        .env("TERM", "xterm")
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::from(slave.try_clone().unwrap()))
        .stderr(Stdio::from(slave))
        .spawn()
        .unwrap();
    let reader = thread::spawn(move || {
        let (mut master, mut text) = (File::from(master), Vec::new());
        // Ends with an error when the last one has closed the terminal.
        let _ = master.read_to_end(&mut text);
        String::from_utf8(text).unwrap().replace('\r', "")
    });
    child.wait().unwrap();
    reader.join().unwrap()
}

fn without_colours(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    first
        + &parts
            .map(|part| part.split_once('m').map_or(part, |(_, rest)| rest))
            .collect::<String>()
}
