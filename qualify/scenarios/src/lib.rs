//! Punctual: the measurements.
