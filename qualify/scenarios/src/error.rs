//! The error of a measurement.

use std::fmt;

use punctual_harness::child::{ChildError, Failure};

/// An error that ends a measurement with exit code 2.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// Missing right, program or support by the kernel, with advice: a reason to skip a measurement,
/// unlike other errors.
#[derive(Debug)]
pub(crate) struct Missing(pub(crate) String);

impl Missing {
    /// Separates what is missing from other errors.
    pub(crate) fn of<T>(result: Result<T, Error>) -> Result<Result<T, String>, Error> {
        match result.map_err(|error| error.downcast::<Self>()) {
            Ok(value) => Ok(Ok(value)),
            Err(Ok(missing)) => Ok(Err(missing.0)),
            Err(Err(other)) => Err(other),
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Missing {}

/// Returns the reason if the error is the refusal of a child process.
pub(crate) fn refusal(error: &Error) -> Option<String> {
    match error.downcast_ref::<ChildError>()?.failure() {
        Failure::Refused(reason) => Some(reason.clone()),
        _ => None,
    }
}
