//! Child processes of the running binary that do the measured work: pinned, and killed with their parent.

mod control;
mod error;
mod output;
mod role;

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use punctual_os::{CpuSet, TaskId};
use punctual_system::process;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::own_program::own_program;
pub use crate::process_killer::Killer;
use crate::running_children::{CHILDREN, Registration};
use crate::supervisor::scratch;
pub use control::{Control, ControlError};
pub use error::{ChildError, Failure};
use output::Output;
pub use role::{Process, Role, RoleError, Task, TaskEntry, run_role};

/// Configuration of a child process.
///
/// Parent and child exchange lines of text over the child's standard input and output: the child sends
/// `READY` with a value, then the parent sends one request at a time and the child answers it; values are
/// JSON. The child's side is [`Control`]. A [`Role`] makes this typed: a child process with a setup, and
/// requests that each have their own answer.
///
/// ```no_run
/// use std::time::Duration;
/// use punctual_harness::child::{ChildSpec, Control};
/// use punctual_os::CpuSet;
///
/// // In `main`, before anything else reads the command line:
/// if std::env::args().nth(1).as_deref() == Some("__server") {
///     let control = Control::ready(&"IOR:…").expect("the parent reads");
///     control.serve(|calls: u32| Ok::<u32, String>(calls + 1)).expect("the parent has the same version");
///     return Ok(());
/// }
/// let second = Duration::from_secs(1);
/// let (mut server, ior) = ChildSpec::new("server", "__server")
///     .affinity(CpuSet::single(1))
///     .spawn::<String>(second)?;
/// let reply: u32 = server.request(&41, second)?;
/// server.stop(second)?;
/// # let _ = (ior, reply);
/// # Ok::<(), punctual_harness::ChildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ChildSpec {
    name: String,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    cpus: Option<CpuSet>,
    outlives_us: bool,
}

impl ChildSpec {
    /// Configures a child of this binary with `subcommand` as its first argument. `name` is for messages.
    pub fn new(name: impl Into<String>, subcommand: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            arguments: vec![subcommand.into()],
            environment: Vec::new(),
            cpus: None,
            outlives_us: false,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn argument(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Sets an environment variable; the others are inherited. While a [`Supervisor`](crate::Supervisor)
    /// exists, TMPDIR is a folder that is removed with the run.
    #[must_use]
    pub fn environment(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Sets several environment variables.
    #[must_use]
    pub fn environments(self, variables: &[(&str, String)]) -> Self {
        let variables = variables.iter();
        variables.fold(self, |spec, (name, value)| spec.environment(*name, value))
    }

    /// Pins all of its threads, later ones included; default: the affinity of the starting thread.
    #[must_use]
    pub fn affinity(mut self, cpus: CpuSet) -> Self {
        self.cpus = Some(cpus);
        self
    }

    /// Lets it outlive this process until it finds its input closed. Signals to this process's group do not
    /// reach it, and it shares this process's standard error.
    #[must_use]
    pub(crate) fn outliving(mut self) -> Self {
        self.outlives_us = true;
        self
    }

    /// Starts it and waits until it is ready; returns it with the value that it sent.
    ///
    /// The kernel kills it when the *calling thread* ends, however that happens: call this on a thread that
    /// lives as long as the child is needed.
    ///
    /// # Errors
    /// It could not be started or pinned, or was not ready within the timeout; it has ended.
    pub fn spawn<R: DeserializeOwned>(self, timeout: Duration) -> Result<(Child, R), ChildError> {
        self.spawn_with(None, timeout)
    }

    /// Starts it with a first line on its input.
    fn spawn_with<R: DeserializeOwned>(
        self,
        line: Option<String>,
        timeout: Duration,
    ) -> Result<(Child, R), ChildError> {
        let deadline = Instant::now() + timeout;
        let mut command = own_program();
        if let Some(scratch) = scratch::current() {
            command.env("TMPDIR", scratch);
        }
        command
            .args(&self.arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        if self.outlives_us {
            command.process_group(0);
        } else {
            process::kill_with_starter(&mut command).stderr(Stdio::piped());
        }
        let failed = |failure| ChildError::new(&self.name, failure, String::new());
        if CHILDREN.are_ending() && !self.outlives_us {
            return Err(failed(Failure::Interrupted));
        }
        let mut process = command.spawn().map_err(|error| failed(Failure::Start(error)))?;
        let input = process.stdin.take();
        let output = match Output::of(&mut process, &self.name) {
            Ok(output) => output,
            Err(error) => {
                end(&mut process, input, self.outlives_us);
                return Err(failed(Failure::Start(error)));
            }
        };
        let mut child = Child {
            name: self.name,
            process,
            input,
            output,
            outlives_us: self.outlives_us,
            registration: None,
        };
        if !self.outlives_us {
            let killer = child
                .killer()
                .map_err(|error| child.failed(Failure::Start(error)))?;
            child.registration = Some(CHILDREN.add(killer));
        }
        if let Some(cpus) = &self.cpus {
            process::set_affinity(child.id(), cpus).map_err(|error| child.failed(Failure::Pin(error)))?;
        }
        if let Some(line) = line {
            child.send_line(line)?;
        }
        let ready = child.value("READY", "its start", deadline, timeout)?;
        Ok((child, ready))
    }
}

/// Running child. Dropping it kills it.
#[derive(Debug)]
pub struct Child {
    name: String,
    process: std::process::Child,
    /// Closed to make it end.
    input: Option<ChildStdin>,
    output: Output,
    outlives_us: bool,
    registration: Option<Registration>,
}

impl Child {
    /// Returns its process id.
    pub fn id(&self) -> TaskId {
        TaskId::of_child(&self.process)
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sends a request and waits for the answer. A child that does not answer within the timeout is killed.
    ///
    /// # Errors
    /// It has ended, refused, was late, or sent an answer that is not an `A`.
    pub fn request<R: Serialize, A: DeserializeOwned>(
        &mut self,
        request: &R,
        timeout: Duration,
    ) -> Result<A, ChildError> {
        self.send_request(request)?;
        self.receive_reply(timeout)
    }

    /// Sends a request without waiting, for requests to several children at a time.
    ///
    /// # Errors
    /// It has ended.
    pub fn send_request<R: Serialize>(&mut self, request: &R) -> Result<(), ChildError> {
        let line = serde_json::to_string(request)
            .map_err(|error| self.failed(Failure::Protocol(error.to_string())))?;
        self.send_line(line)
    }

    fn send_line(&mut self, mut line: String) -> Result<(), ChildError> {
        line.push('\n');
        let Some(input) = &mut self.input else {
            return Err(self.failed(Failure::Gone(None)));
        };
        match input.write_all(line.as_bytes()) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.gone()),
        }
    }

    /// Waits for the answer to [`send_request`](Self::send_request).
    ///
    /// # Errors
    /// Those of [`request`](Self::request).
    pub fn receive_reply<A: DeserializeOwned>(&mut self, timeout: Duration) -> Result<A, ChildError> {
        self.value("OK", "its answer", Instant::now() + timeout, timeout)
    }

    /// Returns a handle with which another thread can kill it.
    ///
    /// # Errors
    /// It has already been waited for, or the limit of open files is reached.
    pub fn killer(&self) -> std::io::Result<Killer> {
        Killer::of(&self.process)
    }

    /// Closes its input, which makes it end, and waits for that. A child that is late is killed.
    ///
    /// # Errors
    /// It was late, or its exit code was not 0.
    pub fn stop(mut self, timeout: Duration) -> Result<(), ChildError> {
        self.input = None;
        match self.wait_until(Instant::now() + timeout) {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(self.failed(Failure::Gone(Some(status)))),
            None => Err(self.failed(Failure::Late("its end", timeout))),
        }
    }

    fn value<T: DeserializeOwned>(
        &mut self,
        word: &str,
        what: &'static str,
        deadline: Instant,
        timeout: Duration,
    ) -> Result<T, ChildError> {
        let line = match self.output.line(deadline) {
            Ok(line) => line,
            Err(output::NoLine::Late) => return Err(self.failed(Failure::Late(what, timeout))),
            Err(output::NoLine::End) => return Err(self.gone()),
        };
        let (first, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match first {
            "ERR" => Err(self.failed(Failure::Refused(rest.to_owned()))),
            _ if first == word => serde_json::from_str(rest)
                .map_err(|error| self.failed(Failure::Protocol(format!("{error} in `{line}`")))),
            _ => Err(self.failed(Failure::Protocol(format!("`{line}` instead of {word}")))),
        }
    }

    /// Returns the error for a child that has closed its output or input and is therefore about to end.
    fn gone(&mut self) -> ChildError {
        if CHILDREN.are_ending() && !self.outlives_us {
            return self.failed(Failure::Interrupted);
        }
        let status = self.wait_until(Instant::now() + Duration::from_millis(500));
        self.failed(Failure::Gone(status))
    }

    fn wait_until(&mut self, deadline: Instant) -> Option<ExitStatus> {
        wait_until(&mut self.process, deadline)
    }

    /// Returns the error, and ends the child unless the failure is a refusal.
    fn failed(&mut self, failure: Failure) -> ChildError {
        if !matches!(failure, Failure::Refused(_)) {
            self.end();
        }
        ChildError::new(&self.name, failure, self.output.error_tail())
    }

    fn end(&mut self) {
        end(&mut self.process, self.input.take(), self.outlives_us);
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.end();
    }
}

/// Ends a child. One that outlives this process has settings to restore and is therefore not killed.
fn end(process: &mut std::process::Child, input: Option<ChildStdin>, outlives_us: bool) {
    drop(input);
    if outlives_us {
        wait_until(process, Instant::now() + Duration::from_secs(2));
    } else {
        let _ = process.kill();
        let _ = process.wait();
    }
}

fn wait_until(process: &mut std::process::Child, deadline: Instant) -> Option<ExitStatus> {
    loop {
        match process.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
            _ => return None,
        }
    }
}
