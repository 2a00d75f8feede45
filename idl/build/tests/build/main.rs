//! `punctual-build` from outside.

mod errors;
mod instructions;
