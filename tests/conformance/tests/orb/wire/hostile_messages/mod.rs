//! The table of bad messages: each gets the right answer, costs at most its own connection, and no other
//! client notices.

mod bodies;
mod fragments;
mod framing;
mod objects;

use std::iter;

use punctual::{
    Completion, ConnectionMode, Limits, Minor, Orb, PolicyOverrides, SystemExceptionKind as Kind,
};
use punctual_fixtures::{
    conformance::probe::GreetError,
    peer::Peer,
    server::{Profile, Server, Setup, UNLUCKY},
    wire::{
        CANCEL_REQUEST, CLOSE_CONNECTION, DIALECTS, Dialect, FRAGMENT, HEADER, LOCATE_REPLY, MESSAGE_ERROR,
        Octets, REQUEST,
    },
};

use crate::wire::probing::{
    Answer::{self, *},
    assert_answered, assert_works, works,
};

/// One row.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    /// Minor versions to which it applies.
    minors: &'static [u8],
    octets: fn(Dialect, &Fixture) -> Vec<u8>,
    answer: fn(Dialect) -> Answer,
    connection: Connection,
}

#[derive(Clone, Copy, PartialEq)]
enum Connection {
    Stays,
    Closes,
    /// The peer ends its side; then the server does.
    Ended,
}
use Connection::*;

struct Fixture {
    key: Vec<u8>,
    deactivated: Vec<u8>,
    other_boot: Vec<u8>,
    profile: Vec<u8>,
}

const ID: u32 = 0x0102_0304;
const MAX_MESSAGE: usize = 64 << 10;
const MAX_NESTING: u16 = 8;
const MAX_FRAGMENTED: usize = 2;
const ALL: &[u8] = &[0, 1, 2];
const SINCE_1_1: &[u8] = &[1, 2];
const ONLY_1_0: &[u8] = &[0];
const ONLY_1_1: &[u8] = &[1];
const ONLY_1_2: &[u8] = &[2];
const BEFORE_1_2: &[u8] = &[0, 1];
const NO: Completion = Completion::No;
const CODE_SETS: u32 = 1;

#[test]
fn bad_messages_get_the_right_answer_and_disturb_nobody() {
    let mut setup = Setup::default();
    setup.limits = setup.limits.max_message_size(MAX_MESSAGE);
    setup.limits = setup.limits.max_nesting(MAX_NESTING);
    setup.limits = setup.limits.max_fragmented_messages(MAX_FRAGMENTED);
    let server = setup.start();
    let short_lived = server.another();
    server.poa.deactivate(&short_lived).unwrap();
    let fixture = Fixture {
        key: server.key(),
        deactivated: Profile::of(&short_lived).key,
        other_boot: Server::start().key(),
        profile: server.probe.ior().profiles[0].data.clone(),
    };
    let mut bystander = Peer::connect(server.port());
    for case in [framing::CASES, objects::CASES, bodies::CASES, fragments::CASES].concat() {
        for dialect in DIALECTS
            .iter()
            .filter(|dialect| case.minors.contains(&dialect.minor))
        {
            // Shown when the test fails.
            println!("{}, {dialect:?}", case.name);
            works(&mut bystander, &fixture.key);
            let mut peer = Peer::connect(server.port());
            peer.send(&(case.octets)(*dialect, &fixture));
            if case.connection == Ended {
                peer.finish();
            }
            assert_answered(&mut peer, ID, dialect.minor, &(case.answer)(*dialect));
            match case.connection {
                Stays => assert_works(&mut peer, &fixture.key, *dialect),
                Closes | Ended => {
                    let follows: &[u8] = match (case.answer)(*dialect) {
                        Exception(_, Minor::MESSAGE_TOO_LARGE, NO) => &[CLOSE_CONNECTION],
                        _ => &[],
                    };
                    let rest: Vec<u8> = iter::from_fn(|| peer.receive())
                        .map(|next| next.message_type)
                        .collect();
                    assert_eq!(rest, follows, "{}", case.name);
                }
            }
            works(&mut bystander, &fixture.key);
            works(&mut Peer::connect(server.port()), &fixture.key);
        }
    }
}

#[test]
fn a_client_learns_which_limit_its_request_exceeds() {
    let mut setup = Setup::default();
    setup.limits = setup.limits.max_message_size(4096);
    let server = setup.start();
    for mode in [ConnectionMode::Exclusive, ConnectionMode::Shared] {
        let client = client_with(Limits::default(), mode);
        let probe = server.reference_for(&client);
        // The longest ones are still being sent when the server closes the connection.
        for length in [5000, 64 << 10, 2 << 20] {
            let argument = "x".repeat(length);
            for _ in 0..20 {
                let refused = probe.greet(&argument).unwrap_err();
                let GreetError::System(exception) = refused else {
                    panic!("{refused}")
                };
                let seen = (exception.kind, exception.minor, exception.completed);
                let expected = (Kind::ImpLimit, Minor::MESSAGE_TOO_LARGE, NO);
                assert_eq!(seen, expected, "{mode:?}, {length}: {exception}");
                assert_eq!(probe.twice(2), Ok(4), "over another connection");
            }
        }
        client.shutdown_and_wait().unwrap();
    }
}

#[test]
fn a_client_learns_that_a_reply_exceeds_its_own_limit() {
    let server = Server::start();
    for mode in [ConnectionMode::Exclusive, ConnectionMode::Shared] {
        let client = client_with(Limits::default().max_message_size(4096), mode);
        let probe = server.reference_for(&client);
        for _ in 0..2 {
            let refused = probe.filled(5000).unwrap_err();
            let seen = (refused.kind, refused.minor, refused.completed);
            let expected = (Kind::ImpLimit, Minor::REPLY_TOO_LARGE, Completion::Maybe);
            assert_eq!(seen, expected, "{mode:?}: {refused}");
            assert_eq!(probe.twice(2), Ok(4), "over another connection");
        }
        client.shutdown_and_wait().unwrap();
    }
}

/// An ORB whose calls use such connections.
fn client_with(limits: Limits, mode: ConnectionMode) -> Orb {
    let builder = Orb::builder().lock_memory(false).limits(limits);
    let client = builder.build().unwrap();
    let replies = client.threadpool().build().unwrap();
    client.set_reply_threadpool(&replies).unwrap();
    client.add_policies(PolicyOverrides::new().connection_mode(mode));
    client
}

const fn case(
    name: &'static str,
    minors: &'static [u8],
    octets: fn(Dialect, &Fixture) -> Vec<u8>,
    answer: fn(Dialect) -> Answer,
    connection: Connection,
) -> Case {
    Case {
        name,
        minors,
        octets,
        answer,
        connection,
    }
}

fn rejected(dialect: Dialect) -> Answer {
    MessageError(dialect.minor)
}

/// A peer of an unknown version is told the highest one that is spoken.
fn rejected_with_highest(_: Dialect) -> Answer {
    MessageError(2)
}

fn rejected_with_lowest(_: Dialect) -> Answer {
    MessageError(0)
}

/// A request whose id has a fixed place in the message is answered, not refused without a reason.
fn too_large(dialect: Dialect) -> Answer {
    match dialect.minor {
        0 | 1 => rejected(dialect),
        _ => Exception(Kind::ImpLimit, Minor::MESSAGE_TOO_LARGE, NO),
    }
}

fn marshal(minor: Minor) -> Answer {
    Exception(Kind::Marshal, minor, NO)
}

fn no_object(_: Dialect) -> Answer {
    Exception(Kind::ObjectNotExist, Minor::TARGET_KEY_UNKNOWN, NO)
}

fn nothing(_: Dialect) -> Answer {
    Nothing
}

/// Octets that the server writes in the native byte order.
fn native(write: impl FnOnce(Octets) -> Octets) -> Answer {
    Results(write(Dialect::new(2, cfg!(target_endian = "little")).octets()).finish())
}

/// A message that ends with a length of 2³² - 1 and four octets.
fn with_length(dialect: Dialect, message_type: u8, before: impl FnOnce(Octets) -> Octets) -> Vec<u8> {
    dialect.message(message_type, |message| before(message).u32(u32::MAX).raw(b"abcd"))
}

fn before_key(dialect: Dialect, message: Octets) -> Octets {
    if dialect.minor >= 2 {
        message.u32(ID).raw(&[3, 0, 0, 0]).u16(0)
    } else {
        message.contexts(&[]).u32(ID).u8(1).raw(&[0; 3])
    }
}
