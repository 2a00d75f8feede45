//! Notices of the ORB on standard error, where no exception can say it.

use std::{io::Read, thread, time::Duration};

use punctual::{Interface, Minor, Orb, PolicyOverrides, SystemExceptionKind as Kind};
use punctual_fixtures::{
    conformance::ProbeRef,
    server::{Server, client},
};
use rustix::{
    pipe::pipe,
    stdio::{dup2_stderr, stderr},
};

/// Returns what this process writes to standard error meanwhile.
fn written_by(work: impl FnOnce()) -> String {
    let (mut read, write) = pipe()
        .map(|(read, write)| (std::fs::File::from(read), write))
        .unwrap();
    let own = rustix::io::dup(stderr()).unwrap();
    dup2_stderr(&write).unwrap();
    drop(write);
    work();
    dup2_stderr(&own).unwrap();
    let mut written = String::new();
    read.read_to_string(&mut written).unwrap();
    written
}

/// Passes an object of the client's root adapter to a servant that calls it before it replies.
fn call_back(client: &Orb) -> Result<i32, punctual::SystemException> {
    let server = Server::start();
    let own: ProbeRef = client.root_poa().activate(server.servant()).unwrap();
    let timeout = PolicyOverrides::new().roundtrip_timeout(Duration::from_millis(500));
    let probe = server.reference_for(client);
    let probe: ProbeRef = probe.as_object().with_policies(timeout).unchecked();
    probe.forward(Some(&own), 1)
}

pub fn a_callback_that_no_thread_serves_is_reported() {
    let listening = || {
        Orb::builder()
            .listen("iiop://127.0.0.1:0")
            .lock_memory(false)
            .build()
            .unwrap()
    };
    let served = listening();
    let silent = written_by(|| {
        thread::scope(|scope| {
            scope.spawn(|| served.run());
            assert_eq!(call_back(&served), Ok(2));
            served.shutdown();
        });
        // Nor one whose objects nobody awaits.
        assert_eq!(Server::start().reference_for(&client()).twice(1), Ok(2));
    });
    assert_eq!(silent, "");
    let unserved = listening();
    let written = written_by(|| {
        let error = call_back(&unserved).unwrap_err();
        assert_eq!((error.kind, error.minor), (Kind::Timeout, Minor::REPLY_TIMED_OUT));
    });
    assert!(
        written.contains("no thread serves the objects of this ORB"),
        "{written}"
    );
}
