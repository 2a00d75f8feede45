//! Any text as a URL, a name, and an address with a name. README.md describes how to run it.
#![no_main]

#[path = "../../crates/giop/tests/giop/fuzzed_names.rs"]
#[allow(dead_code)]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzed::check(input));
