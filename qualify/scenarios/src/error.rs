//! The error of a measurement.

use punctual_harness::child::{ChildError, Failure};

/// An error that ends a measurement with exit code 2.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// Returns the reason if the error is the refusal of a child process.
pub(crate) fn refusal(error: &Error) -> Option<String> {
    match error.downcast_ref::<ChildError>()?.failure() {
        Failure::Refused(reason) => Some(reason.clone()),
        _ => None,
    }
}
