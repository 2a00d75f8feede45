//! The instructions with which a request is served do not depend on how many objects and adapters there are,
//! nor on how deep the adapter is. `qualify/scenarios/src/orb/demultiplexing.rs` counts those by the number
//! of operations.

use punctual::{Interface, Orb, Poa, SchedulingClass};
use punctual_fixtures::{
    instructions::{instructions, number},
    peer::Peer,
    server::Profile,
    wire::{COMMON, REPLY},
};

#[allow(dead_code, reason = "its calls are written by hand")]
mod doubler {
    include!("../../../../crates/stub/doc/doubler.rs");
}

use doubler::{Doubler, DoublerRef};

/// Calls that are counted, to different objects one after the other.
const CALLS: usize = 20;

/// Objects in each adapter, adapters beside each other, and how deep they are. Two objects at least: a lane
/// recognises the request that repeats its last one, which costs even less.
const ARRANGEMENTS: [[usize; 3]; 6] = [
    [2, 1, 1],
    [100, 1, 1],
    [10_000, 1, 1],
    [1, 100, 1],
    [1, 1000, 1],
    [2, 1, 25],
];

const VARIABLES: [&str; 3] = ["OBJECTS", "ADAPTERS", "DEPTH"];

/// Serves calls to the last objects, of which valgrind counts what is inside `answer_request`.
#[test]
#[ignore = "started by the other test"]
fn requests_to_many_objects() {
    let [objects, adapters, depth] = VARIABLES.map(number);
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .scheduling_class(SchedulingClass::Other)
        .lock_memory(false)
        .build()
        .unwrap();
    let pool = orb.threadpool().build().unwrap();
    let child = |parent: &Poa, name: String| parent.child(&name).threadpool(&pool).build().unwrap();
    let mut profiles = Vec::new();
    for adapter in 0..adapters {
        let mut poa = child(&orb.root_poa(), format!("adapter{adapter:04}"));
        for level in 1..depth {
            poa = child(&poa, format!("level{level:02}"));
        }
        for object in 0..objects {
            let doubler: DoublerRef = poa.activate(Doubler).unwrap();
            // The others would only take time.
            if adapters * objects <= CALLS || adapter * objects + object >= adapters * objects - CALLS {
                profiles.push(Profile::of(doubler.as_object()));
            }
        }
    }
    let mut peer = Peer::connect(profiles[0].port);
    for (call, profile) in (0..CALLS).zip(profiles.iter().cycle()) {
        let request = COMMON.request(2 * call as u32, &profile.key, "twice", |body| {
            body.i32(call as i32)
        });
        peer.send(&request);
        assert_eq!(peer.receive().unwrap().message_type, REPLY);
    }
    orb.shutdown_and_wait().unwrap();
}

/// Instructions for a call in this arrangement; `None` without valgrind.
fn of_a_call(arrangement: [usize; 3]) -> Option<u64> {
    let variables = [0, 1, 2].map(|place| (VARIABLES[place], arrangement[place].to_string()));
    let total = instructions(
        "demultiplexing::requests_to_many_objects",
        Some("*server::request::answer_request*"),
        &variables,
    );
    total.map(|total| total / CALLS as u64)
}

#[test]
fn requests_cost_the_same_however_many_objects_and_adapters_there_are() {
    let Some(least) = of_a_call(ARRANGEMENTS[0]) else {
        return;
    };
    for arrangement in &ARRANGEMENTS[1..] {
        let cost = of_a_call(*arrangement).expect("valgrind");
        let within = least * 9 / 10..=least * 11 / 10;
        assert!(
            within.contains(&cost),
            "{cost} instructions with objects, adapters, depth {arrangement:?}; {least} with two objects"
        );
    }
}
