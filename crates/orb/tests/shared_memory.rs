//! Calls through shared memory.
#![allow(clippy::disallowed_methods)] // The real-time rules are for the ORB, not for a program that tests it.

use std::time::Duration;

use punctual_giop::{TAG_INTERNET_IOP, TAG_PUNCTUAL_SHM, TAG_UIOP};
use punctual_orb::{Orb, PriorityModel};
use punctual_stub::Interface;
use punctual_types::Priority;

mod doubler {
    #![allow(dead_code, missing_docs)]
    include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs"));
}
use doubler::{Doubler, DoublerRef};

#[test]
fn first() {
    let server = Orb::builder().listen("shmiop://").build().unwrap();
    let high = Priority::MAX;
    let pool = server
        .threadpool()
        .lane(Priority::MIN, 1)
        .lane(high, 1)
        .build()
        .unwrap();
    let model = PriorityModel::ClientPropagated {
        default: Priority::MIN,
    };
    let poa = server
        .root_poa()
        .child("rt")
        .threadpool(&pool)
        .priority_model(model)
        .build()
        .unwrap();
    let doubler: DoublerRef = poa.activate(Doubler).unwrap();
    let client = Orb::builder().build().unwrap();
    let doubler: DoublerRef = client.resolve(&doubler.as_object().to_ior()).unwrap();
    client.current().set_priority(high).unwrap();
    for _ in 0..10000 {
    assert_eq!(doubler.twice(21).unwrap(), 42);}
    let requests: Vec<_> = pool.statistics().iter().map(|(_, lane)| lane.requests).collect();
    assert_eq!(requests, [0, 10000], "in the lane of the caller's priority");
    let _ = (TAG_INTERNET_IOP, TAG_PUNCTUAL_SHM, TAG_UIOP, Duration::ZERO);
}
