//! Thread pools: dynamic threads, borrowing, blocking lanes, pools that end. TAO's tests Thread_Pool,
//! Dynamic_Thread_Pool and Destroy_Thread_Pool, written from what they are for.

mod blocking;
mod borrowing;
mod borrowing_from_queues;
mod destroying;
mod during_reads;
mod dynamic;
mod fairness;
mod idle_connections;
mod settings;

use std::{fs, thread, time::Duration};

use punctual::{Orb, SchedulingClass, ThreadPoolBuilder};
use punctual_fixtures::{
    client_propagated,
    conformance::ProbeRef,
    priorities::{HIGH, LOW},
    priority,
    real_time::ordinary_client,
    server::{Server, Setup},
};

/// Function that gives a pool this shape.
type Shape = fn(ThreadPoolBuilder) -> ThreadPoolBuilder;

/// A server whose object runs at the caller's priority.
fn with_lanes(pool: Shape) -> Server {
    Server::with_propagated_priorities(priority(LOW), pool)
}

fn with_real_time_lanes(pool: Shape) -> Server {
    let setup = Setup {
        pool,
        model: Some(client_propagated(priority(LOW))),
        class: SchedulingClass::Fifo,
        ..Setup::default()
    };
    setup.start()
}

/// Calls from a thread of its own, each of which keeps a thread of the server until the gate opens.
fn wait_at_gate<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    client: &'scope Orb,
    probe: &'scope ProbeRef,
    own: Option<i16>,
    value: i32,
) -> thread::ScopedJoinHandle<'scope, ()> {
    scope.spawn(move || {
        if let Some(own) = own {
            client.current().set_priority(priority(own)).unwrap();
        }
        // So that a test that fails does not wait forever.
        let probe: ProbeRef = probe.with_timeout(Duration::from_secs(15)).unchecked();
        assert_eq!(probe.wait_at_gate(value), Ok(value));
    })
}

/// The names of this process's threads that begin so.
fn threads_of(pool: &str) -> Vec<String> {
    let mut names = Vec::new();
    for task in fs::read_dir("/proc/self/task").expect("procfs") {
        // It may have ended since it was listed.
        if let Ok(name) = fs::read_to_string(task.expect("a thread").path().join("comm")) {
            let name = name.trim_end();
            if name.starts_with(pool) {
                names.push(name.to_owned());
            }
        }
    }
    names.sort();
    names
}

/// The pool's part in the names of its threads.
fn prefix(server: &Server) -> String {
    let own = server.probe.ior();
    assert!(!own.profiles.is_empty());
    let client = ordinary_client();
    let thread = server.reference_for(&client).thread().unwrap();
    let name = fs::read_to_string(format!("/proc/self/task/{thread}/comm")).unwrap();
    name.split_inclusive('-').next().unwrap().to_owned()
}
