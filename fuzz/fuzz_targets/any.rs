//! Any octets, as type codes and values in an `any`. README.md describes how to run it.
#![no_main]

#[path = "../../crates/any/tests/any/fuzzed.rs"]
#[allow(dead_code)]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzed::check(input));
