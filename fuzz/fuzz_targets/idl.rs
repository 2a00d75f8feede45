//! Any octets, as IDL. README.md describes how to run it.
#![no_main]

#[path = "../../idl/front/tests/front/fuzzed.rs"]
#[allow(dead_code)]
mod fuzzed;
#[path = "../../idl/codegen/tests/fuzzed.rs"]
#[allow(dead_code)]
mod generated;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    fuzzed::check(input);
    generated::check(input);
});
