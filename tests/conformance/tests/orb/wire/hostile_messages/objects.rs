//! Objects and operations that are not there, and requests that want no answer.

use super::*;

pub(super) const CASES: &[Case] = &[
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
        "of an unknown object",
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
        "address by an unknown profile",
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
        "oneway to an unknown object",
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
];

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
