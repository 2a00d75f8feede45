//! Instructions of a two-way call.

use punctual::Interface;
use punctual_fixtures::{
    instructions::{instructions, number},
    real_time::ordinary,
};

#[allow(dead_code, reason = "not all its operations are called")]
mod doubler {
    include!("../../../../crates/stub/doc/doubler.rs");
}

use doubler::{Doubler, DoublerRef};

/// The instructions that a call may take in user space: client, lane and C library together.
const LIMIT: u64 = 3_600;

#[test]
#[ignore = "started by the next test"]
fn calls_over_tcp() {
    let server = ordinary().listen("iiop://127.0.0.1:0").build().unwrap();
    let pool = server.threadpool().build().unwrap();
    let poa = server
        .root_poa()
        .child("served")
        .threadpool(&pool)
        .build()
        .unwrap();
    let served: DoublerRef = poa.activate(Doubler).unwrap();
    let client = ordinary().build().unwrap();
    let doubler: DoublerRef = client.resolve(&served.as_object().to_ior()).unwrap();
    for value in 0..number("CALLS") as i32 {
        assert_eq!(doubler.twice(value), Ok(2 * value));
    }
    client.shutdown_and_wait().unwrap();
    server.shutdown_and_wait().unwrap();
}

/// The difference of two runs is that of their calls.
#[test]
#[ignore = "counts the instructions of an optimised build"]
fn a_two_way_call_takes_few_instructions() {
    let [few, many] = [4_000, 12_000];
    let run = |calls: u64| {
        let variables = [("CALLS", calls.to_string())];
        instructions("instructions::calls_over_tcp", None, &variables)
    };
    let Some(first) = run(few) else {
        return;
    };
    let of_one = (run(many).expect("valgrind") - first) / (many - few);
    println!("{of_one} instructions");
    assert!(of_one <= LIMIT, "{of_one} instructions");
}
