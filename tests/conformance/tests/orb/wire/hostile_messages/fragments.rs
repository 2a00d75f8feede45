//! Messages in parts.

use super::*;

pub(super) const CASES: &[Case] = &[
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
        too_large,
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
            // The same octets stand for the id, regardless of the order of the rest.
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
        "fragments of GIOP 1.1 that align to the whole message", // and not to themselves
        &[1],
        |dialect, f| fragments_of_twice(dialect, f, &[17]).concat(),
        |_| marshal(Minor::MESSAGE_TRUNCATED),
        Stays,
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

fn start_of_fragmented(dialect: Dialect, id: u32, fixture: &Fixture) -> Vec<u8> {
    let whole = dialect.request(id, &fixture.key, "twice", |body| body.i32(5));
    dialect.fragmented(&whole, &[16]).swap_remove(0)
}

fn fragments_of_twice(dialect: Dialect, fixture: &Fixture, sizes: &[usize]) -> Vec<Vec<u8>> {
    let whole = dialect.request(ID, &fixture.key, "twice", |body| body.i32(5));
    dialect.fragmented(&whole, sizes)
}
