//! Octets that are not GIOP, messages of wrong size, and those that no client sends.

use super::*;

pub(super) const CASES: &[Case] = &[
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
        "a request above the limit, of which more than the header has arrived",
        ALL,
        |dialect, f| above_the_limit(dialect.request(ID, &f.key, "twice", |body| body.i32(21)), dialect),
        too_large,
        Closes,
    ),
    case(
        "the same without an answer",
        ONLY_1_2,
        |dialect, f| {
            above_the_limit(
                dialect.request_with(ID, 0, &f.key, "twice", &[], |body| body.i32(21)),
                dialect,
            )
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
];

fn other_version(dialect: Dialect, fixture: &Fixture, major: u8, minor: u8) -> Vec<u8> {
    let mut message = dialect.request(ID, &fixture.key, "twice", |body| body.i32(1));
    message[4..6].copy_from_slice(&[major, minor]);
    message
}

/// The message with a size in its header that exceeds the limit.
fn above_the_limit(mut message: Vec<u8>, dialect: Dialect) -> Vec<u8> {
    let size = (MAX_MESSAGE - HEADER + 1) as u32;
    let size = if dialect.little {
        size.to_le_bytes()
    } else {
        size.to_be_bytes()
    };
    message[8..HEADER].copy_from_slice(&size);
    message
}
