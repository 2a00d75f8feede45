//! Any octets, as the answers of an interface repository. README.md describes how to run it.
#![no_main]

#[path = "../../tests/conformance/tests/orb/fuzzed_descriptions.rs"]
#[allow(dead_code)]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzed::check(input));
