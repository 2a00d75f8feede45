//! The direction of imports: see "Layers" in ARCHITECTURE.md.

/// Crates that open no socket, read no clock and start no thread.
pub const PURE: &[&str] = &[
    "punctual-types",
    "punctual-cdr",
    "punctual-giop",
    "punctual-poa",
    "punctual-sched",
];

/// The folders under `crates/`, rising: each may import those before it.
#[cfg(test)]
const RUNTIME: &[&str] = &[
    "punctual-types",
    "punctual-os",
    "punctual-cdr",
    "punctual-giop",
    "punctual-sched",
    "punctual-poa",
    "punctual-transport",
    "punctual-stub",
    "punctual-dynamic",
    "punctual-orb",
    "punctual-rtsched",
    "punctual",
];

/// The compiler of IDL: a tower of its own beside the runtime, rising.
#[cfg(test)]
const IDL: &[&str] = &["punctual-idl", "punctual-codegen", "punctual-build"];

#[cfg(test)]
mod tests;
