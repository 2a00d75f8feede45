//! Requests that do not go as they should, and requests that are sent or served more than once: each attempt
//! starts and ends.

use std::{sync::Arc, thread, time::Duration};

use punctual::{
    AnyServant, Declined, ExpiredRequests, Interface as _, Orb, Poa, PolicyOverrides, Priority, QueueLimits,
    ServantLocator, SystemExceptionKind as Kind, ThreadPoolBuilder,
};
use punctual_fixtures::{
    LONG, client_propagated,
    conformance::ProbeRef,
    eventually,
    peer::{Listener, Peer},
    recorder::resolve,
    server::{Profile, Server, reference},
    wire::{COMMON, Dialect},
};

use super::{Act, Journal, Registered, Watch, client, orb, server};

/// A client whose calls go to a server that the test plays.
fn playing(play: impl FnOnce(Listener) + Send, calls: impl FnOnce(&Journal, &Arc<Watch>, &ProbeRef)) {
    let journal = Journal::default();
    let watch = Watch::new("A", &journal);
    let orb = orb()
        .initializer(&Registered::client([Arc::clone(&watch)]))
        .build()
        .unwrap();
    let listener = Listener::open();
    let probe = resolve(&orb, &reference([1, 2], listener.port, b"played", &[]));
    thread::scope(|scope| {
        scope.spawn(|| play(listener));
        calls(&journal, &watch, &probe);
    });
}

fn answer(peer: &mut Peer, write: impl FnOnce(Dialect, u32) -> Vec<u8>) {
    let message = peer.receive().expect("a request");
    let octets = write(message.dialect, message.request().id);
    peer.send(&octets);
}

fn forty_two(dialect: Dialect, id: u32) -> Vec<u8> {
    dialect.reply(id, 0, |body| body.i32(42))
}

#[test]
fn the_deadline_passes() {
    let (done, wait) = std::sync::mpsc::channel::<()>();
    playing(
        move |listener| {
            let mut peer = listener.accept();
            assert!(peer.receive().is_some());
            // Until the call is over.
            let _ = wait.recv();
        },
        |journal, _, probe| {
            let prompt: ProbeRef = probe
                .as_object()
                .with_timeout(Duration::from_millis(30))
                .unchecked();
            assert_eq!(prompt.twice(21).unwrap_err().kind, Kind::Timeout);
            journal.expect("late", &["A.send_request twice", "A.receive_exception TIMEOUT"]);
            let never: ProbeRef = probe.as_object().with_timeout(Duration::ZERO).unchecked();
            assert_eq!(never.twice(21).unwrap_err().kind, Kind::Timeout);
            journal.expect("unsent", &["A.send_request twice", "A.receive_exception TIMEOUT"]);
            drop(done);
        },
    );
}

#[test]
fn the_connection_is_lost() {
    playing(
        |listener| {
            let mut peer = listener.accept();
            answer(&mut peer, forty_two);
            assert!(peer.receive().is_some());
        },
        |journal, _, probe| {
            assert_eq!(probe.twice(21), Ok(42));
            assert_eq!(probe.twice(21).unwrap_err().kind, Kind::CommFailure);
            journal.expect(
                "lost",
                &[
                    "A.send_request twice",
                    "A.receive_reply",
                    "A.send_request twice",
                    "A.receive_exception COMM_FAILURE",
                ],
            );
        },
    );
}

#[test]
fn nobody_is_there() {
    playing(drop, |journal, _, probe| {
        let gone = Listener::open();
        let port = gone.port;
        drop(gone);
        let orb = probe.as_object().orb().0.clone();
        let target = orb.bind(reference([1, 2], port, b"played", &[])).unwrap();
        let probe = ProbeRef::from_object(punctual::ObjectRef::new(target));
        assert_eq!(probe.twice(21).unwrap_err().kind, Kind::Transient);
        journal.expect(
            "refused",
            &["A.send_request twice", "A.receive_exception TRANSIENT"],
        );
    });
}

#[test]
fn the_server_closes_and_is_called_again() {
    playing(
        |listener| {
            let mut peer = listener.accept();
            answer(&mut peer, forty_two);
            assert!(peer.receive().is_some());
            // In good order: it has not been handled.
            peer.send(&COMMON.message(5, |message| message));
            let mut peer = listener.accept();
            answer(&mut peer, forty_two);
        },
        |journal, _, probe| {
            assert_eq!(probe.twice(21), Ok(42));
            assert_eq!(probe.twice(21), Ok(42));
            journal.expect(
                "closed",
                &[
                    "A.send_request twice",
                    "A.receive_reply",
                    "A.send_request twice",
                    "A.receive_other TransportRetry",
                    "A.send_request twice",
                    "A.receive_reply",
                ],
            );
        },
    );
}

/// The last attempt is the one that its interceptors see fail.
#[test]
fn the_server_closes_whenever_it_is_called() {
    playing(
        |listener| {
            let mut peer = listener.accept();
            answer(&mut peer, forty_two);
            for attempt in 0..4 {
                if attempt > 0 {
                    peer = listener.accept();
                }
                assert!(peer.receive().is_some());
                peer.send(&COMMON.message(5, |message| message));
            }
        },
        |journal, _, probe| {
            assert_eq!(probe.twice(21), Ok(42));
            journal.take();
            assert_eq!(probe.twice(21).unwrap_err().kind, Kind::Transient);
            let attempt = ["A.send_request twice", "A.receive_other TransportRetry"];
            let last = ["A.send_request twice", "A.receive_exception TRANSIENT"];
            journal.expect("closed", &[attempt, attempt, attempt, last].concat());
        },
    );
}

/// The server to which it was forwarded is gone: the request goes to that of the reference.
#[test]
fn the_server_that_it_was_forwarded_to_is_gone() {
    let away = Server::start();
    let ior = away.probe.as_object().ior().clone();
    playing(
        |listener| {
            let mut peer = listener.accept();
            answer(&mut peer, forty_two);
        },
        |journal, watch, probe| {
            let orb = probe.as_object().orb().0.clone();
            let away_probe = punctual::ObjectRef::new(orb.bind(ior).unwrap());
            watch.plan("send_request", Act::Forward(away_probe));
            assert_eq!(probe.twice(21), Ok(42));
            journal.expect(
                "forwarded",
                &["A.send_request twice", "A.send_request twice", "A.receive_reply"],
            );
            // What an interceptor raises is not taken for a server that is gone.
            let transient = punctual::SystemException::new(Kind::Transient, 4711, punctual::Completion::No);
            watch.plan("send_request", Act::Raise(transient));
            assert_eq!(probe.twice(21), Err(transient));
            journal.expect("raised", &["A.send_request twice"]);
            away.poa.deactivate(&away.probe).unwrap();
            assert_eq!(probe.twice(21), Ok(42));
            journal.expect(
                "gone",
                &[
                    "A.send_request twice",
                    "A.receive_other TransportRetry",
                    "A.send_request twice",
                    "A.receive_reply",
                ],
            );
        },
    );
}

#[test]
fn the_server_wants_another_form_of_target() {
    playing(
        |listener| {
            let mut peer = listener.accept();
            answer(&mut peer, |dialect, id| dialect.reply(id, 5, |body| body.u16(1)));
            let message = peer.receive().expect("the request again");
            // Its target is no longer a key; the id is where it was.
            let id = u32::from_le_bytes(message.octets[12..16].try_into().unwrap());
            let id = if message.dialect.little {
                id
            } else {
                id.swap_bytes()
            };
            peer.send(&forty_two(message.dialect, id));
        },
        |journal, _, probe| {
            assert_eq!(probe.twice(21), Ok(42));
            journal.expect(
                "readdressed",
                &[
                    "A.send_request twice",
                    "A.receive_other TransportRetry",
                    "A.send_request twice",
                    "A.receive_reply",
                ],
            );
        },
    );
}

/// An interceptor sends a call elsewhere that has ended with a user exception: there it goes well, and
/// nothing is left of that.
#[test]
fn a_user_exception_that_was_not_the_end() {
    playing(
        |listener| {
            let mut peer = listener.accept();
            answer(&mut peer, |dialect, id| {
                dialect.reply(id, 0, |body| body.string(b"well"))
            });
        },
        |journal, watch, probe| {
            let server = Server::start();
            let orb = probe.as_object().orb().0.clone();
            let target = orb.bind(server.probe.as_object().ior().clone()).unwrap();
            let refusing = ProbeRef::from_object(punctual::ObjectRef::new(target));
            watch.plan("receive_exception", Act::Forward(probe.as_object().clone()));
            assert_eq!(refusing.greet("").as_deref(), Ok("well"));
            journal.expect(
                "not the end",
                &[
                    "A.send_request greet",
                    "A.receive_exception Refused",
                    "A.send_request greet",
                    "A.receive_reply",
                ],
            );
        },
    );
}

/// The client uses a name that the server has published; the server replies with the complete reference.
#[test]
fn the_server_forwards() {
    let journal = Journal::default();
    let server = server(&Registered::server([Watch::new("C", &journal)]));
    server.orb.publish("Probe", &server.probe).unwrap();
    let orb = orb()
        .initializer(&Registered::client([Watch::new("A", &journal)]))
        .build()
        .unwrap();
    let named = reference([1, 2], server.port(), b"Probe", &[]);
    let probe = resolve(&orb, &named);
    assert_eq!(probe.twice(21), Ok(42));
    let again = [
        "A.send_request twice",
        "C.receive_request_service_contexts twice",
        "C.receive_request",
        "C.send_reply",
        "A.receive_reply",
    ];
    let first = [
        "A.send_request twice",
        "C.receive_request_service_contexts twice",
        "C.send_other LocationForward",
        "A.receive_other LocationForward",
    ];
    journal.expect("forwarded", &[&first[..], &again].concat());
    assert_eq!(probe.twice(21), Ok(42));
    journal.expect("and from then on", &again);
}

/// The servant locator of the adapter forwards the request that has reached it.
#[test]
fn a_servant_locator_forwards() {
    struct Elsewhere(ProbeRef);
    impl ServantLocator for Elsewhere {
        fn preinvoke(&self, _: &[u8], _: &Poa, _: &str) -> Result<(AnyServant, u64), Declined> {
            Err(Declined::Forward(self.0.as_object().clone()))
        }
    }
    let journal = Journal::default();
    let server = server(&Registered::server([Watch::new("C", &journal)]));
    let poa = server.orb.root_poa().child("moved").threadpool(&server.pool);
    let poa = poa.user_ids().servant_locator(Elsewhere(server.probe.clone()));
    let here: ProbeRef = poa.build().unwrap().reference().id("x").create().unwrap();
    let orb = orb().build().unwrap();
    let there: ProbeRef = orb.resolve(&here.to_ior()).unwrap();
    for (case, probe) in [("remote", there), ("within the ORB", here)] {
        assert_eq!(probe.twice(21), Ok(42), "{case}");
        journal.expect(
            case,
            &[
                "C.receive_request_service_contexts twice",
                "C.receive_request",
                "C.send_other LocationForward",
                "C.receive_request_service_contexts twice",
                "C.receive_request",
                "C.send_reply",
            ],
        );
    }
}

#[test]
fn the_object_is_unknown_or_gone() {
    let journal = Journal::default();
    let server = server(&Registered::server([Watch::new("C", &journal)]));
    let (orb, probe) = client(&Registered::client([Watch::new("A", &journal)]), &server);
    let expected = [
        "A.send_request twice",
        "C.receive_request_service_contexts twice",
        "C.send_exception OBJECT_NOT_EXIST",
        "A.receive_exception OBJECT_NOT_EXIST",
    ];
    let unknown = resolve(&orb, &reference([1, 2], server.port(), b"unknown", &[]));
    assert_eq!(unknown.twice(21).unwrap_err().kind, Kind::ObjectNotExist);
    journal.expect("unknown", &expected);
    server.poa.deactivate(&server.probe).unwrap();
    assert_eq!(probe.twice(21).unwrap_err().kind, Kind::ObjectNotExist);
    journal.expect("gone", &expected);
}

#[test]
fn the_object_is_gone_within_the_orb() {
    let journal = Journal::default();
    let [a, c] = ["A", "C"].map(|name| Watch::new(name, &journal));
    let server = server(&Registered {
        client: vec![a],
        server: vec![c],
    });
    server.poa.deactivate(&server.probe).unwrap();
    for operation in ["twice", "note"] {
        let kind = match operation {
            "twice" => server.probe.twice(21).unwrap_err().kind,
            // Its caller is told, too.
            _ => server.probe.note(21).unwrap_err().kind,
        };
        assert_eq!(kind, Kind::ObjectNotExist);
        journal.expect(
            operation,
            &[
                &format!("A.send_request {operation}")[..],
                &format!("C.receive_request_service_contexts {operation}"),
                "C.send_exception OBJECT_NOT_EXIST",
                "A.receive_exception OBJECT_NOT_EXIST",
            ],
        );
    }
}

const LIMITS: QueueLimits = QueueLimits {
    requests: 4,
    octets: 4096,
};

/// A server with lanes or queues, and its interceptor's journal.
fn special(pool: impl FnOnce(ThreadPoolBuilder) -> ThreadPoolBuilder, redispatch: bool) -> (Server, Journal) {
    let journal = Journal::default();
    let orb: Orb = orb()
        .initializer(&Registered::server([Watch::new("C", &journal)]))
        .build()
        .unwrap();
    let pool = pool(orb.threadpool()).build().unwrap();
    let mut poa = orb.root_poa().child("probes").threadpool(&pool);
    if redispatch {
        let model = client_propagated(Priority::MIN);
        poa = poa.priority_model(model).redispatch(LIMITS);
    }
    let poa = poa.build().unwrap();
    (Server::with_poa(orb, pool, poa), journal)
}

const SERVED: [&str; 3] = [
    "C.receive_request_service_contexts twice",
    "C.receive_request",
    "C.send_reply",
];

/// It ends at one lane and starts at the other.
#[test]
fn the_request_came_to_the_wrong_lane() {
    let high = Priority::new(32_000).unwrap();
    let (server, journal) = special(|pool| pool.lane(Priority::MIN, 1).lane(high, 1), true);
    let Profile { port, .. } = Profile::of(&server.probe);
    let mut peer = Peer::connect(port);
    for (asked, moved) in [(0_u16, false), (32_000, true), (0, false)] {
        let priority = COMMON.encapsulation(|data| data.u16(asked));
        let list = [(10, priority)];
        peer.send(&COMMON.request_with(1, 3, &server.key(), "twice", &list, |body| body.i32(21)));
        assert_eq!(peer.receive().expect("a reply").reply().body.i32(), 42);
        let first = [SERVED[0], "C.send_other TransportRetry"];
        let expected = if moved {
            [&first[..], &SERVED].concat()
        } else {
            SERVED.to_vec()
        };
        journal.expect(&format!("asked for {asked}"), &expected);
    }
    assert_eq!(server.seen(0).redispatched, 1);
}

/// It ends while the adapter's manager holds it, and starts again.
#[test]
fn a_collocated_request_is_held() {
    let (server, journal) = special(|pool| pool, false);
    let manager = server.poa.manager();
    manager.hold(LIMITS).unwrap();
    let probe: ProbeRef = server.probe.with_timeout(LONG).unchecked();
    thread::scope(|scope| {
        let call = scope.spawn(|| probe.twice(21));
        eventually("it is held", || journal.0.lock().unwrap().len() == 2);
        manager.activate().unwrap();
        assert_eq!(call.join().unwrap(), Ok(42));
    });
    let first = [SERVED[0], "C.send_other TransportRetry"];
    journal.expect("held", &[&first[..], &SERVED].concat());
}

#[test]
fn the_request_waits_in_a_queue() {
    let (server, journal) = special(|pool| pool.request_buffering(LIMITS), false);
    let client = punctual_fixtures::server::client();
    let probe = server.reference_for(&client);
    for _ in 0..3 {
        assert_eq!(probe.twice(21), Ok(42));
        journal.expect("queued", &SERVED);
    }
}

/// A borrowed thread of a lower lane calls the same points as one of the lane.
#[test]
fn a_thread_is_borrowed_for_the_request() {
    let high = Priority::new(32_000).unwrap();
    let lanes = |pool: ThreadPoolBuilder| pool.lane(Priority::MIN, 1).lane(high, 1).allow_borrowing(true);
    let (server, journal) = special(lanes, true);
    let client = orb().build().unwrap();
    let probe = server.reference_for(&client);
    thread::scope(|scope| {
        scope.spawn(|| {
            client.current().set_priority(high).unwrap();
            probe.wait_at_gate(1).unwrap()
        });
        server.hooks.await_at_gate(1);
        journal.take();
        client.current().set_priority(high).unwrap();
        assert_eq!(probe.twice(21), Ok(42));
        journal.expect("borrowed", &SERVED);
        server.hooks.open_gate();
    });
    assert_eq!(server.seen(1).threads.borrowed, 1);
}

/// No interceptor starts a request that was refused before.
#[test]
fn the_queue_has_no_room() {
    let (server, journal) = special(|pool| pool.request_buffering(LIMITS), false);
    let client = punctual_fixtures::server::client();
    let probe = server.reference_for(&client);
    let error = probe.reverse(&[7; 2000]).unwrap_err();
    assert_eq!(error.kind, Kind::ImpLimit);
    journal.expect("refused", &[]);
}

#[test]
fn the_request_has_expired() {
    let expired = |pool: ThreadPoolBuilder| {
        pool.request_buffering(LIMITS)
            .expired_requests(ExpiredRequests::DropByClock)
    };
    let (server, journal) = special(expired, false);
    let client = punctual_fixtures::server::client();
    let probe = server.reference_for(&client);
    // The first one occupies the lane's thread until the second one has expired.
    let policies = PolicyOverrides::new()
        .roundtrip_timeout(Duration::from_millis(50))
        .sends_deadlines(true);
    // Its request is passed on, without what cancels it.
    let listener = Listener::open();
    let late = resolve(&client, &reference([1, 2], listener.port, &server.key(), &[]));
    let late: ProbeRef = late.as_object().with_policies(policies).unchecked();
    let mut relay = Peer::connect(server.port());
    thread::scope(|scope| {
        scope.spawn(|| probe.wait_at_gate(1).unwrap());
        server.hooks.await_at_gate(1);
        journal.take();
        assert_eq!(late.twice(21).unwrap_err().kind, Kind::Timeout);
        relay.send(&listener.accept().receive().expect("a request").octets);
        thread::sleep(Duration::from_millis(50));
        server.hooks.open_gate();
    });
    assert_eq!(probe.noted(), Ok(0));
    journal.expect(
        "expired",
        &[
            "C.send_reply",
            "C.receive_request_service_contexts noted",
            "C.receive_request",
            "C.send_reply",
        ],
    );
    assert_eq!(server.seen(0).expired, 1);
}

/// A panic that is none of the interceptor's goes on to the caller, behind the ending points.
#[test]
fn the_caller_panics() {
    let journal = Journal::default();
    let server = server(&Registered::server([]));
    let (_orb, probe) = client(&Registered::client([Watch::new("A", &journal)]), &server);
    let call = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        probe
            .as_object()
            .call::<punctual::SystemException>("twice", |_| std::panic::resume_unwind(Box::new("a stub")))
    }));
    assert_eq!(call.unwrap_err().downcast_ref(), Some(&"a stub"));
    journal.expect("panic", &["A.send_request twice", "A.receive_exception UNKNOWN"]);
    assert_eq!(probe.twice(21), Ok(42), "and the next call is as any other");
    journal.expect("next", &["A.send_request twice", "A.receive_reply"]);
}
