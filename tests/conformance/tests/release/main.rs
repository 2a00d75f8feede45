//! Counts that need an optimised build: `cargo xtask nightly` runs them.

mod instructions;
