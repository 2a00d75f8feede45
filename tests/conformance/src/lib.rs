//! Punctual: tests of the whole against the wire.
