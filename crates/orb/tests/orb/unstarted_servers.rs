//! Objects of the default pool, whose threads are those that call `run`, before anyone does.

use std::{sync::mpsc, thread, time::Duration};

use punctual_orb::{ConnectionMode, Orb};
use punctual_stub::{Interface, PolicyOverrides};
use punctual_types::{Completion, Minor, Priority, SystemExceptionKind as Kind};

use crate::doubler::{Doubler, DoublerRef};

fn server() -> (Orb, DoublerRef) {
    let orb = Orb::builder().listen("iiop://127.0.0.1").build().unwrap();
    let doubler = orb.root_poa().activate(Doubler).unwrap();
    (orb, doubler)
}

/// A client whose calls share connections, with the server's object.
fn sharing_client(doubler: &DoublerRef) -> (Orb, DoublerRef) {
    let client = Orb::builder().build().unwrap();
    client
        .set_reply_threadpool(&client.threadpool().lane(Priority::MAX, 1).build().unwrap())
        .unwrap();
    client.add_policies(PolicyOverrides::new().connection_mode(ConnectionMode::Shared));
    let doubler = client.resolve(&doubler.as_object().to_ior()).unwrap();
    (client, doubler)
}

/// Ends the test if the work takes forever.
fn within_reason<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    thread::spawn(move || done.send(work()));
    result
        .recv_timeout(Duration::from_secs(60))
        .expect("it waits forever")
}

#[test]
fn an_orb_resolves_its_own_name_and_calls_itself() {
    within_reason(|| {
        let (orb, doubler) = server();
        let url = orb.publish("Doubler", &doubler).unwrap();
        let other_name = url.replace("127.0.0.1", "localhost");
        for url in [url, other_name] {
            let resolved: DoublerRef = orb.resolve(&url).unwrap();
            assert_eq!(resolved.twice(3), Ok(6));
            assert_eq!(resolved, doubler);
        }
        let ior = doubler.as_object().to_ior();
        assert_eq!(orb.resolve::<DoublerRef>(&ior).unwrap().twice(4), Ok(8));
    });
}

#[test]
fn a_second_orb_of_the_process_is_told_who_would_have_to_serve() {
    within_reason(|| {
        let (_server, doubler) = server();
        let client = Orb::builder().build().unwrap();
        let doubler: DoublerRef = client.resolve(&doubler.as_object().to_ior()).unwrap();
        let error = doubler.twice(3).unwrap_err();
        let expected = (Kind::BadInvOrder, Minor::NOT_SERVED, Completion::No);
        assert_eq!((error.kind, error.minor, error.completed), expected, "{error}");
        let text = error.to_string();
        assert!(text.contains("call its `run` on another thread"), "{text}");
        assert!(text.contains("(at iiop://127.0.0.1:"), "{text}");
    });
}

#[test]
fn calls_wait_for_a_thread_that_begins_to_serve() {
    within_reason(|| {
        let (server, doubler) = server();
        let client = Orb::builder().build().unwrap();
        let doubler: DoublerRef = client.resolve(&doubler.as_object().to_ior()).unwrap();
        let call = thread::spawn(move || [doubler.twice(3), doubler.twice(4)]);
        // Whether it calls before or after: both are served.
        thread::sleep(Duration::from_millis(50));
        let runs = server.clone();
        let serving = thread::spawn(move || runs.run());
        assert_eq!(call.join().unwrap(), [Ok(6), Ok(8)]);
        server.shutdown();
        serving.join().unwrap();
    });
}

#[test]
fn a_call_over_a_shared_connection_is_told_who_would_have_to_serve() {
    within_reason(|| {
        let (server, doubler) = server();
        let (_client, doubler) = sharing_client(&doubler);
        let error = doubler.twice(3).unwrap_err();
        let expected = (Kind::BadInvOrder, Minor::NOT_SERVED, Completion::No);
        assert_eq!((error.kind, error.minor, error.completed), expected, "{error}");
        // Over the same connection.
        let runs = server.clone();
        let serving = thread::spawn(move || runs.run());
        assert_eq!([doubler.twice(3), doubler.twice(4)], [Ok(6), Ok(8)]);
        server.shutdown();
        serving.join().unwrap();
    });
}

/// The request is under way when its caller begins to wait.
#[test]
fn a_wait_for_an_asynchronous_call_is_told_who_would_have_to_serve() {
    within_reason(|| {
        let (_server, doubler) = server();
        let (_client, doubler) = sharing_client(&doubler);
        let error = doubler.twice_async(3).wait().unwrap_err();
        let expected = (Kind::BadInvOrder, Minor::NOT_SERVED, Completion::Maybe);
        assert_eq!((error.kind, error.minor, error.completed), expected, "{error}");
        assert!(error.to_string().contains("(at iiop://127.0.0.1:"), "{error}");
    });
}

#[test]
fn waits_for_asynchronous_calls_end_once_a_thread_serves() {
    within_reason(|| {
        let (server, doubler) = server();
        let (_client, doubler) = sharing_client(&doubler);
        let calls = [doubler.twice_async(3), doubler.twice_async(4)];
        let runs = server.clone();
        let serving = thread::spawn(move || runs.run());
        assert_eq!(calls.map(|call| call.wait()), [Ok(6), Ok(8)]);
        server.shutdown();
        serving.join().unwrap();
    });
}

/// A timeout of one's own is kept, and is a TIMEOUT.
#[test]
fn calls_with_a_timeout_end_by_it() {
    within_reason(|| {
        let (_server, doubler) = server();
        let timeout = Duration::from_millis(20);
        let client = Orb::builder().call_timeout(timeout).build().unwrap();
        let doubler: DoublerRef = client.resolve(&doubler.as_object().to_ior()).unwrap();
        assert_eq!(doubler.twice(3).unwrap_err().kind, Kind::Timeout);
    });
}
