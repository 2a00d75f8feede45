//! The table of bad messages: each gets the right answer, costs at most its own connection, and nobody else notices.

use std::iter;

use punctual::{Completion, Minor, SystemExceptionKind as Kind};
use punctual_conformance::{
    peer::Peer,
    server::{Profile, Server, Setup, UNLUCKY},
    wire::{
        CANCEL_REQUEST, CLOSE_CONNECTION, DIALECTS, Dialect, FRAGMENT, HEADER, LOCATE_REPLY, MESSAGE_ERROR,
        Octets, REQUEST,
    },
};

use crate::probing::{
    Answer::{self, *},
    assert_answered, assert_works, works,
};

/// One row.
struct Case {
    name: &'static str,
    /// Minor versions to which it applies.
    minors: &'static [u8],
    octets: fn(Dialect, &Fixture) -> Vec<u8>,
    answer: fn(Dialect) -> Answer,
    connection: Connection,
}

#[derive(PartialEq)]
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
const ONLY_1_2: &[u8] = &[2];
const BEFORE_1_2: &[u8] = &[0, 1];
const NO: Completion = Completion::No;
const CODE_SETS: u32 = 1;

#[test]
fn bad_messages_get_the_right_answer_and_disturb_nobody() {
    let mut setup = Setup::default();
    setup.limits.max_message_size = MAX_MESSAGE;
    setup.limits.max_nesting = MAX_NESTING;
    setup.limits.max_fragmented_messages = MAX_FRAGMENTED;
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
    for case in CASES {
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
                Closes | Ended => assert!(peer.is_closed(), "{}: still open", case.name),
            }
            works(&mut bystander, &fixture.key);
            works(&mut Peer::connect(server.port()), &fixture.key);
        }
    }
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

fn marshal(minor: Minor) -> Answer {
    Exception(Kind::Marshal, minor, NO)
}

fn no_object(_: Dialect) -> Answer {
    Exception(Kind::ObjectNotExist, Minor::TARGET_KEY_UNKNOWN, NO)
}

fn nothing(_: Dialect) -> Answer {
    Nothing
}

/// What the server, which is on this machine, writes.
fn native(write: impl FnOnce(Octets) -> Octets) -> Answer {
    Results(write(Dialect::new(2, cfg!(target_endian = "little")).octets()).finish())
}

fn announcing(dialect: Dialect, code_set: u32, fixture: &Fixture, text: &[u8]) -> Vec<u8> {
    let context = dialect.encapsulation(|data| data.u32(code_set).u32(0x0001_0109));
    dialect.request_with(ID, 3, &fixture.key, "greet", &[(CODE_SETS, context)], |body| {
        body.string(text)
    })
}

fn greet(dialect: Dialect, fixture: &Fixture, arguments: impl FnOnce(Octets) -> Octets) -> Vec<u8> {
    dialect.request(ID, &fixture.key, "greet", arguments)
}

/// A tree of this depth, one node on each level; the innermost has an empty list of children.
fn tree(body: Octets, depth: u16) -> Octets {
    let branches = (1..depth).fold(body, |body, _| body.i32(0).u32(1));
    branches.i32(0).u32(0)
}

/// A request whose header is cut by `cut` and ends with a length of 2³² - 1.
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

fn start_of_fragmented(dialect: Dialect, id: u32, fixture: &Fixture) -> Vec<u8> {
    let whole = dialect.request(id, &fixture.key, "twice", |body| body.i32(5));
    dialect.fragmented(&whole, &[16]).swap_remove(0)
}

fn fragments_of_twice(dialect: Dialect, fixture: &Fixture, sizes: &[usize]) -> Vec<Vec<u8>> {
    let whole = dialect.request(ID, &fixture.key, "twice", |body| body.i32(5));
    dialect.fragmented(&whole, sizes)
}

const LATIN1: u32 = 0x0001_0001;
const UTF8: u32 = 0x0501_0001;
const EUC_JP: u32 = 0x0003_0010;

const CASES: &[Case] = &[
    // What is not GIOP.
    case(
        "garbage",
        ONLY_1_2,
        |_, _| b"\xde\xad\xbe\xef".repeat(100),
        rejected_with_lowest,
        Closes,
    ),
    case(
        "another protocol",
        ONLY_1_2,
        |_, _| b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        rejected_with_lowest,
        Closes,
    ),
    case(
        "one wrong octet",
        ONLY_1_2,
        |_, _| b"GIP".to_vec(),
        rejected_with_lowest,
        Closes,
    ),
    case(
        "version 1.3",
        ONLY_1_2,
        |dialect, f| other_version(dialect, f, 1, 3),
        rejected_with_highest,
        Closes,
    ),
    case(
        "version 2.0",
        ONLY_1_2,
        |dialect, f| other_version(dialect, f, 2, 0),
        rejected_with_highest,
        Closes,
    ),
    case(
        "version 0.9",
        ONLY_1_2,
        |dialect, f| other_version(dialect, f, 0, 9),
        rejected_with_highest,
        Closes,
    ),
    case(
        "unknown message type",
        ALL,
        |dialect, _| dialect.message(8, |m| m.u32(ID)),
        rejected,
        Closes,
    ),
    case(
        "fragments before they existed",
        &[0],
        |dialect, _| dialect.message(FRAGMENT, |m| m),
        rejected,
        Closes,
    ),
    case(
        "fragmented GIOP 1.0",
        &[0],
        |dialect, _| dialect.header(REQUEST, true, 0).finish(),
        rejected,
        Closes,
    ),
    // Sizes of messages.
    case(
        "a message of 4 GiB",
        ALL,
        |dialect, _| dialect.header(REQUEST, false, u32::MAX).finish(),
        rejected,
        Closes,
    ),
    case(
        "one octet above the limit",
        ALL,
        |dialect, _| {
            dialect
                .header(REQUEST, false, (MAX_MESSAGE - HEADER + 1) as u32)
                .finish()
        },
        rejected,
        Closes,
    ),
    case(
        "just the limit",
        ALL,
        |dialect, f| {
            let head = dialect.request(ID, &f.key, "invert", |body| body.u8(1)).len();
            dialect.request(ID, &f.key, "invert", |body| {
                body.u8(1).raw(&vec![0; MAX_MESSAGE - head])
            })
        },
        |_| Results(vec![0]),
        Stays,
    ),
    case(
        "header cut short",
        ALL,
        |dialect, _| dialect.header(REQUEST, false, 8).finish()[..5].to_vec(),
        nothing,
        Ended,
    ),
    case(
        "message cut short",
        ALL,
        |dialect, f| {
            let mut message = dialect.request(ID, &f.key, "twice", |body| body.i32(1));
            message.truncate(40);
            message
        },
        nothing,
        Ended,
    ),
    case(
        "request without a header",
        ALL,
        |dialect, _| dialect.message(REQUEST, |m| m),
        rejected,
        Closes,
    ),
    // Lengths inside the header of a request.
    case(
        "object key longer than the message",
        ALL,
        |dialect, _| with_length(dialect, REQUEST, |m| before_key(dialect, m)),
        rejected,
        Closes,
    ),
    case(
        "operation longer than the message",
        ALL,
        |dialect, f| with_length(dialect, REQUEST, |m| before_key(dialect, m).sequence(&f.key)),
        rejected,
        Closes,
    ),
    case(
        "more contexts than fit",
        ALL,
        |dialect, f| {
            with_length(dialect, REQUEST, |m| match dialect.minor {
                2 => before_key(dialect, m).sequence(&f.key).string(b"twice"),
                _ => m,
            })
        },
        rejected,
        Closes,
    ),
    case(
        "context longer than the message",
        ALL,
        |dialect, f| {
            with_length(dialect, REQUEST, |m| match dialect.minor {
                2 => before_key(dialect, m)
                    .sequence(&f.key)
                    .string(b"twice")
                    .u32(1)
                    .u32(99),
                _ => m.u32(1).u32(99),
            })
        },
        rejected,
        Closes,
    ),
    case(
        "principal longer than the message",
        BEFORE_1_2,
        |dialect, f| {
            with_length(dialect, REQUEST, |m| {
                before_key(dialect, m).sequence(&f.key).string(b"twice")
            })
        },
        rejected,
        Closes,
    ),
    case(
        "operation without a NUL",
        ALL,
        |dialect, f| {
            dialect.message(REQUEST, |m| {
                before_key(dialect, m).sequence(&f.key).sequence(b"twice").u32(0)
            })
        },
        rejected,
        Closes,
    ),
    case(
        "code set context cut short",
        ALL,
        |dialect, f| dialect.request_with(ID, 3, &f.key, "noted", &[(CODE_SETS, vec![1, 0, 0])], |body| body),
        rejected,
        Closes,
    ),
    case(
        "unknown form of address",
        ONLY_1_2,
        |dialect, _| dialect.message(REQUEST, |m| m.u32(ID).raw(&[3, 0, 0, 0]).u16(7).u32(0)),
        rejected,
        Closes,
    ),
    // Messages that clients do not send, or that mean nothing.
    case(
        "Reply from a client",
        ALL,
        |dialect, _| dialect.reply(ID, 0, |body| body),
        rejected,
        Closes,
    ),
    case(
        "LocateReply from a client",
        ALL,
        |dialect, _| dialect.message(LOCATE_REPLY, |m| m.u32(ID).u32(1)),
        rejected,
        Closes,
    ),
    case(
        "CloseConnection",
        ALL,
        |dialect, _| dialect.message(CLOSE_CONNECTION, |m| m),
        nothing,
        Closes,
    ),
    case(
        "MessageError",
        ALL,
        |dialect, _| dialect.message(MESSAGE_ERROR, |m| m),
        nothing,
        Closes,
    ),
    case(
        "CancelRequest of nothing",
        ALL,
        |dialect, _| dialect.message(CANCEL_REQUEST, |m| m.u32(9)),
        nothing,
        Stays,
    ),
    case(
        "CancelRequest without an id",
        ALL,
        |dialect, _| dialect.message(CANCEL_REQUEST, |m| m),
        rejected,
        Closes,
    ),
    // Objects and operations.
    case(
        "unknown object key",
        ALL,
        |dialect, _| dialect.request(ID, b"nobody", "twice", |b| b.i32(1)),
        no_object,
        Stays,
    ),
    case(
        "empty object key",
        ALL,
        |dialect, _| dialect.request(ID, b"", "twice", |b| b.i32(1)),
        no_object,
        Stays,
    ),
    case(
        "object key cut short",
        ALL,
        |dialect, f| dialect.request(ID, &f.key[..f.key.len() - 1], "twice", |b| b.i32(1)),
        no_object,
        Stays,
    ),
    case(
        "deactivated object",
        ALL,
        |dialect, f| dialect.request(ID, &f.deactivated, "twice", |b| b.i32(1)),
        no_object,
        Stays,
    ),
    case(
        "object of another server",
        ALL,
        |dialect, f| dialect.request(ID, &f.other_boot, "twice", |b| b.i32(1)),
        no_object,
        Stays,
    ),
    case(
        "where nobody is",
        ALL,
        |dialect, _| dialect.locate_request(ID, b"nobody"),
        |_| Located(0),
        Stays,
    ),
    case(
        "where the object is",
        ALL,
        |dialect, f| dialect.locate_request(ID, &f.key),
        |_| Located(1),
        Stays,
    ),
    case(
        "LocateRequest with a key that is too long",
        ALL,
        |dialect, _| {
            with_length(dialect, 3, |m| {
                if dialect.minor >= 2 {
                    m.u32(ID).u16(0)
                } else {
                    m.u32(ID)
                }
            })
        },
        rejected,
        Closes,
    ),
    case(
        "address by profile",
        ONLY_1_2,
        |dialect, f| by_profile(dialect, 0, &f.profile),
        |_| native(|body| body.i32(2)),
        Stays,
    ),
    case(
        "address by a profile of nobody's",
        ONLY_1_2,
        |dialect, f| by_profile(dialect, 99, &f.profile),
        no_object,
        Stays,
    ),
    case(
        "address by a malformed profile",
        ONLY_1_2,
        |dialect, f| by_profile(dialect, 0, &f.profile[..9]),
        no_object,
        Stays,
    ),
    case(
        "address by reference",
        ONLY_1_2,
        |dialect, f| by_reference(dialect, 0, &f.profile),
        |_| native(|body| body.i32(2)),
        Stays,
    ),
    case(
        "address by a profile that is not there",
        ONLY_1_2,
        |dialect, f| by_reference(dialect, 7, &f.profile),
        no_object,
        Stays,
    ),
    case(
        "unknown operation",
        ALL,
        |dialect, f| dialect.request(ID, &f.key, "thrice", |b| b.i32(1)),
        |_| Exception(Kind::BadOperation, Minor::OPERATION_UNKNOWN, NO),
        Stays,
    ),
    case(
        "unknown operation with an underscore",
        ALL,
        |dialect, f| dialect.request(ID, &f.key, "_get_nothing", |b| b),
        |_| Exception(Kind::BadOperation, Minor::OPERATION_UNKNOWN, NO),
        Stays,
    ),
    case(
        "the interface repository",
        ALL,
        |dialect, f| dialect.request(ID, &f.key, "_interface", |b| b),
        |_| Exception(Kind::IntfRepos, Minor::NONE, NO),
        Stays,
    ),
    // Oneway calls are never answered, and response flags of 1 get an answer without results.
    case(
        "oneway to nobody",
        ALL,
        |dialect, _| dialect.request_with(ID, 0, b"nobody", "note", &[], |b| b.i32(1)),
        nothing,
        Stays,
    ),
    case(
        "oneway without its argument",
        ALL,
        |dialect, f| dialect.request_with(ID, 0, &f.key, "note", &[], |b| b),
        nothing,
        Stays,
    ),
    case(
        "a two-way operation called oneway",
        ALL,
        |dialect, f| dialect.request_with(ID, 0, &f.key, "twice", &[], |b| b.i32(1)),
        nothing,
        Stays,
    ),
    case(
        "a oneway operation called two-way",
        ALL,
        |dialect, f| dialect.request(ID, &f.key, "note", |b| b.i32(1)),
        |_| Results(vec![]),
        Stays,
    ),
    case(
        "answer from the server, not the object",
        ONLY_1_2,
        |dialect, f| dialect.request_with(ID, 1, &f.key, "note", &[], |b| b.i32(1)),
        |_| Results(vec![]),
        Stays,
    ),
    // Bodies.
    case(
        "no body",
        ALL,
        |dialect, f| dialect.request(ID, &f.key, "twice", |b| b),
        |_| marshal(Minor::MESSAGE_TRUNCATED),
        Stays,
    ),
    case(
        "body too short",
        ALL,
        |dialect, f| dialect.request(ID, &f.key, "twice", |b| b.u16(1)),
        |_| marshal(Minor::MESSAGE_TRUNCATED),
        Stays,
    ),
    case(
        "body too long",
        ALL,
        |dialect, f| dialect.request(ID, &f.key, "twice", |b| b.i32(1).i32(2).i32(3)),
        |_| native(|body| body.i32(2)),
        Stays,
    ),
    case(
        "sequence longer than the message",
        ALL,
        |dialect, f| dialect.request(ID, &f.key, "reverse", |b| b.u32(u32::MAX).i32(1)),
        |_| marshal(Minor::LENGTH_IMPOSSIBLE),
        Stays,
    ),
    case(
        "sequence longer by one",
        ALL,
        |dialect, f| dialect.request(ID, &f.key, "reverse", |b| b.u32(3).i32(1).i32(2)),
        |_| marshal(Minor::LENGTH_IMPOSSIBLE),
        Stays,
    ),
    case(
        "string longer than the message",
        ALL,
        |dialect, f| greet(dialect, f, |b| b.u32(0x7fff_ffff).raw(b"abc\0")),
        |_| marshal(Minor::LENGTH_IMPOSSIBLE),
        Stays,
    ),
    case(
        "string without a NUL",
        ALL,
        |dialect, f| greet(dialect, f, |b| b.sequence(b"abc")),
        |_| marshal(Minor::STRING_UNTERMINATED),
        Stays,
    ),
    case(
        "string with a NUL inside",
        ALL,
        |dialect, f| greet(dialect, f, |b| b.string(b"a\0c")),
        |_| marshal(Minor::STRING_UNTERMINATED),
        Stays,
    ),
    case(
        "boolean 2",
        ALL,
        |dialect, f| dialect.request(ID, &f.key, "invert", |b| b.u8(2)),
        |_| marshal(Minor::BOOLEAN_INVALID),
        Stays,
    ),
    case(
        "enum beyond its last",
        ALL,
        |dialect, f| dialect.request(ID, &f.key, "next", |b| b.u32(3)),
        |_| marshal(Minor::ENUM_OUT_OF_RANGE),
        Stays,
    ),
    case(
        "the last of an enum",
        ALL,
        |dialect, f| dialect.request(ID, &f.key, "next", |b| b.u32(2)),
        |_| native(|body| body.u32(0)),
        Stays,
    ),
    case(
        "values nested as deep as allowed",
        ALL,
        |dialect, f| dialect.request(ID, &f.key, "count", |b| tree(b, MAX_NESTING)),
        |_| native(|body| body.u32(MAX_NESTING.into())),
        Stays,
    ),
    case(
        "values nested deeper",
        ALL,
        |dialect, f| dialect.request(ID, &f.key, "count", |b| tree(b, MAX_NESTING + 1)),
        |_| Exception(Kind::ImpLimit, Minor::NESTING_TOO_DEEP, NO),
        Stays,
    ),
    case(
        "result above the limit",
        ALL,
        |dialect, f| dialect.request(ID, &f.key, "filled", |b| b.u32(MAX_MESSAGE as u32)),
        |_| Exception(Kind::ImpLimit, Minor::MESSAGE_TOO_LARGE, Completion::Yes),
        Stays,
    ),
    // Text.
    case(
        "an accent in ISO-8859-1, nothing negotiated",
        ALL,
        |dialect, f| greet(dialect, f, |b| b.string(b"Andr\xe9")),
        |_| native(|body| body.string(b"Hello, Andr\xe9")),
        Stays,
    ),
    case(
        "an accent in ISO-8859-1, negotiated",
        ALL,
        |dialect, f| announcing(dialect, LATIN1, f, b"Andr\xe9"),
        |_| native(|body| body.string(b"Hello, Andr\xe9")),
        Stays,
    ),
    case(
        "an accent in UTF-8, negotiated",
        ALL,
        |dialect, f| announcing(dialect, UTF8, f, "André".as_bytes()),
        |_| native(|body| body.string("Hello, André".as_bytes())),
        Stays,
    ),
    case(
        "text that is no UTF-8, negotiated",
        ALL,
        |dialect, f| announcing(dialect, UTF8, f, b"Andr\xe9"),
        |_| Exception(Kind::DataConversion, Minor::TEXT_INVALID, NO),
        Stays,
    ),
    case(
        "a code set that nobody has: ASCII is understood all the same",
        ALL,
        |dialect, f| announcing(dialect, EUC_JP, f, b"Andre"),
        |_| native(|body| body.string(b"Hello, Andre")),
        Stays,
    ),
    // Exceptions of the servant.
    case(
        "user exception",
        ALL,
        |dialect, f| greet(dialect, f, |b| b.string(b"")),
        |_| Raised("IDL:conformance/Refused:1.0"),
        Stays,
    ),
    case(
        "panic",
        ONLY_1_2,
        |dialect, f| dialect.request(ID, &f.key, "twice", |b| b.i32(UNLUCKY)),
        |_| Exception(Kind::Unknown, Minor::SERVANT_PANICKED, Completion::Maybe),
        Stays,
    ),
    // Fragments.
    case(
        "a message in fragments",
        SINCE_1_1,
        |dialect, f| fragments_of_twice(dialect, f, &[16, 8, 4]).concat(),
        |_| native(|body| body.i32(10)),
        Stays,
    ),
    case(
        "fragment of nothing",
        SINCE_1_1,
        |dialect, _| dialect.message(FRAGMENT, |m| m.u32(ID)),
        rejected,
        Closes,
    ),
    case(
        "two fragmented messages of one id",
        SINCE_1_1,
        |dialect, f| start_of_fragmented(dialect, ID, f).repeat(2),
        rejected,
        Closes,
    ),
    case(
        "more fragmented messages than allowed",
        ONLY_1_2,
        |dialect, f| {
            (0..=MAX_FRAGMENTED as u32)
                .flat_map(|id| start_of_fragmented(dialect, id, f))
                .collect()
        },
        rejected,
        Closes,
    ),
    case(
        "fragments without an end, up to the limit",
        SINCE_1_1,
        |dialect, f| {
            let start = start_of_fragmented(dialect, ID, f);
            let fragment = dialect
                .header(FRAGMENT, true, 4096)
                .u32(ID)
                .raw(&[0; 4092])
                .finish();
            start
                .into_iter()
                .chain(iter::repeat_n(fragment, MAX_MESSAGE / 4096 + 1).flatten())
                .collect()
        },
        rejected,
        Closes,
    ),
    case(
        "fragment in another byte order",
        SINCE_1_1,
        |dialect, f| {
            let other = Dialect {
                little: !dialect.little,
                ..dialect
            };
            let first = fragments_of_twice(dialect, f, &[16]).swap_remove(0);
            let id = if dialect.little { ID } else { ID.swap_bytes() }.to_le_bytes();
            // The same octets stand for the id, whatever the order of the rest.
            let id = if other.little {
                u32::from_le_bytes(id)
            } else {
                u32::from_be_bytes(id)
            };
            [first, other.message(FRAGMENT, |m| m.u32(id))].concat()
        },
        rejected,
        Closes,
    ),
    case(
        "fragment too short for its id",
        ONLY_1_2,
        |dialect, f| {
            [
                start_of_fragmented(dialect, ID, f),
                dialect.message(FRAGMENT, |m| m.u16(1)),
            ]
            .concat()
        },
        rejected,
        Closes,
    ),
    case(
        "fragments of GIOP 1.1 that break alignment",
        &[1],
        |dialect, f| fragments_of_twice(dialect, f, &[17]).concat(),
        rejected,
        Closes,
    ),
    case(
        "a fragmented message that is cancelled",
        SINCE_1_1,
        |dialect, f| {
            // All but the last one; in GIOP 1.1 the id must have come for a cancellation to find it.
            let mut parts = fragments_of_twice(dialect, f, &[16, 8]);
            parts.pop();
            parts.push(dialect.message(CANCEL_REQUEST, |m| m.u32(ID)));
            parts.push(start_of_fragmented(dialect, ID, f));
            parts.push(dialect.message(CANCEL_REQUEST, |m| m.u32(ID)));
            parts.concat()
        },
        nothing,
        Stays,
    ),
];

fn other_version(dialect: Dialect, fixture: &Fixture, major: u8, minor: u8) -> Vec<u8> {
    let mut message = dialect.request(ID, &fixture.key, "twice", |body| body.i32(1));
    message[4..6].copy_from_slice(&[major, minor]);
    message
}

fn by_profile(dialect: Dialect, tag: u32, profile: &[u8]) -> Vec<u8> {
    dialect.message(REQUEST, |m| {
        let header = m.u32(ID).raw(&[3, 0, 0, 0]).u16(1).u32(tag).sequence(profile);
        header.string(b"twice").contexts(&[]).body(|body| body.i32(1))
    })
}

fn by_reference(dialect: Dialect, index: u32, profile: &[u8]) -> Vec<u8> {
    dialect.message(REQUEST, |m| {
        let header = m.u32(ID).raw(&[3, 0, 0, 0]).u16(2).u32(index);
        let reference = header
            .string(b"IDL:conformance/Probe:1.0")
            .u32(1)
            .u32(0)
            .sequence(profile);
        reference.string(b"twice").contexts(&[]).body(|body| body.i32(1))
    })
}
