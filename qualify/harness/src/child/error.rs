//! Errors of child processes.

use std::fmt;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

/// Error of a child, with the last lines of its standard error.
#[derive(Debug)]
pub struct ChildError {
    name: String,
    failure: Failure,
    error_tail: String,
}

/// Kind of error.
#[derive(Debug)]
pub enum Failure {
    /// It could not be started.
    Start(io::Error),
    /// It could not be pinned.
    Pin(io::Error),
    /// It exceeded the timeout and has been killed.
    Late(&'static str, Duration),
    /// It has ended, with the status if known.
    Gone(Option<ExitStatus>),
    /// It refused the request, with its reason. It is still running.
    Refused(String),
    /// The run was interrupted; it has been killed, or was not started.
    Interrupted,
    /// A message was not understood; it has been killed.
    Protocol(String),
}

impl ChildError {
    pub(super) fn new(name: &str, failure: Failure, error_tail: String) -> Self {
        Self {
            name: name.to_owned(),
            failure,
            error_tail,
        }
    }

    /// Returns the kind of error.
    pub fn failure(&self) -> &Failure {
        &self.failure
    }
}

impl fmt::Display for ChildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} process ", self.name)?;
        match &self.failure {
            Failure::Start(error) => write!(f, "could not be started: {error}")?,
            Failure::Pin(error) => write!(f, "could not be pinned to its CPUs: {error}")?,
            Failure::Late(what, timeout) => {
                write!(f, "did not complete {what} within {timeout:?} and was killed")?
            }
            Failure::Gone(Some(status)) => write!(f, "ended unexpectedly ({status})")?,
            Failure::Gone(None) => write!(f, "closed its control channel and was killed")?,
            Failure::Refused(reason) => write!(f, "reports: {reason}")?,
            Failure::Interrupted => write!(f, "was ended because the run was interrupted")?,
            Failure::Protocol(what) => write!(f, "violated the control protocol: {what}")?,
        }
        match self.error_tail.as_str() {
            "" => Ok(()),
            tail => write!(f, "\nEnd of its standard error:\n{tail}"),
        }
    }
}

impl std::error::Error for ChildError {}
