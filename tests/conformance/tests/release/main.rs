//! What is counted in an optimised build only: `cargo xtask nightly` runs it.

mod instructions;
