//! How many instructions checking a file and generating its code take. An ordinary processor executes 3 to 4
//! in a nanosecond: the limit of an optimised build is the 10 ms that a typical file may take.

use std::path::PathBuf;

use punctual_build::configure;
use punctual_fixtures::instructions::{instructions, number};

/// The file of a lesson.
const FILE: &str = "../../examples/04-distributable-threads/idl/radar.idl";

/// The instructions that it may take. Without optimisation, the limit only shows that nothing has become much
/// slower.
const LIMIT: u64 = if cfg!(debug_assertions) {
    60_000_000
} else {
    12_000_000
};

/// Times that the file is compiled more often in the second run: the difference has no start of the process.
const MORE: usize = 3;

#[test]
#[ignore = "started by the next test"]
fn code_is_generated() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(FILE);
    for _ in 0..number("TIMES") {
        assert!(!configure().generate(&file).unwrap().rust.is_empty());
    }
}

#[test]
fn checking_and_generating_a_typical_file_takes_few_instructions() {
    let run = |times: usize| {
        let variables = [("TIMES", times.to_string())];
        instructions("instructions::code_is_generated", None, &variables)
    };
    let Some(first) = run(1) else {
        return;
    };
    let of_one = (run(1 + MORE).expect("valgrind") - first) / MORE as u64;
    println!("{of_one} instructions");
    assert!(of_one <= LIMIT, "{of_one} instructions");
}
