//! How many instructions checking a file and generating its code take. At the 3 to 4 per nanosecond of an
//! ordinary processor, the limit of an optimised build is the 10 ms that a typical file may take.

use std::path::PathBuf;

use punctual_build::configure;
use punctual_fixtures::instructions::{instructions, number};

/// Files, those of a lesson and of two services of TAO, with the millions of instructions that they may take
/// in an optimised build and in one without optimisation.
const FILES: [(&str, [u64; 2]); 3] = [
    ("examples/04-distributable-threads/idl/radar.idl", [30, 300]),
    ("services/events/idl/rtec.idl", [30, 300]),
    ("services/scheduling/idl/rtec_scheduler.idl", [30, 300]),
];

/// Times that a file is compiled more often in the second run: the difference has no start of the process.
const MORE: usize = 4;

#[test]
#[ignore = "started by the next test"]
fn code_is_generated() {
    let (name, _) = FILES[number("FILE")];
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    for _ in 0..number("TIMES") {
        assert!(!configure().generate(&file).unwrap().rust.is_empty());
    }
}

#[test]
fn checking_and_generating_a_typical_file_takes_few_instructions() {
    for (place, (name, [optimised, otherwise])) in FILES.into_iter().enumerate() {
        let run = |times: usize| {
            let variables = [("FILE", place.to_string()), ("TIMES", times.to_string())];
            instructions("instructions::code_is_generated", None, &variables)
        };
        let Some(first) = run(1) else {
            return;
        };
        let of_one = (run(1 + MORE).expect("valgrind") - first) / MORE as u64;
        println!("{name}: {of_one} instructions");
        let limit = if cfg!(debug_assertions) {
            otherwise
        } else {
            optimised
        };
        assert!(of_one <= limit * 1_000_000, "{name}: {of_one} instructions");
    }
}
