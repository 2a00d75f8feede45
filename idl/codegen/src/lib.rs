//! Punctual: Rust from IDL.
