//! Starting another process of the running binary.

use std::process::Command;

/// Returns a command that starts this binary, even if the file has been replaced or deleted since.
pub(crate) fn own_program() -> Command {
    match std::env::current_exe() {
        Ok(program) if program.exists() => Command::new(program),
        _ => Command::new("/proc/self/exe"),
    }
}
