//! Errors of inspection.

use std::io;

/// The inspection socket or the address of metrics could not be opened.
#[derive(thiserror::Error)]
#[error("cannot open {address} for inspection: {source}")]
pub struct InspectError {
    /// Path or address.
    pub address: String,
    /// Error of the system.
    pub source: io::Error,
}
