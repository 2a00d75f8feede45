//! A program of its own that a measurement drives through its standard input and output, line by line.

use std::{
    ffi::OsStr,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use punctual_os::TaskId;

use crate::error::Error;

/// A program that runs; it is ended when this is dropped.
pub(crate) struct OtherProgram {
    path: PathBuf,
    process: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl OtherProgram {
    /// Starts the program with these arguments.
    ///
    /// # Errors
    /// The program cannot be started.
    pub(crate) fn start<A: AsRef<OsStr>>(path: &Path, arguments: &[A]) -> Result<Self, Error> {
        let mut process = Command::new(path)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{} cannot be started: {error}", path.display()))?;
        let (input, output) = process
            .stdin
            .take()
            .zip(process.stdout.take())
            .ok_or("no pipes")?;
        let (sender, lines) = channel();
        thread::Builder::new().name("lines".into()).spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self {
            path: path.into(),
            process,
            input,
            lines,
        })
    }

    /// Id of the process.
    pub(crate) fn id(&self) -> TaskId {
        TaskId::of_child(&self.process)
    }

    /// Writes a line to the program.
    ///
    /// # Errors
    /// The program has ended.
    pub(crate) fn write(&mut self, line: impl std::fmt::Display) -> Result<(), Error> {
        Ok(writeln!(self.input, "{line}")?)
    }

    /// Returns the next line that the program prints.
    ///
    /// # Errors
    /// The program prints nothing within `timeout`, or has ended.
    pub(crate) fn read(&self, timeout: Duration) -> Result<String, Error> {
        let line = self.lines.recv_timeout(timeout);
        Ok(line
            .map_err(|error| format!("no line from {} within {timeout:?}: {error}", self.path.display()))?)
    }
}

impl Drop for OtherProgram {
    fn drop(&mut self) {
        // Its children end with it. It may have ended itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
