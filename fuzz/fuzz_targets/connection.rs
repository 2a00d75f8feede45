//! Any octets, in any parts, for the state machine of a connection.
//!
//! `corpus/connection.txt` has a name and octets in each line; a test of `punctual-giop` runs it. For
//! `cargo +nightly fuzz run connection`, make it a folder of files first:
//! `mkdir corpus/connection; while read name hex; do echo $hex | xxd -r -p > corpus/connection/$name; done`
#![no_main]

#[path = "../../crates/giop/tests/giop/connection/fuzzed.rs"]
#[allow(dead_code)]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzed::check(input));
