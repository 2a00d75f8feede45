//! Servers that end without CloseConnection, as killed ones do: what they cannot have executed is sent again,
//! and nothing else.

use std::{
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use punctual::{
    Completion, Interface as _, Limits, Minor, Orb, SystemException, SystemExceptionKind as Kind,
};
use punctual_fixtures::{
    conformance::ProbeRef,
    eventually,
    peer::{Listener, Peer, port_to_tell},
    real_time::ordinary,
    server::{Server, client, reference},
    wire::{LOCATE_REPLY, LOCATE_REQUEST},
};

const KEY: &[u8] = b"restarted";
const RESTARTS: usize = 9;

/// A client, whose references end with it, and its reference to the server.
fn client_of(listener: &Listener) -> (Orb, ProbeRef) {
    let ior = reference([1, 2], listener.port, KEY, &[]);
    let client = client();
    let probe = client.resolve(&punctual::ior_to_string(&ior)).unwrap();
    (client, probe)
}

/// Executes one call of `twice`.
fn serve_one(peer: &mut Peer) {
    let message = peer.receive().expect("a request");
    peer.send(
        &message
            .dialect
            .reply(message.request().id, 0, |body| body.i32(42)),
    );
}

#[test]
fn the_first_call_after_a_restart_succeeds() {
    let listener = Listener::open();
    let (_client, probe) = client_of(&listener);
    let (ended, wait_for_end) = mpsc::channel();
    thread::scope(|scope| {
        // Each incarnation executes one request: a repeated one would take the place of the next call's.
        scope.spawn(move || {
            for _ in 0..=RESTARTS {
                let mut peer = listener.accept();
                serve_one(&mut peer);
                drop(peer);
                ended.send(()).unwrap();
            }
        });
        for call in 0..=RESTARTS {
            assert_eq!(probe.twice(21), Ok(42), "call {call}");
            wait_for_end.recv().unwrap();
        }
    });
}

/// Nobody would notice its loss. Only back-to-back oneway calls save the system call that looks for the end.
#[test]
fn a_oneway_call_after_a_restart_arrives() {
    let listener = Listener::open();
    let (_client, probe) = client_of(&listener);
    let (ended, wait_for_end) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            serve_one(&mut listener.accept());
            ended.send(()).unwrap();
            let mut peer = listener.accept();
            let first = peer.receive().expect("the oneway request");
            assert_eq!(first.request().operation, b"note");
            serve_one(&mut peer);
        });
        assert_eq!(probe.twice(21), Ok(42));
        wait_for_end.recv().unwrap();
        thread::sleep(Duration::from_millis(20));
        assert_eq!(probe.as_object().oneway("note", |_| Ok(())), Ok(()));
        assert_eq!(probe.twice(21), Ok(42));
    });
}

#[test]
fn a_request_that_the_server_has_received_is_sent_once() {
    let lost = SystemException::new(Kind::CommFailure, Minor::CONNECTION_LOST, Completion::Maybe);
    let ways_to_end: [fn(&mut Peer); 3] = [
        // It may have executed the request.
        |peer| drop(peer.receive().expect("a request")),
        // It has ended its own direction only, and received the request after that.
        |peer| {
            peer.finish();
            drop(peer.receive().expect("a request"));
            assert!(peer.receive().is_none(), "the client closes");
        },
        // Its system resets the connection: the first octets were read.
        |peer| drop(peer.receive_octets(20)),
    ];
    for (number, end) in ways_to_end.into_iter().enumerate() {
        let listener = Listener::open();
        let (_client, probe) = client_of(&listener);
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut peer = listener.accept();
                serve_one(&mut peer);
                end(&mut peer);
                drop(peer);
                serve_one(&mut listener.accept());
            });
            assert_eq!(probe.twice(21), Ok(42));
            assert_eq!(probe.twice(21), Err(lost), "end {number}");
            // The next accepted connection has the next call: nothing came between.
            assert_eq!(probe.twice(21), Ok(42));
        });
    }
}

#[test]
fn a_question_for_the_place_of_an_object_is_asked_again() {
    let listener = Listener::open();
    let (_client, probe) = client_of(&listener);
    thread::scope(|scope| {
        scope.spawn(move || {
            let question = listener.accept().receive().expect("a question");
            assert_eq!(question.message_type, LOCATE_REQUEST);
            let mut peer = listener.accept();
            let message = peer.receive().expect("the same question");
            let id = message.reader().u32();
            peer.send(
                &message
                    .dialect
                    .message(LOCATE_REPLY, |reply| reply.u32(id).u32(1)),
            );
        });
        assert_eq!(probe.as_object().validate_connection(), Ok(()));
    });
}

/// A server that has a pool at this port, and no adapter yet.
fn with_pool(port: u16, limits: Limits) -> (Orb, Server) {
    let orb = ordinary()
        .listen("iiop://127.0.0.1:0")
        .limits(limits)
        .build()
        .unwrap();
    let pool = orb
        .threadpool()
        .threads(2)
        .listen(format!("iiop://127.0.0.1:{port}"))
        .build()
        .unwrap();
    (orb.clone(), Server::with_poa(orb.clone(), pool, orb.root_poa()))
}

/// Activates the object that has the same reference in each run.
fn activate(server: &Server) -> ProbeRef {
    let poa = server.orb.root_poa().child("lasting").threadpool(&server.pool);
    let poa = poa.persistent().user_ids().build().unwrap();
    poa.object(server.servant()).id("probe").activate().unwrap()
}

#[test]
fn no_client_takes_a_server_that_starts_for_one_without_the_object() {
    let port = port_to_tell();
    let (orb, server) = with_pool(port, Limits::default());
    let ior = activate(&server).to_ior();
    drop(server);
    orb.shutdown_and_wait().unwrap();
    drop(orb);

    let over = AtomicBool::new(false);
    let (early, served) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        let callers = [(); 2].map(|()| {
            scope.spawn(|| {
                let client = client();
                let probe: ProbeRef = client.resolve(&ior).unwrap();
                let mut misled = Vec::new();
                while !over.load(Ordering::Relaxed) {
                    match probe.twice(21) {
                        Ok(_) => served.fetch_add(1, Ordering::SeqCst),
                        Err(error) if error.minor == Minor::SERVER_STARTING => {
                            assert_eq!((error.kind, error.completed), (Kind::Transient, Completion::No));
                            early.fetch_add(1, Ordering::SeqCst)
                        }
                        Err(error) => {
                            misled.extend((error.kind == Kind::ObjectNotExist).then_some(error));
                            0
                        }
                    };
                    thread::sleep(Duration::from_millis(1));
                }
                misled
            })
        });
        for _ in 0..3 {
            let (orb, server) = with_pool(port, Limits::default());
            let calls = early.load(Ordering::SeqCst);
            eventually("calls before the adapter exists", || {
                early.load(Ordering::SeqCst) > calls + 2
            });
            activate(&server);
            let calls = served.load(Ordering::SeqCst);
            eventually("calls of the object", || {
                served.load(Ordering::SeqCst) > calls + 2
            });
            drop(server);
            orb.shutdown_and_wait().unwrap();
        }
        over.store(true, Ordering::Relaxed);
        for caller in callers {
            assert_eq!(caller.join().unwrap(), []);
        }
    });
}

#[test]
fn a_server_has_started_when_it_runs_or_its_time_is_over() {
    let port = port_to_tell();
    let (orb, server) = with_pool(port, Limits::default());
    let probe = activate(&server);
    let client = client();
    let remote: ProbeRef = client.resolve(&probe.to_ior()).unwrap();
    server.orb.root_poa().find("lasting").unwrap().destroy().unwrap();
    let starting = remote.twice(1).unwrap_err();
    assert_eq!(starting.minor, Minor::SERVER_STARTING);
    let place = format!(":{port} in `twice`: ");
    assert!(starting.to_string().contains(&place), "{starting}");
    let runner = thread::spawn({
        let orb = orb.clone();
        move || orb.run()
    });
    eventually("OBJECT_NOT_EXIST", || {
        remote.twice(1).unwrap_err().kind == Kind::ObjectNotExist
    });
    drop(server);
    orb.shutdown();
    runner.join().unwrap();
    drop(orb);

    let (_orb, _server) = with_pool(port, Limits::default().startup(Duration::ZERO));
    assert_eq!(remote.twice(1).unwrap_err().kind, Kind::ObjectNotExist);
}
