//! The error of a measurement.

/// An error that ends a measurement with exit code 2.
pub type Error = Box<dyn std::error::Error + Send + Sync>;
