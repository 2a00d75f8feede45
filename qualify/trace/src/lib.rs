//! Punctual: who ran while something more important waited.
#![forbid(unsafe_code)]

pub mod event;
pub mod inversion;
pub mod kernel;
pub mod request;
