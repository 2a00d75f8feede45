//! Printing to streams that may be closed or full: `punctual … | head`, a full disk, a closed terminal.

use std::{io::Write, panic, process};

/// Ends the process where printing would panic: silently if the reader has closed the pipe, as SIGPIPE would
/// do, else with an error. Changes that a measurement made to the machine are undone: its supervisor watches
/// this process.
pub fn end_quietly_without_reader() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |information| {
        let text = information
            .payload()
            .downcast_ref::<String>()
            .map_or("", String::as_str);
        if text.starts_with("failed printing to stderr: ") {
            process::exit(2);
        }
        let Some(failure) = text.strip_prefix("failed printing to stdout: ") else {
            return report(information);
        };
        if failure.contains("Broken pipe") {
            process::exit(128 + SIGPIPE);
        }
        // Standard error may be the same full disk.
        let _ = writeln!(
            std::io::stderr(),
            "error: cannot write to standard output: {failure}"
        );
        process::exit(2);
    }));
}

const SIGPIPE: i32 = 13;
