//! Punctual: transports.
