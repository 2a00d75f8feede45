//! Roles of child processes.

use crate::error::Error;

/// The body of a child process, which receives the rest of its command line.
pub(crate) type Role = fn(&[String]) -> Result<(), Error>;
