//! Arguments that are not what they should be, and results that cannot be sent.

use super::*;

pub(super) const CASES: &[Case] = &[
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
        "an unknown code set: ASCII is understood all the same",
        ALL,
        |dialect, f| announcing(dialect, EUC_JP, f, b"Andre"),
        |_| native(|body| body.string(b"Hello, Andre")),
        Stays,
    ),
    case(
        "an unknown code set: other text is not",
        ALL,
        |dialect, f| announcing(dialect, EUC_JP, f, b"\xa4\xa2"),
        |_| Exception(Kind::DataConversion, Minor::TEXT_INVALID, NO),
        Stays,
    ),
    // Wide text.
    case(
        "wide text, nothing negotiated",
        ONLY_1_2,
        |dialect, f| wide(dialect, f, |b| b.sequence(b"\0a\0\xf6\xd8\x3d\xdc\xa7")),
        |_| native(|body| body.u32(3)),
        Stays,
    ),
    case(
        "wide text with a byte order mark",
        ONLY_1_2,
        |dialect, f| wide(dialect, f, |b| b.sequence(b"\xff\xfea\0\xf6\0")),
        |_| native(|body| body.u32(2)),
        Stays,
    ),
    case(
        "wide text in units of two octets",
        ONLY_1_1,
        |dialect, f| wide(dialect, f, |b| b.u32(3).u16(97).u16(0xf6).u16(0)),
        |_| native(|body| body.u32(2)),
        Stays,
    ),
    case(
        "wide text where there is none",
        ONLY_1_0,
        |dialect, f| wide(dialect, f, |b| b.u32(2).u16(97).u16(0)),
        |_| marshal(Minor::OMG_WIDE_TEXT_IN_REQUEST),
        Stays,
    ),
    case(
        "wide text of half a unit",
        ONLY_1_2,
        |dialect, f| wide(dialect, f, |b| b.sequence(b"\0a\0")),
        |_| Exception(Kind::DataConversion, Minor::TEXT_INVALID, NO),
        Stays,
    ),
    case(
        "wide text with half a pair of surrogates",
        ONLY_1_2,
        |dialect, f| wide(dialect, f, |b| b.sequence(b"\0a\xd8\x3d")),
        |_| Exception(Kind::DataConversion, Minor::TEXT_INVALID, NO),
        Stays,
    ),
    case(
        "surrogates in the wrong order, in units of two octets",
        ONLY_1_1,
        |dialect, f| wide(dialect, f, |b| b.u32(3).u16(0xdca7).u16(0xd83d).u16(0)),
        |_| Exception(Kind::DataConversion, Minor::TEXT_INVALID, NO),
        Stays,
    ),
    case(
        "wide text longer than the message",
        SINCE_1_1,
        |dialect, f| wide(dialect, f, |b| b.u32(0x7fff_fffe).raw(b"\0a\0b")),
        |_| marshal(Minor::LENGTH_IMPOSSIBLE),
        Stays,
    ),
    case(
        "wide text in an unknown code set",
        SINCE_1_1,
        |dialect, f| {
            let context = dialect.encapsulation(|data| data.u32(UTF8).u32(UCS_4));
            let contexts = [(CODE_SETS, context)];
            dialect.request_with(ID, 3, &f.key, "characters", &contexts, |body| body.u32(0))
        },
        |_| Exception(Kind::DataConversion, Minor::TEXT_INVALID, NO),
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
];

const LATIN1: u32 = 0x0001_0001;
const UTF8: u32 = 0x0501_0001;
const EUC_JP: u32 = 0x0003_0010;
const UCS_4: u32 = 0x0001_0104;

fn announcing(dialect: Dialect, code_set: u32, fixture: &Fixture, text: &[u8]) -> Vec<u8> {
    let context = dialect.encapsulation(|data| data.u32(code_set).u32(0x0001_0109));
    dialect.request_with(ID, 3, &fixture.key, "greet", &[(CODE_SETS, context)], |body| {
        body.string(text)
    })
}

fn greet(dialect: Dialect, fixture: &Fixture, arguments: impl FnOnce(Octets) -> Octets) -> Vec<u8> {
    dialect.request(ID, &fixture.key, "greet", arguments)
}

fn wide(dialect: Dialect, fixture: &Fixture, arguments: impl FnOnce(Octets) -> Octets) -> Vec<u8> {
    dialect.request(ID, &fixture.key, "characters", arguments)
}

/// A tree of this depth, one node on each level; the innermost has an empty list of children.
fn tree(body: Octets, depth: u16) -> Octets {
    let branches = (1..depth).fold(body, |body, _| body.i32(0).u32(1));
    branches.i32(0).u32(0)
}
