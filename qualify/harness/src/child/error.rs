//! What goes wrong with a child.

use std::fmt;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

/// What went wrong with a child, with the last lines that it wrote to its standard error.
#[derive(Debug)]
pub struct ChildError {
    name: String,
    failure: Failure,
    error_tail: String,
}

/// The ways in which it goes wrong.
#[derive(Debug)]
pub enum Failure {
    /// It could not be started.
    Start(io::Error),
    /// It could not be pinned.
    Pin(io::Error),
    /// It took longer than the time that it was given; it has been killed.
    Late(&'static str, Duration),
    /// It has ended, with the status where that is known.
    Gone(Option<ExitStatus>),
    /// It answered that it could not do what it was asked, and why. It is still there.
    Refused(String),
    /// The user wants the run to end; it has been killed, or was not started.
    Interrupted,
    /// One side said something that the other does not understand; it has been killed.
    Speech(String),
}

impl ChildError {
    pub(super) fn new(name: &str, failure: Failure, error_tail: String) -> Self {
        Self {
            name: name.to_owned(),
            failure,
            error_tail,
        }
    }

    /// What went wrong.
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
            Failure::Late(what, within) => {
                write!(f, "kept {what} waiting for more than {within:?} and was killed")?
            }
            Failure::Gone(Some(status)) => write!(f, "ended too early ({status})")?,
            Failure::Gone(None) => write!(f, "closed its control channel and was killed")?,
            Failure::Refused(reason) => write!(f, "says: {reason}")?,
            Failure::Interrupted => write!(f, "was ended, for the run was interrupted")?,
            Failure::Speech(what) => write!(f, "broke the control protocol: {what}")?,
        }
        match self.error_tail.as_str() {
            "" => Ok(()),
            tail => write!(f, "\nIts last words:\n{tail}"),
        }
    }
}

impl std::error::Error for ChildError {}
