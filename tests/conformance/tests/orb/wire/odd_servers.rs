//! Clients against servers that answer oddly, or not at all.

use std::{thread, time::Duration};

use punctual::{
    Completion, Interface, Limits, Minor, Orb, ResolveError, SystemException, SystemExceptionKind as Kind,
    WString,
    any::{Any, Kind as TypeKind, TypeCode, Value},
    dynamic::RequestError,
};
use punctual_fixtures::{
    conformance::ProbeRef,
    conformance::probe::GreetError,
    peer::{Listener, NOBODY, Peer},
    server::{client, client_with, reference},
    wire::{
        CLOSE_CONNECTION, COMMON, DIALECTS, Dialect, FRAGMENT, LOCATE_REPLY, MESSAGE_ERROR, Message, Octets,
        REQUEST,
    },
};

const KEY: &[u8] = b"odd";
const CODE_SETS: u32 = 1;
const UTF8: u32 = 0x0501_0001;
const LATIN1: u32 = 0x0001_0001;
const EUC_JP: u32 = 0x0003_0010;
const UTF16: u32 = 0x0001_0109;
const UCS4: u32 = 0x0001_0104;

/// A server that the test plays, and the client's reference to it.
fn playing<R>(
    minor: u8,
    server: impl FnOnce(Listener) + Send,
    calls: impl FnOnce(&Orb, &ProbeRef) -> R,
) -> R {
    let listener = Listener::open();
    let orb = client();
    let probe = resolve(&orb, [1, minor], listener.port, &[]).unwrap();
    thread::scope(|scope| {
        // The listener goes with the server: should that fail, the client does not wait forever.
        scope.spawn(|| server(listener));
        calls(&orb, &probe)
    })
}

fn resolve(
    orb: &Orb,
    version: [u8; 2],
    port: u16,
    components: &[(u32, Vec<u8>)],
) -> Result<ProbeRef, ResolveError> {
    orb.resolve(&punctual::ior_to_string(&reference(
        version, port, KEY, components,
    )))
}

/// Receives a request and answers it; returns the request.
fn answer(peer: &mut Peer, write: impl FnOnce(Dialect, u32) -> Vec<u8>) -> Message {
    let message = peer.receive().expect("a request");
    let octets = write(message.dialect, message.request().id);
    peer.send(&octets);
    message
}

fn forty_two(dialect: Dialect, id: u32) -> Vec<u8> {
    dialect.reply(id, 0, |body| body.i32(42))
}

#[test]
fn clients_speak_the_profiles_version_and_read_either_byte_order() {
    for dialect in DIALECTS {
        playing(
            dialect.minor,
            |listener| {
                let mut peer = listener.accept();
                for _ in 0..2 {
                    let request = answer(&mut peer, |_, id| forty_two(dialect, id));
                    assert_eq!(request.dialect.minor, dialect.minor);
                    let mut request = request.request();
                    assert_eq!((request.key, request.operation), (KEY, &b"twice"[..]));
                    assert_eq!(request.response, if dialect.minor == 2 { 3 } else { 1 });
                    assert_eq!((request.contexts.len(), request.body.i32()), (0, 21));
                }
            },
            |_, probe| (0..2).for_each(|_| assert_eq!(probe.twice(21), Ok(42))),
        );
    }
}

#[test]
fn a_newer_server_is_spoken_to_in_the_highest_version_there_is() {
    playing(
        7,
        |listener| {
            let request = answer(&mut listener.accept(), forty_two);
            assert_eq!(request.dialect.minor, 2);
        },
        |_, probe| assert_eq!(probe.twice(21), Ok(42)),
    );
}

#[test]
fn replies_come_in_fragments() {
    for dialect in DIALECTS.into_iter().filter(|dialect| dialect.minor > 0) {
        playing(
            dialect.minor,
            |listener| {
                let mut peer = listener.accept();
                answer(&mut peer, |_, id| {
                    let whole = dialect.reply(id, 0, |body| {
                        (0..100).fold(body.u32(100), |body, value| body.i32(value))
                    });
                    dialect.fragmented(&whole, &[20, 40, 200]).concat()
                });
                answer(&mut peer, |_, id| forty_two(dialect, id));
            },
            |_, probe| {
                assert_eq!(probe.reverse(&[]).unwrap(), (0..100).collect::<Vec<_>>());
                assert_eq!(probe.twice(21), Ok(42));
            },
        );
    }
}

#[test]
fn answers_to_other_requests_are_passed_over() {
    playing(
        2,
        |listener| {
            let mut peer = listener.accept();
            answer(&mut peer, |dialect, id| {
                let late = dialect.reply(id.wrapping_sub(1), 0, |body| body.i32(1));
                let located = dialect.message(LOCATE_REPLY, |message| message.u32(id).u32(1));
                let other = dialect.reply(id + 100, 2, |body| body);
                [late, located, other, forty_two(dialect, id)].concat()
            });
        },
        |_, probe| assert_eq!(probe.twice(21), Ok(42)),
    );
}

/// Replies of a server instead of results, and their effect on its client. Afterwards the reference is as
/// good as before.
#[test]
fn odd_answers_become_system_exceptions() {
    type Row = (&'static str, fn(Dialect, u32) -> Vec<u8>, Kind, Minor, Completion);
    let malformed = (Kind::CommFailure, Minor::REPLY_MALFORMED, Completion::Maybe);
    let (maybe, no, yes) = (Completion::Maybe, Completion::No, Completion::Yes);
    let rows: &[Row] = &[
        (
            "nothing",
            |_, _| vec![],
            Kind::CommFailure,
            Minor::CONNECTION_LOST,
            maybe,
        ),
        (
            "half a reply",
            |dialect, id| forty_two(dialect, id)[..20].to_vec(),
            Kind::CommFailure,
            Minor::CONNECTION_LOST,
            maybe,
        ),
        (
            "MessageError",
            |dialect, _| dialect.message(MESSAGE_ERROR, |message| message),
            Kind::CommFailure,
            Minor::PEER_REJECTED_MESSAGE,
            no,
        ),
        (
            "garbage",
            |_, _| b"HTTP/1.1 400 Bad Request".to_vec(),
            Kind::CommFailure,
            Minor::PEER_SPEAKS_NO_GIOP,
            maybe,
        ),
        (
            "a reply of 4 GiB",
            |dialect, _| dialect.header(1, false, u32::MAX).finish(),
            Kind::ImpLimit,
            Minor::REPLY_TOO_LARGE,
            maybe,
        ),
        (
            "a reply of version 1.3",
            |dialect, id| {
                let mut reply = forty_two(dialect, id);
                reply[5] = 3;
                reply
            },
            malformed.0,
            malformed.1,
            malformed.2,
        ),
        (
            "a fragment of nothing",
            |dialect, id| dialect.message(FRAGMENT, |message| message.u32(id)),
            malformed.0,
            malformed.1,
            malformed.2,
        ),
        (
            "an unknown status",
            |dialect, id| dialect.reply(id, 9, |body| body.i32(42)),
            malformed.0,
            malformed.1,
            malformed.2,
        ),
        (
            "a reply without a header",
            |dialect, _| dialect.message(1, |message| message),
            malformed.0,
            malformed.1,
            malformed.2,
        ),
        (
            "a request",
            |dialect, id| dialect.request(id, KEY, "twice", |body| body.i32(1)),
            Kind::CommFailure,
            Minor::REPLY_MALFORMED,
            maybe,
        ),
        (
            "results cut short",
            |dialect, id| dialect.reply(id, 0, |body| body.u16(1)),
            Kind::Marshal,
            Minor::MESSAGE_TRUNCATED,
            yes,
        ),
        (
            "a system exception",
            |dialect, id| raised(dialect, id, b"IDL:omg.org/CORBA/NO_RESOURCES:1.0", 1),
            Kind::NoResources,
            Minor(0x5441_0017),
            no,
        ),
        (
            "a system exception that CORBA does not know",
            |dialect, id| raised(dialect, id, b"IDL:omg.org/CORBA/TIRED:1.0", 2),
            Kind::Unknown,
            Minor(0x5441_0017),
            maybe,
        ),
        (
            "a system exception without a proper completion",
            |dialect, id| raised(dialect, id, b"IDL:omg.org/CORBA/NO_RESOURCES:1.0", 3),
            Kind::Marshal,
            Minor::ENUM_OUT_OF_RANGE,
            yes,
        ),
        (
            "an undeclared user exception",
            |dialect, id| dialect.reply(id, 1, |body| body.string(b"IDL:Surprise:1.0").i32(5)),
            Kind::Unknown,
            Minor::EXCEPTION_UNDECLARED,
            yes,
        ),
        (
            "the addressing mode wanted that it has",
            |dialect, id| dialect.reply(id, 5, |body| body.u16(0)),
            Kind::NoImplement,
            Minor::NONE,
            no,
        ),
        (
            "an addressing mode wanted that does not exist",
            |dialect, id| dialect.reply(id, 5, |body| body.u16(3)),
            Kind::Marshal,
            Minor::ENUM_OUT_OF_RANGE,
            yes,
        ),
        (
            "a forward to what is no reference",
            |dialect, id| dialect.reply(id, 3, |body| body.string(b"IDL:X:1.0").u32(9)),
            Kind::Marshal,
            Minor::LENGTH_IMPOSSIBLE,
            yes,
        ),
    ];
    for (name, write, kind, minor, completed) in rows {
        println!("{name}");
        playing(
            2,
            |listener| {
                let mut peer = listener.accept();
                answer(&mut peer, write);
                peer.finish();
                // Where the client has kept the connection, the next request comes in vain.
                drop(peer.receive());
                let mut next = listener.accept();
                answer(&mut next, forty_two);
            },
            |_, probe| {
                let expected = SystemException::new(*kind, *minor, *completed);
                assert_eq!(probe.twice(21), Err(expected));
                // Where the framing was sound the connection was kept, and now turns out to be closed.
                let again = probe.twice(21);
                if again != Ok(42) {
                    assert_eq!(again.unwrap_err().minor, Minor::CONNECTION_LOST);
                    assert_eq!(probe.twice(21), Ok(42));
                }
            },
        );
    }
}

fn raised(dialect: Dialect, id: u32, repository_id: &[u8], completed: u32) -> Vec<u8> {
    dialect.reply(id, 2, |body| {
        body.string(repository_id).u32(0x5441_0017).u32(completed)
    })
}

#[test]
fn a_declared_user_exception_is_a_typed_error() {
    playing(
        2,
        |listener| {
            answer(&mut listener.accept(), |dialect, id| {
                dialect.reply(id, 1, |body| {
                    body.string(b"IDL:conformance/Refused:1.0").string(b"no")
                })
            });
        },
        |_, probe| {
            let refused = probe.greet("you").unwrap_err();
            assert!(matches!(refused, GreetError::Refused(refused) if refused.reason == "no"));
        },
    );
}

#[test]
fn an_orderly_close_instead_of_a_reply_means_that_the_request_is_sent_again() {
    let close = |dialect: Dialect, _: u32| dialect.message(CLOSE_CONNECTION, |message| message);
    playing(
        2,
        |listener| {
            answer(&mut listener.accept(), close);
            answer(&mut listener.accept(), close);
            let request = answer(&mut listener.accept(), forty_two);
            assert_eq!(request.request().body.i32(), 21, "with its arguments");
        },
        |_, probe| assert_eq!(probe.twice(21), Ok(42)),
    );
    // Who goes on closing is as good as not there.
    playing(
        2,
        |listener| (0..4).for_each(|_| drop(answer(&mut listener.accept(), close))),
        |_, probe| {
            let gone = SystemException::new(Kind::Transient, Minor::CLOSED_BEFORE_REQUEST, Completion::No);
            assert_eq!(probe.twice(21), Err(gone));
        },
    );
}

#[test]
fn a_server_may_close_idle_connections() {
    playing(
        2,
        |listener| {
            let mut peer = listener.accept();
            answer(&mut peer, |dialect, id| {
                let close = dialect.message(CLOSE_CONNECTION, |message| message);
                [forty_two(dialect, id), close].concat()
            });
            // The next request comes in vain, and again.
            assert!(peer.receive().is_some());
            drop(peer);
            answer(&mut listener.accept(), forty_two);
        },
        |_, probe| (0..2).for_each(|_| assert_eq!(probe.twice(21), Ok(42))),
    );
}

/// Many connections of ended threads, all of which the server has closed: one call does not stumble over each
/// of them.
#[test]
fn connections_that_ended_threads_left_are_given_up_together() {
    const THREADS: usize = 8;
    playing(
        2,
        |listener| {
            let mut peers: Vec<_> = (0..THREADS).map(|_| listener.accept()).collect();
            for peer in &mut peers {
                answer(peer, |dialect, id| {
                    let close = dialect.message(CLOSE_CONNECTION, |message| message);
                    [forty_two(dialect, id), close].concat()
                });
            }
            answer(&mut listener.accept(), forty_two);
        },
        |_, probe| {
            thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| assert_eq!(probe.twice(21), Ok(42)));
                }
            });
            assert_eq!(probe.twice(21), Ok(42));
        },
    );
}

const LOCATION_FORWARD: u32 = 3;
const LOCATION_FORWARD_PERM: u32 = 4;

fn forward_to(status: u32, port: u16) -> impl Fn(Dialect, u32) -> Vec<u8> {
    move |dialect, id| {
        let ior = reference([1, 2], port, KEY, &[]);
        dialect.reply(id, status, |body| {
            body.string(ior.type_id.as_bytes())
                .u32(1)
                .u32(0)
                .sequence(&ior.profiles[0].data)
        })
    }
}

#[test]
fn forwards_are_followed_remembered_and_forgotten_when_they_lead_nowhere() {
    follow_a_forward(LOCATION_FORWARD);
    follow_a_forward(LOCATION_FORWARD_PERM);
}

fn follow_a_forward(status: u32) {
    let elsewhere = Listener::open();
    let port = elsewhere.port;
    playing(
        2,
        |listener| {
            let mut first = listener.accept();
            answer(&mut first, forward_to(status, port));
            let mut second = elsewhere.accept();
            answer(&mut second, forty_two);
            answer(&mut second, forty_two);
            // Gone: who was forwarded comes back to where the reference leads.
            drop(elsewhere);
            answer(&mut second, |dialect, _| {
                dialect.message(CLOSE_CONNECTION, |message| message)
            });
            answer(&mut first, forty_two);
        },
        |_, probe| (0..3).for_each(|_| assert_eq!(probe.twice(21), Ok(42))),
    );
}

#[test]
fn forwards_in_a_circle_end() {
    let limits = Limits::default().max_forwards(3);
    let listener = Listener::open();
    let orb = client_with(limits);
    let probe = resolve(&orb, [1, 2], listener.port, &[]).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut peer = listener.accept();
            (0..4).for_each(|_| drop(answer(&mut peer, forward_to(LOCATION_FORWARD, listener.port))));
            assert_eq!(peer.receive().unwrap().message_type, CLOSE_CONNECTION);
            assert!(peer.is_closed());
        });
        let circle = SystemException::new(Kind::Transient, Minor::TOO_MANY_FORWARDS, Completion::No);
        // On a thread of its own, so that its connection ends with it and the ORB.
        scope.spawn(move || {
            assert_eq!(probe.twice(21), Err(circle));
            drop((probe, orb));
        });
    });
}

#[test]
fn who_cannot_be_reached_is_said_why() {
    let orb = client();
    let refused = resolve(&orb, [1, 2], NOBODY, &[]).unwrap().twice(1).unwrap_err();
    assert_eq!(
        refused,
        SystemException::new(Kind::Transient, Minor::CONNECT_REFUSED, Completion::No)
    );
    let nowhere = orb
        .resolve_object("corbaloc::no-such-host.invalid:2809/X")
        .unwrap_err();
    let ResolveError::Call {
        exception: nowhere, ..
    } = nowhere
    else {
        panic!("{nowhere}")
    };
    assert_eq!(
        nowhere,
        SystemException::new(Kind::Transient, Minor::HOST_UNKNOWN, Completion::No)
    );
}

#[test]
fn servers_of_other_protocols_are_named_with_what_they_send() {
    for (sent, expected) in [
        (
            &b"HTTP/1.1 400 Bad Request\r\n"[..],
            "which sent `HTTP/1.1 400 Bad` in `twice`)",
        ),
        (b"\x05\0", "which sent `\\x05\\x00` in `twice`)"),
    ] {
        playing(
            2,
            |listener| {
                let mut peer = listener.accept();
                answer(&mut peer, |_, _| sent.to_vec());
            },
            |_, probe| {
                let error = probe.twice(21).unwrap_err();
                assert_eq!(error.minor, Minor::PEER_SPEAKS_NO_GIOP);
                let text = error.to_string();
                assert!(
                    text.contains("(at iiop://127.0.0.1:") && text.ends_with(expected),
                    "{text}"
                );
            },
        );
    }
}

#[test]
fn a_server_that_says_nothing_is_told_from_one_that_is_late() {
    let silent = "the peer accepted the connection and has sent nothing";
    playing(
        2,
        |listener| {
            let mut peer = listener.accept();
            answer(&mut peer, forty_two);
            peer.receive().expect("the second request");
            let mut other = listener.accept();
            assert_eq!(other.receive().expect("the third").request().operation, *b"twice");
            other.receive().expect("it is cancelled");
        },
        |_, probe| {
            let late = |timeout| {
                let timeout = Duration::from_millis(timeout);
                let probe: ProbeRef = probe.with_timeout(timeout).unchecked();
                probe.twice(21).unwrap_err().to_string()
            };
            assert_eq!(probe.twice(21), Ok(42));
            let second = late(50);
            assert!(
                second.contains("in `twice` after 50ms)") && !second.contains(silent),
                "{second}"
            );
            let third = late(60);
            assert!(
                third.contains(&format!("in `twice` after 60ms: {silent}")),
                "{third}"
            );
        },
    );
}

fn code_sets(native: u32, conversion: &[u32]) -> Vec<(u32, Vec<u8>)> {
    with_wide([(native, conversion), (UTF16, &[])])
}

/// Native code set and conversions for narrow and for wide characters.
fn with_wide([narrow, wide]: [(u32, &[u32]); 2]) -> Vec<(u32, Vec<u8>)> {
    let list = |octets: Octets, (native, conversion): (u32, &[u32])| {
        let octets = octets.u32(native).u32(conversion.len() as u32);
        conversion.iter().fold(octets, |octets, id| octets.u32(*id))
    };
    let data = COMMON.encapsulation(|data| list(list(data, narrow), wide));
    vec![(CODE_SETS, data)]
}

#[test]
fn text_is_sent_in_the_code_set_that_the_reference_asks_for() {
    type Row = (&'static str, Vec<(u32, Vec<u8>)>, Option<u32>, &'static [u8]);
    let utf8 = "é".as_bytes();
    let rows: [Row; 6] = [
        ("nothing said", vec![], None, b"\xe9"),
        ("UTF-8", code_sets(UTF8, &[]), Some(UTF8), utf8),
        (
            "ISO-8859-1, which we convert to",
            code_sets(LATIN1, &[UTF8]),
            Some(LATIN1),
            b"\xe9",
        ),
        (
            "another one, converting from UTF-8",
            code_sets(EUC_JP, &[UTF8]),
            Some(UTF8),
            utf8,
        ),
        (
            "another one, converting from ISO-8859-1",
            code_sets(EUC_JP, &[LATIN1]),
            Some(LATIN1),
            b"\xe9",
        ),
        (
            "another one, nothing in common",
            code_sets(EUC_JP, &[]),
            Some(UTF8),
            utf8,
        ),
    ];
    for (name, components, announced, text) in &rows {
        println!("{name}");
        let listener = Listener::open();
        let orb = client();
        let probe = resolve(&orb, [1, 2], listener.port, components).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut peer = listener.accept();
                for round in 0..2 {
                    let request = answer(&mut peer, |dialect, id| {
                        dialect.reply(id, 0, |body| body.string(text))
                    });
                    let mut request = request.request();
                    // Once per connection.
                    let context = announced
                        .filter(|_| round == 0)
                        .map(|id| (CODE_SETS, COMMON.encapsulation(|data| data.u32(id).u32(UTF16))));
                    assert_eq!(request.contexts, Vec::from_iter(context));
                    assert_eq!(request.body.string(), *text);
                }
            });
            assert_eq!(probe.greet("é").unwrap(), "é");
            assert_eq!(probe.greet("é").unwrap(), "é");
        });
    }
    let nothing = resolve(&client(), [1, 2], 1, &code_sets(0, &[])).unwrap_err();
    assert!(
        matches!(nothing, ResolveError::Call { exception, .. } if exception.kind == Kind::CodesetIncompatible)
    );
}

#[test]
fn text_that_the_server_could_not_read_is_not_sent() {
    playing(
        2,
        |listener| {
            let request = answer(&mut listener.accept(), |dialect, id| {
                dialect.reply(id, 0, |body| body.string(b"fine"))
            });
            assert_eq!(request.message_type, REQUEST);
            assert_eq!(request.request().body.string(), b"plain");
        },
        |_, probe| {
            let GreetError::System(euro) = probe.greet("€").unwrap_err() else {
                panic!("a system exception")
            };
            let expected =
                SystemException::new(Kind::DataConversion, Minor::TEXT_NOT_IN_CODE_SET, Completion::No);
            assert_eq!(euro, expected);
            assert_eq!(probe.greet("plain").unwrap(), "fine");
        },
    );
}

/// Wide text in an argument, in an `any`, and in a union inside of it; then an `any` without wide text.
fn send_wide_text(probe: &ProbeRef) -> [Result<(), SystemException>; 4] {
    let wide = |text: &str| Any::new(&<WString>::from(text)).unwrap();
    let of = TypeCode::basic(TypeKind::WChar);
    let union = TypeCode::union(
        "IDL:U:1.0",
        "U",
        of,
        None,
        [(0x20ac, "n", TypeCode::basic(TypeKind::Short))],
    );
    let union = Any::from_value(union.clone(), &Value::initial(&union).unwrap()).unwrap();
    let arguments = [
        wide("ö"),
        Any::new(&wide("ö")).unwrap(),
        union,
        Any::new(&Any::new(&7).unwrap()).unwrap(),
    ];
    arguments.map(|argument| {
        let request = probe.as_object().request("show").argument("value", argument);
        request.invoke().map(drop).map_err(|error| match error {
            RequestError::System(exception) => exception,
            other => panic!("{other}"),
        })
    })
}

#[test]
fn wide_text_is_not_sent_to_a_server_that_states_no_code_set_for_it() {
    let refused = |version: u8| match version {
        0 => (Kind::Marshal, Minor::OMG_WIDE_TEXT_IN_REQUEST),
        _ => (Kind::InvObjref, Minor::OMG_NO_WIDE_CODE_SET),
    };
    let wide = |native, conversion: &[u32]| with_wide([(UTF8, &[]), (native, conversion)]);
    let none = || wide(0, &[]);
    for (version, components, expected) in [
        (0, code_sets(UTF8, &[]), Some(refused(0))),
        (1, vec![], Some(refused(1))),
        (1, none(), Some(refused(1))),
        (2, vec![], Some(refused(1))),
        (2, none(), Some(refused(1))),
        (1, code_sets(UTF8, &[]), None),
        (2, code_sets(UTF8, &[]), None),
        (2, wide(0, &[UCS4, UTF16]), None),
        (2, wide(0, &[UCS4]), Some(refused(1))),
    ] {
        let listener = Listener::open();
        let orb = client();
        let probe = resolve(&orb, [1, version], listener.port, &components).unwrap();
        thread::scope(|scope| {
            let answered = if expected.is_some() { 1 } else { 4 };
            let server = scope.spawn(move || {
                let mut peer = listener.accept();
                for _ in 0..answered {
                    answer(&mut peer, |dialect, id| dialect.reply(id, 0, |body| body));
                }
            });
            let [results @ .., plain] = send_wide_text(&probe);
            assert_eq!(plain, Ok(()), "what has no wide text is sent");
            for result in results {
                let expected =
                    expected.map(|(kind, minor)| SystemException::new(kind, minor, Completion::No));
                assert_eq!(result.err(), expected, "GIOP 1.{version}");
            }
            server.join().unwrap();
        });
    }
}
