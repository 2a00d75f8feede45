//! Each of several interceptors fails at each point, in each way: each one that starts ends once, in reverse
//! order, and the caller gets what the last one says.

use std::sync::Arc;

use punctual::{Completion, Interface as _, Minor, Orb, SystemException, SystemExceptionKind as Kind};
use punctual_fixtures::{conformance::ProbeRef, conformance::probe::GreetError, server::Server};

use super::{Act, Journal, Registered, Watch, client, other_error, refused, server};

const CLIENT: [&str; 3] = ["A", "B", "C"];
const SERVER: [&str; 3] = ["D", "E", "F"];

/// The kind of call, and its result if no interceptor fails.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Operation {
    /// It goes well.
    Twice,
    /// A user exception.
    Greet,
    /// No caller waits.
    Note,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Outcome {
    Fine,
    Refused,
    Failed(SystemException),
}

fn call(probe: &ProbeRef, operation: Operation) -> Outcome {
    let done = |result: Result<(), SystemException>| result.map_or_else(Outcome::Failed, |()| Outcome::Fine);
    match operation {
        Operation::Twice => done(probe.twice(21).map(|value| assert_eq!(value, 42))),
        Operation::Note => done(probe.note(5)),
        Operation::Greet => match probe.greet("") {
            Ok(_) => Outcome::Fine,
            Err(GreetError::Refused(_)) => Outcome::Refused,
            Err(GreetError::System(exception)) => Outcome::Failed(exception),
        },
    }
}

/// The points of an interceptor, and whether they may forward.
const POINTS: [(&str, bool); 9] = [
    ("send_request", true),
    ("receive_reply", false),
    ("receive_exception", true),
    ("receive_other", true),
    ("receive_request_service_contexts", true),
    ("receive_request", true),
    ("send_reply", false),
    ("send_exception", true),
    ("send_other", true),
];

/// The servers and client of a case.
struct Stage {
    journal: Journal,
    watches: Vec<Arc<Watch>>,
    /// With the interceptors of the second half of the alphabet.
    server: Server,
    /// Server of forwarded requests, without interceptors.
    elsewhere: Server,
    caller: Orb,
    is_collocated: bool,
}

impl Stage {
    fn new(collocated: bool) -> Self {
        let journal = Journal::default();
        let watch = |name| Watch::new(name, &journal);
        let (ours, theirs) = (CLIENT.map(watch), SERVER.map(watch));
        let both = Registered {
            client: ours.clone().map(|watch| watch as _).to_vec(),
            server: theirs.clone().map(|watch| watch as _).to_vec(),
        };
        let server = if collocated {
            server(&both)
        } else {
            server(&Registered::server(theirs.clone()))
        };
        let caller = if collocated {
            server.orb.clone()
        } else {
            client(&Registered::client(ours.clone()), &server).0
        };
        Self {
            journal: journal.clone(),
            watches: [ours, theirs].concat(),
            server,
            elsewhere: Server::start(),
            caller,
            is_collocated: collocated,
        }
    }

    /// A reference that has not been forwarded yet.
    fn probe(&self) -> ProbeRef {
        self.server.reference_for(&self.caller)
    }

    fn elsewhere(&self) -> ProbeRef {
        self.elsewhere.reference_for(&self.caller)
    }

    /// Calls with one interceptor that acts once; `None`: it did not come to that.
    fn act(
        &self,
        operation: Operation,
        who: usize,
        point: &'static str,
        act: Act,
    ) -> Option<(Outcome, Vec<String>)> {
        let probe = self.probe();
        self.journal.take();
        self.watches[who].plan(point, act);
        let outcome = call(&probe, operation);
        let cancel = || self.watches[who].plan.lock().unwrap().take().is_none();
        let at_client = who < CLIENT.len();
        let mut done = at_client && cancel();
        if operation == Operation::Note {
            // Behind it on the connection, so that it has been served.
            let _ = self.probe().noted();
        }
        done |= !at_client && cancel();
        Some((outcome, self.journal.take())).filter(|_| done)
    }
}

/// Looks whether what `names` have started has ended in reverse order. `fails`: the entry of who raised
/// something at a start, once.
fn assert_balanced(what: &str, journal: &[String], names: [&str; 3], fails: &str) {
    let mut stack = Vec::new();
    let mut failed = false;
    for entry in journal {
        let (name, point) = entry.split_once('.').unwrap();
        if !names.contains(&name) {
            continue;
        }
        let starts = ["send_request", "receive_request_service_contexts"];
        let point = point.split(' ').next().unwrap();
        if !failed && fails == format!("{name}.{point}") && starts.contains(&point) {
            failed = true;
        } else if starts.contains(&point) {
            // Three in a row, and in their order.
            assert_eq!(names[stack.len() % 3], name, "{what}: {journal:?}");
            stack.push(name);
        } else if point != "receive_request" {
            assert_eq!(stack.pop(), Some(name), "{what}: {journal:?}");
        }
    }
    assert_eq!(stack, [""; 0], "{what}: not ended: {journal:?}");
}

/// All combinations that come to pass; returns how many did.
fn run(stage: &Stage) -> usize {
    let panicked = |start: bool| {
        let completed = if start { Completion::No } else { Completion::Maybe };
        Outcome::Failed(SystemException::new(
            Kind::Unknown,
            Minor::INTERCEPTOR_PANICKED,
            completed,
        ))
    };
    let mut seen = 0;
    for operation in [Operation::Twice, Operation::Greet, Operation::Note] {
        for who in 0..6 {
            for (point, may_forward) in POINTS {
                let forward = may_forward.then(|| Act::Forward(stage.elsewhere().as_object().clone()));
                let acts = [Some(Act::Raise(refused())), forward, Some(Act::Panic)];
                for act in acts.into_iter().flatten() {
                    let Some((outcome, journal)) = stage.act(operation, who, point, act.clone()) else {
                        continue;
                    };
                    seen += 1;
                    let name = stage.watches[who].name;
                    let what = format!("{operation:?}: {name} {act:?} at {point}: {outcome:?}");
                    let fails = format!("{name}.{point}");
                    assert_balanced(&what, &journal, CLIENT, &fails);
                    assert_balanced(&what, &journal, SERVER, &fails);
                    let at_server = who >= 3;
                    let expected = match (&act, operation) {
                        // No caller waits for a result or a forward.
                        (_, Operation::Note) if at_server && !stage.is_collocated => Outcome::Fine,
                        (Act::Forward(_), Operation::Greet) => Outcome::Refused,
                        (Act::Forward(_), _) => Outcome::Fine,
                        (_, Operation::Note) if at_server => Outcome::Fine,
                        (Act::Raise(exception), _) => Outcome::Failed(*exception),
                        (Act::Panic, _) => {
                            let starts = [
                                "send_request",
                                "receive_request_service_contexts",
                                "receive_request",
                            ];
                            panicked(starts.contains(&point))
                        }
                    };
                    assert_eq!(outcome, expected, "{what}: {journal:?}");
                    if operation != Operation::Note {
                        assert_seen(&what, &journal, &fails, &act);
                    }
                }
            }
        }
    }
    seen
}

/// Looks whether those who end behind `fails` have seen what it did.
fn assert_seen(what: &str, journal: &[String], fails: &str, act: &Act) {
    let is_it = |entry: &&String| entry.split(' ').next() == Some(fails);
    let behind = journal.iter().skip_while(|entry| !is_it(entry)).skip(1);
    let seen = match act {
        Act::Raise(_) => "_exception NO_PERMISSION",
        Act::Panic => "_exception UNKNOWN",
        Act::Forward(_) => "_other LocationForward",
    };
    // Where it is forwarded, there is a new request then, whose interceptors are these again.
    for entry in behind.take_while(|entry| !entry.contains(".send_request")) {
        assert!(entry.ends_with(seen), "{what}: {entry} in {journal:?}");
    }
}

#[test]
fn over_a_connection() {
    let seen = run(&Stage::new(false));
    assert_eq!(seen, EVERY, "combinations that come to pass");
}

#[test]
fn within_the_orb() {
    let seen = run(&Stage::new(true));
    assert_eq!(seen, EVERY, "combinations that come to pass");
}

/// Per interceptor, forwarding points count three and others two. Client: `twice` has `send_request` and
/// `receive_reply`, `greet` `send_request` and `receive_exception`, `note` `send_request` and
/// `receive_other`. Server: `twice` and `note` have `receive_request_service_contexts`, `receive_request` and
/// `send_reply`, `greet` has `send_exception` in its place.
const EVERY: usize = 3 * ((3 + 2) + (3 + 3) + (3 + 3)) + 3 * ((3 + 3 + 2) + (3 + 3 + 3) + (3 + 3 + 2));

/// The exception of one is what the next one sees, and may replace.
#[test]
fn exceptions_are_replaced_on_the_way() {
    let stage = Stage::new(false);
    let probe = stage.probe();
    let [a, b, _, d, e, f] = &stage.watches[..] else {
        unreachable!()
    };
    f.plan("send_reply", Act::Raise(refused()));
    e.plan("send_exception", Act::Raise(other_error()));
    b.plan("receive_exception", Act::Raise(refused()));
    stage.journal.take();
    assert_eq!(call(&probe, Operation::Twice), Outcome::Failed(refused()));
    assert!([a, b, d, e, f].iter().all(|watch| watch.is_done()));
    let journal = stage.journal.take();
    let ends = &journal[journal.len() - 6..];
    assert_eq!(
        ends,
        [
            "F.send_reply",
            "E.send_exception NO_PERMISSION",
            "D.send_exception NO_RESOURCES",
            "C.receive_exception NO_RESOURCES",
            "B.receive_exception NO_RESOURCES",
            "A.receive_exception NO_PERMISSION",
        ]
    );
}

/// An interceptor that forwards every request to its present target receives an error in the end.
#[test]
fn forwards_without_end_are_cut_short() {
    struct Always(std::sync::OnceLock<punctual::ObjectRef>);

    impl punctual::interceptors::ClientRequestInterceptor for Always {
        fn name(&self) -> &str {
            ""
        }

        fn send_request(
            &self,
            _: &mut punctual::interceptors::ClientRequestInfo<'_>,
        ) -> Result<(), punctual::interceptors::Interrupt> {
            Err(punctual::interceptors::Interrupt::Forward(
                self.0.get().unwrap().clone(),
            ))
        }
    }

    let (server, elsewhere) = (Server::start(), Server::start());
    let always = Arc::new(Always(std::sync::OnceLock::new()));
    let registered = Registered {
        client: vec![Arc::clone(&always) as _],
        server: Vec::new(),
    };
    let (orb, probe) = client(&registered, &server);
    always
        .0
        .set(elsewhere.reference_for(&orb).as_object().clone())
        .unwrap();
    let error = probe.twice(1).unwrap_err();
    assert_eq!(
        (error.kind, error.minor),
        (Kind::Transient, Minor::TOO_MANY_FORWARDS)
    );
}
