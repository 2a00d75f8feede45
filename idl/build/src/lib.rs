//! Punctual: compiles IDL from build.rs.
