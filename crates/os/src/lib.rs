//! Punctual: everything that touches the operating system, and all unsafe code.
