//! Any octets, as object references, profiles, components, URLs and service contexts. README.md describes how
//! to run it.
#![no_main]

#[path = "../../crates/giop/tests/giop/fuzzed_references.rs"]
#[allow(dead_code)]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzed::check(input));
