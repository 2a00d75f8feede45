//! Punctual: what generated code stands on.
