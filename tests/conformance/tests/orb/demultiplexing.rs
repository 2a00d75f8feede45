//! The instructions with which a request is served do not depend on how many objects, adapters and operations
//! there are, nor on how deep the adapter is.

use punctual::{Interface, ObjectRef, Poa, SystemException, rt::Skeleton};
use punctual_fixtures::{
    instructions::{instructions, number},
    peer::Peer,
    real_time::ordinary,
    server::Profile,
    wire::{COMMON, REPLY},
};

mod operations {
    punctual::include_idl!("operations");
}

use operations::{EightRef, NineRef, OneRef, ThousandRef};

/// Serves all interfaces; `build.rs` writes its operations.
struct Servant;

include!(concat!(env!("OUT_DIR"), "/servants.rs"));

/// Calls that are counted, to different objects one after the other.
const CALLS: usize = 20;

/// Objects in each adapter, adapters beside each other, how deep they are, operations of the interface, and
/// the number of the called one. Two objects at least: a lane recognises the request that repeats its last
/// one, which costs even less.
const ARRANGEMENTS: [[usize; 5]; 13] = [
    [2, 1, 1, 1, 1],
    [100, 1, 1, 1, 1],
    [10_000, 1, 1, 1, 1],
    [1, 100, 1, 1, 1],
    [1, 1000, 1, 1, 1],
    [2, 1, 25, 1, 1],
    [2, 1, 1, 8, 1],
    [2, 1, 1, 8, 8],
    [2, 1, 1, 9, 1],
    [2, 1, 1, 9, 9],
    [2, 1, 1, 1_000, 1],
    [2, 1, 1, 1_000, 500],
    [2, 1, 1, 1_000, 1_000],
];

const VARIABLES: [&str; 5] = ["OBJECTS", "ADAPTERS", "DEPTH", "OPERATIONS", "CALLED"];

/// Serves calls to the last objects, of which valgrind counts what is inside `answer_request`.
#[test]
#[ignore = "started by the other test"]
fn requests_to_many_objects() {
    let [objects, adapters, depth, operations, called] = VARIABLES.map(number);
    let orb = ordinary().listen("iiop://127.0.0.1:0").build().unwrap();
    let pool = orb.threadpool().build().unwrap();
    let child = |parent: &Poa, name: String| parent.child(&name).threadpool(&pool).build().unwrap();
    let mut profiles = Vec::new();
    for adapter in 0..adapters {
        let mut poa = child(&orb.root_poa(), format!("adapter{adapter:04}"));
        for level in 1..depth {
            poa = child(&poa, format!("level{level:02}"));
        }
        for object in 0..objects {
            let activated = activated(&poa, operations);
            // The others would only take time.
            if adapters * objects <= CALLS || adapter * objects + object >= adapters * objects - CALLS {
                profiles.push(Profile::of(&activated));
            }
        }
    }
    let mut peer = Peer::connect(profiles[0].port);
    for (call, profile) in (0..CALLS).zip(profiles.iter().cycle()) {
        let operation = format!("operation_{called:04}");
        let request = COMMON.request(2 * call as u32, &profile.key, &operation, |body| {
            body.i32(call as i32)
        });
        peer.send(&request);
        assert_eq!(peer.receive().unwrap().message_type, REPLY);
    }
    orb.shutdown_and_wait().unwrap();
}

fn activated(poa: &Poa, operations: usize) -> ObjectRef {
    match operations {
        1 => object::<OneRef>(poa),
        8 => object::<EightRef>(poa),
        9 => object::<NineRef>(poa),
        _ => object::<ThousandRef>(poa),
    }
}

fn object<R: Interface + Skeleton<Servant> + 'static>(poa: &Poa) -> ObjectRef {
    let reference: R = poa.activate(Servant).unwrap();
    reference.as_object().clone()
}

/// Instructions for a call in this arrangement; `None` without valgrind.
fn of_a_call(arrangement: [usize; 5]) -> Option<u64> {
    let variables = VARIABLES.iter().zip(arrangement);
    let variables = variables
        .map(|(name, value)| (*name, value.to_string()))
        .collect::<Vec<_>>();
    let total = instructions(
        "demultiplexing::requests_to_many_objects",
        Some("*server::handler::answer_request*"),
        &variables,
    );
    total.map(|total| total / CALLS as u64)
}

#[test]
fn requests_cost_the_same_however_many_objects_adapters_and_operations_there_are() {
    let Some(least) = of_a_call(ARRANGEMENTS[0]) else {
        return;
    };
    for arrangement in &ARRANGEMENTS[1..] {
        let cost = of_a_call(*arrangement).expect("valgrind");
        let within = least * 9 / 10..=least * 11 / 10;
        assert!(
            within.contains(&cost),
            "{cost} instructions with objects, adapters, depth, operations, called one {arrangement:?}; {least} \
             with two objects and one operation"
        );
    }
}
