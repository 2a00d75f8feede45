//! Messages of an ORB on standard error for users without the right to real-time priorities.

use std::{process::Command, thread};

use punctual_orb::Orb;
use punctual_os::SchedulingClass;
use punctual_stub::Interface;
use punctual_types::Priority;
use rustix::{
    process::{Resource, Rlimit, setrlimit},
    thread::{CapabilitySet, CapabilitySets, set_capabilities},
};

use crate::doubler::{Doubler, DoublerRef};

/// Everything that asks for a priority: lanes, pools, client threads, mutexes.
const WORK: &str = "notices::work_of_an_application";

#[test]
fn missing_rights_are_one_line_for_the_whole_process() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", WORK, "--ignored", "--nocapture"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
    // For people who run an application, and do not know its parts.
    assert!(
        said.starts_with("punctual: no right to real-time priorities: calls work"),
        "{said}"
    );
    assert!(said.contains("to grant it: sudo setcap cap_sys_nice"), "{said}");
    let (sentence, _command) = said.split_once("to grant it").unwrap();
    for inner in ["EPERM", "os error", "SCHED_", "lane", "pool", "ORB"] {
        assert!(!sentence.contains(inner), "{inner}: {said}");
    }
}

#[test]
#[ignore = "started by another test"]
fn work_of_an_application() {
    let none = CapabilitySet::empty();
    let sets = CapabilitySets {
        effective: none,
        permitted: none,
        inheritable: none,
    };
    let no = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    for resource in [Resource::Rtprio, Resource::Memlock] {
        setrlimit(resource, no).unwrap();
    }
    // The threads that this one starts have no more rights.
    set_capabilities(None, sets).unwrap();
    for _ in 0..2 {
        let server = Orb::builder().listen("iiop://127.0.0.1").build().unwrap();
        let lanes = server
            .threadpool()
            .lane(Priority::MIN, 1)
            .lane(Priority::MAX, 1)
            .build()
            .unwrap();
        let plain = server
            .threadpool()
            .scheduling_class(SchedulingClass::RoundRobin)
            .build()
            .unwrap();
        assert_eq!((lanes.statistics().len(), plain.statistics().len()), (2, 1));
        let poa = server
            .root_poa()
            .child("plain")
            .threadpool(&plain)
            .build()
            .unwrap();
        let doubler: DoublerRef = poa.activate(Doubler).unwrap();
        let client = Orb::builder().build().unwrap();
        let doubler: DoublerRef = client.resolve(&doubler.as_object().to_ior()).unwrap();
        thread::scope(|scope| {
            for priority in [Priority::MIN, Priority::MAX] {
                let (client, doubler) = (&client, &doubler);
                scope.spawn(move || {
                    client.current().set_priority(priority).unwrap();
                    assert_eq!(doubler.twice(3), Ok(6));
                    let mutex = client.create_mutex();
                    drop(mutex.lock().unwrap());
                });
            }
        });
    }
}
