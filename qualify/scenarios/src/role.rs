//! Roles of child processes.

use punctual_harness::child::{self, run_role};

use crate::error::Error;

/// The body of a child process, which receives the rest of its command line.
pub(crate) type Role = fn(&[String]) -> Result<(), Error>;

/// Returns the entry of a role in a list of roles.
pub(crate) const fn entry<R: child::Role>() -> (&'static str, Role) {
    (R::NAME, |_| run_role::<R>())
}
