//! Every kind of call that goes as it should: its points, in order, of two interceptors on each side.

use std::time::Duration;

use punctual::{ConnectionMode, Interface as _, OrbBuilder, PolicyOverrides, interceptors::*};
use punctual_fixtures::{
    conformance::ProbeRef,
    conformance::probe::GreetError,
    server::{Server, UNLUCKY},
};

use super::{Journal, Registered, Watch, client, orb, server};

/// A kind of call, and its points.
type Case = (&'static str, fn(&ProbeRef), &'static [&'static str]);

const TWO_WAY: Case = (
    "two-way",
    |probe| assert_eq!(probe.twice(21), Ok(42)),
    &[
        "A.send_request twice",
        "B.send_request twice",
        "C.receive_request_service_contexts twice",
        "D.receive_request_service_contexts twice",
        "C.receive_request",
        "D.receive_request",
        "D.send_reply",
        "C.send_reply",
        "B.receive_reply",
        "A.receive_reply",
    ],
);

const CASES: [Case; 7] = [
    TWO_WAY,
    (
        "a user exception",
        |probe| assert!(matches!(probe.greet(""), Err(GreetError::Refused(_)))),
        &[
            "A.send_request greet",
            "B.send_request greet",
            "C.receive_request_service_contexts greet",
            "D.receive_request_service_contexts greet",
            "C.receive_request",
            "D.receive_request",
            "D.send_exception Refused",
            "C.send_exception Refused",
            "B.receive_exception Refused",
            "A.receive_exception Refused",
        ],
    ),
    (
        "a servant that panics",
        |probe| assert!(probe.twice(UNLUCKY).is_err()),
        &[
            "A.send_request twice",
            "B.send_request twice",
            "C.receive_request_service_contexts twice",
            "D.receive_request_service_contexts twice",
            "C.receive_request",
            "D.receive_request",
            "D.send_exception UNKNOWN",
            "C.send_exception UNKNOWN",
            "B.receive_exception UNKNOWN",
            "A.receive_exception UNKNOWN",
        ],
    ),
    (
        "an operation that the object does not have",
        |probe| {
            let call = probe
                .as_object()
                .call::<punctual::SystemException>("dance", |_| Ok(()));
            assert_eq!(
                call.unwrap_err().kind,
                punctual::SystemExceptionKind::BadOperation
            );
        },
        &[
            "A.send_request dance",
            "B.send_request dance",
            "C.receive_request_service_contexts dance",
            "D.receive_request_service_contexts dance",
            "C.receive_request",
            "D.receive_request",
            "D.send_exception BAD_OPERATION",
            "C.send_exception BAD_OPERATION",
            "B.receive_exception BAD_OPERATION",
            "A.receive_exception BAD_OPERATION",
        ],
    ),
    (
        "an implicit operation",
        |probe| assert_eq!(probe.as_object().is_a("IDL:none:1.0"), Ok(false)),
        &[
            "A.send_request _is_a",
            "B.send_request _is_a",
            "C.receive_request_service_contexts _is_a",
            "D.receive_request_service_contexts _is_a",
            "C.receive_request",
            "D.receive_request",
            "D.send_reply",
            "C.send_reply",
            "B.receive_reply",
            "A.receive_reply",
        ],
    ),
    (
        "whether it exists",
        |probe| assert_eq!(probe.as_object().non_existent(), Ok(false)),
        &[
            "A.send_request _non_existent",
            "B.send_request _non_existent",
            "C.receive_request_service_contexts _non_existent",
            "D.receive_request_service_contexts _non_existent",
            "C.receive_request",
            "D.receive_request",
            "D.send_reply",
            "C.send_reply",
            "B.receive_reply",
            "A.receive_reply",
        ],
    ),
    (
        "explicit binding, which is the ORB's own affair",
        |probe| assert_eq!(probe.as_object().validate_connection(), Ok(())),
        &[],
    ),
];

fn four(journal: &Journal) -> [std::sync::Arc<Watch>; 4] {
    ["A", "B", "C", "D"].map(|name| Watch::new(name, journal))
}

fn remote(journal: &Journal) -> (Server, punctual::Orb, ProbeRef) {
    let [a, b, c, d] = four(journal);
    let server = server(&Registered::server([c, d]));
    let (orb, probe) = client(&Registered::client([a, b]), &server);
    (server, orb, probe)
}

fn assert_all(journal: &Journal, probe: &ProbeRef, how: &str) {
    for (what, call, points) in CASES {
        call(probe);
        journal.expect(&format!("{what} {how}"), points);
    }
}

#[test]
fn over_a_connection() {
    let journal = Journal::default();
    let (_server, _orb, probe) = remote(&journal);
    assert_all(&journal, &probe, "over a connection");
}

#[test]
fn with_a_deadline() {
    let journal = Journal::default();
    let (_server, _orb, probe) = remote(&journal);
    let probe: ProbeRef = probe
        .as_object()
        .with_timeout(Duration::from_secs(60))
        .unchecked();
    assert_all(&journal, &probe, "with a deadline");
}

#[test]
fn over_a_shared_connection() {
    let journal = Journal::default();
    let (_server, orb, probe) = remote(&journal);
    let pool = orb.threadpool().build().unwrap();
    orb.set_reply_threadpool(&pool).unwrap();
    let shared = PolicyOverrides::new().connection_mode(ConnectionMode::Shared);
    let probe: ProbeRef = probe.as_object().with_policies(shared).unchecked();
    assert_all(&journal, &probe, "over a shared connection");
    assert_eq!(pool.statistics()[0].1.connections.shared, 1);
    orb.shutdown_and_wait().unwrap();
}

#[test]
fn within_the_orb() {
    let journal = Journal::default();
    let [a, b, c, d] = four(&journal);
    let server = server(&Registered {
        client: vec![a, b],
        server: vec![c, d],
    });
    assert_all(&journal, &server.probe, "within the ORB");
}

/// The points of the two sides run side by side: each has its own order.
#[test]
fn oneway_calls_end_when_they_are_sent() {
    let (ours, theirs) = (Journal::default(), Journal::default());
    let server = server(&Registered::server(
        ["C", "D"].map(|name| Watch::new(name, &theirs)),
    ));
    let (_orb, probe) = client(
        &Registered::client(["A", "B"].map(|name| Watch::new(name, &ours))),
        &server,
    );
    probe.note(7).unwrap();
    ours.expect(
        "oneway, at the client",
        &[
            "A.send_request note",
            "B.send_request note",
            "B.receive_other Successful",
            "A.receive_other Successful",
        ],
    );
    // It is served before what comes behind it on the connection.
    assert_eq!(probe.noted(), Ok(7));
    theirs.take();
    probe.note(8).unwrap();
    assert_eq!(probe.noted(), Ok(8));
    theirs.expect(
        "oneway, at the server",
        &[
            "C.receive_request_service_contexts note",
            "D.receive_request_service_contexts note",
            "C.receive_request",
            "D.receive_request",
            "D.send_reply",
            "C.send_reply",
            "C.receive_request_service_contexts noted",
            "D.receive_request_service_contexts noted",
            "C.receive_request",
            "D.receive_request",
            "D.send_reply",
            "C.send_reply",
        ],
    );
}

#[test]
fn oneway_calls_within_the_orb() {
    let journal = Journal::default();
    let [a, b, c, d] = four(&journal);
    let server = server(&Registered {
        client: vec![a, b],
        server: vec![c, d],
    });
    server.probe.note(7).unwrap();
    journal.expect(
        "oneway within the ORB",
        &[
            "A.send_request note",
            "B.send_request note",
            "C.receive_request_service_contexts note",
            "D.receive_request_service_contexts note",
            "C.receive_request",
            "D.receive_request",
            "D.send_reply",
            "C.send_reply",
            "B.receive_other Successful",
            "A.receive_other Successful",
        ],
    );
}

/// A servant that calls its own object: inside the points of the outer call stand those of the inner one.
#[test]
fn nested_calls() {
    let journal = Journal::default();
    let [a, _, c, _] = four(&journal);
    let server = server(&Registered {
        client: vec![a],
        server: vec![c],
    });
    assert_eq!(server.probe.nest(Some(&server.probe), 1), Ok(1));
    let [first, second, third] = [
        "A.send_request nest",
        "C.receive_request_service_contexts nest",
        "C.receive_request",
    ];
    let back = ["C.send_reply", "A.receive_reply"];
    journal.expect(
        "nested",
        &[
            first, second, third, first, second, third, back[0], back[1], back[0], back[1],
        ],
    );
}

#[test]
fn what_infos_say() {
    use std::sync::{Arc, Mutex};

    /// Operation, kind, whether it is collocated, and whether it has a deadline.
    type Call = (String, CallKind, bool, bool);

    #[derive(Clone, Default)]
    struct Said(Arc<Mutex<Vec<Call>>>);

    impl ClientRequestInterceptor for Said {
        fn name(&self) -> &str {
            ""
        }

        fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
            assert_eq!(info.target().ior(), info.effective_target());
            let said = (
                info.operation().to_owned(),
                info.kind(),
                info.is_collocated(),
                info.deadline().is_some(),
            );
            self.0.lock().unwrap().push(said);
            if info.operation() == "twice" {
                assert_eq!(info.arguments()?.remaining(), 4);
                let value: i32 = punctual_cdr::Decode::decode(&mut info.arguments()?).unwrap();
                assert_eq!(value, 21);
            }
            Ok(())
        }
    }

    impl ServerRequestInterceptor for Said {
        fn name(&self) -> &str {
            ""
        }

        fn receive_request_service_contexts(
            &self,
            info: &mut ServerRequestInfo<'_>,
        ) -> Result<(), Interrupt> {
            assert!(info.arguments().is_none());
            Ok(())
        }

        fn receive_request(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
            let said = (
                info.operation().to_owned(),
                info.kind(),
                info.is_collocated(),
                false,
            );
            self.0.lock().unwrap().push(said);
            if info.operation() == "twice" {
                let value: i32 = punctual_cdr::Decode::decode(&mut info.arguments().unwrap()).unwrap();
                assert_eq!(value, 21, "and the servant reads it again");
            }
            Ok(())
        }

        fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), punctual::SystemException> {
            if info.operation() == "twice" {
                let value: i32 = punctual_cdr::Decode::decode(&mut info.results().unwrap()).unwrap();
                assert_eq!(value, 42);
            }
            assert_eq!(info.results().is_some(), info.kind().has_reply());
            Ok(())
        }
    }

    impl OrbInitializer for Said {
        fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
            info.add_client_request_interceptor(Arc::new(self.clone()))
                .unwrap();
            info.add_server_request_interceptor(Arc::new(self.clone()))
                .unwrap();
        }
    }

    let (ours, theirs) = (Said::default(), Said::default());
    let server = server(&theirs);
    let (_orb, probe) = client(&ours, &server);
    let prompt: ProbeRef = probe
        .as_object()
        .with_timeout(Duration::from_secs(60))
        .unchecked();
    for probe in [&probe, &prompt, &server.probe] {
        assert_eq!(probe.twice(21), Ok(42));
        probe.note(1).unwrap();
        assert_eq!(probe.noted(), Ok(1));
    }
    let call =
        |operation: &str, kind, collocated, deadline| (operation.to_owned(), kind, collocated, deadline);
    let each = |collocated, deadline| {
        [
            call("twice", CallKind::TwoWay, collocated, deadline),
            call("note", CallKind::Oneway, collocated, deadline),
            call("noted", CallKind::TwoWay, collocated, deadline),
        ]
    };
    assert_eq!(
        *ours.0.lock().unwrap(),
        [each(false, false), each(false, true)].concat()
    );
    let twice = |calls: [_; 3]| calls.map(|call: Call| [call.clone(), call]).concat();
    let expected = [
        each(false, false).to_vec(),
        each(false, false).to_vec(),
        twice(each(true, false)),
    ]
    .concat();
    assert_eq!(
        *theirs.0.lock().unwrap(),
        expected,
        "those within its ORB are seen as they go, and as they come"
    );
}

#[test]
fn names_are_given_once() {
    #[derive(Clone)]
    struct Twice(&'static str);

    impl OrbInitializer for Twice {
        fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
            let journal = Journal::default();
            let taken = match self.0 {
                "" => Ok(()),
                name => Err(DuplicateName(name.to_owned())),
            };
            info.add_client_request_interceptor(Watch::new(self.0, &journal))
                .unwrap();
            assert_eq!(
                info.add_client_request_interceptor(Watch::new(self.0, &journal)),
                taken
            );
            // The two sides do not mind each other.
            info.add_server_request_interceptor(Watch::new(self.0, &journal))
                .unwrap();
            assert_eq!(
                info.add_server_request_interceptor(Watch::new(self.0, &journal)),
                taken
            );
        }
    }

    let build = |builder: OrbBuilder| builder.build().unwrap();
    build(orb().initializer(&Twice("A")));
    build(orb().initializer(&Twice("")));
}
