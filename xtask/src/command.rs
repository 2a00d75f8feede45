//! Commands that run at the root of the workspace and are shown before they run.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Cargo, the one that runs this program.
pub fn cargo(arguments: &[&str]) -> Shown {
    let mut shown = new("cargo", arguments);
    if let Some(program) = env::var_os("CARGO") {
        shown.command = Command::new(program);
        shown.command.args(arguments).current_dir(root());
    }
    shown
}

/// Any program.
pub fn new(program: &str, arguments: &[&str]) -> Shown {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    let text = [&[program], arguments].concat().join(" ");
    Shown { command, text }
}

/// Returns the standard output of a program.
pub fn output(program: &str, arguments: &[&str]) -> Result<String, String> {
    let failed = |why: &dyn std::fmt::Display| format!("{program} {}: {why}", arguments.join(" "));
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| failed(&error))?;
    if !output.status.success() {
        return Err(failed(&output.status));
    }
    String::from_utf8(output.stdout).map_err(|error| failed(&error))
}

/// The root of the workspace in which `cargo xtask` was called: not that of the compilation, which is another
/// one if a build cache was copied.
pub fn root() -> PathBuf {
    let manifest = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&manifest)
        .parent()
        .expect("xtask lies in the workspace")
        .to_path_buf()
}

/// A command with the text that a user would type for it.
pub struct Shown {
    command: Command,
    text: String,
}

impl Shown {
    /// Sets a variable of the environment.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self.text = format!("{name}=\"{value}\" {}", self.text);
        self
    }

    /// Runs it with our own input and output.
    pub fn run(mut self) -> Result<(), String> {
        println!("$ {}", self.text);
        let status = self.command.status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("`{}`: {status}", self.text)),
            Err(error) => Err(format!("`{}` cannot be run: {error}", self.text)),
        }
    }

    /// The command, after it has been shown.
    pub fn show(self) -> Command {
        println!("$ {}", self.text);
        self.command
    }
}
