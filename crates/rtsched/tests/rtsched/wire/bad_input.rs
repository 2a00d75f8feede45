//! Bad input of each kind and its treatment, then random input. Nothing panics, and nothing allocates.

use proptest::{collection::vec, prelude::*, sample::select};
use punctual_cdr::{CdrError, CdrErrorKind, Endian};
use punctual_os::alloc_counter;
use punctual_rtsched::wire::{CarriedParameters, PeerLayout, Reading, UnknownParameters};

use super::{CLOCKS, fuzzed::LAYOUTS, octets, reader, round_trips::context};

/// Reads without allocating.
pub fn read(layout: PeerLayout, data: &[u8]) -> Result<Reading, CdrError> {
    assert!(alloc_counter::installed());
    let (reading, allocations) = alloc_counter::count_allocations(|| reader(layout).read(data));
    assert_eq!(allocations, 0, "{data:?}");
    reading
}

const ID: &str = "000102030405060708090a0b0c0d0e0f";

#[test]
fn foreign_contexts_are_ignored() {
    for data in [
        "",
        "00",
        "01",
        "02",
        "01 50",
        "01 5044",
        "01 504453 01",
        "02 504454 01 00",
        "ff 504454 01 00 00 00",
        "04000000",
        "0400000000000000",
        "0400000000000000 05000000",
        // For example, an object reference.
        "01 000000 0f000000 494f523a",
    ] {
        assert_eq!(
            read(PeerLayout::OwnOnly, &octets(data)),
            Ok(Reading::Foreign),
            "{data}"
        );
    }
    for major in [0, 2, 3, 255] {
        for rest in ["", "00", "00 03 00", "ff ff ff ff ff ff ff ff ff ff ff"] {
            let data = octets(&format!("01 504454 {major:02x} {rest}"));
            assert_eq!(read(PeerLayout::OwnOnly, &data), Ok(Reading::UnknownMajor(major)));
        }
    }
}

#[test]
fn malformed_contexts_are_refused_with_reason_and_offset() {
    use CdrErrorKind::*;
    let header = |flags: &str| format!("01 504454 01 00 {flags} 00 {ID}");
    let with = |block: &str| format!("{} {block}", header("01"));
    let table: Vec<(String, CdrErrorKind, usize)> = vec![
        // The header.
        ("01 504454".into(), Truncated, 4),
        ("00 504454 01".into(), Truncated, 6),
        ("00 504454 01 00 00 00 00010203".into(), Truncated, 8),
        (
            "00 504454 01 00 00 00 00000000000000000000000000000000".into(),
            EnumOutOfRange,
            24,
        ),
        // Announced blocks that are missing.
        (header("01"), Truncated, 24),
        (header("02"), Truncated, 24),
        (with("01 00 0200 1000"), Truncated, 24),
        // One of two blocks.
        (
            format!("{} 01 00 0200 10000000 07000000 00000000", header("03")),
            Truncated,
            40,
        ),
        // Impossible lengths.
        (with("01 00 0200 00000000"), LengthImpossible, 24),
        (with("01 00 0200 07000000"), LengthImpossible, 24),
        (with("01 00 0200 0c000000 07000000"), LengthImpossible, 24),
        (with("01 00 0200 88000000 07000000"), LengthImpossible, 24),
        (with("01 00 0200 f8ffffff 07000000"), LengthImpossible, 24),
        (with("01 00 0200 ffffffff 07000000"), LengthImpossible, 24),
        // The other byte order than announced.
        (
            with("00 00 0200 10000000 07000000 00000000"),
            LengthImpossible,
            24,
        ),
        (with("02 00 0200 10000000 07000000 00000000"), BooleanInvalid, 24),
        // Longer than the data.
        (with("01 00 0200 10000000 07000000 000000"), Truncated, 24),
        (with("01 00 0200 18000000 07000000 00000000"), Truncated, 24),
        // Blocks that are too small for their fields.
        (with("01 00 0200 08000000"), Truncated, 32),
        (with("01 00 0100 08000000"), Truncated, 32),
        (with("01 01 0200 08000000 07000000 00000000"), Truncated, 32),
        (with("01 01 0200 10000000 0700000000000000"), Truncated, 40),
        (
            with("01 01 0200 18000000 0700000000000000 0700000000000000"),
            Truncated,
            48,
        ),
        (with("01 00 0300 10000000 0700000000000000"), Truncated, 40),
        (with("01 00 0600 10000000 0700000000000000"), Truncated, 40),
        (
            with("01 00 0800 18000000 0700000000000000 0700000000000000"),
            Truncated,
            48,
        ),
        // Negative priorities, and no kind.
        (with("01 00 0100 10000000 ffff000000000000"), EnumOutOfRange, 34),
        (with("01 00 0100 10000000 0080000000000000"), EnumOutOfRange, 34),
        (with("01 00 0000 10000000 0000000000000000"), EnumOutOfRange, 24),
    ];
    for (data, kind, offset) in table {
        let offset_of = |error: CdrError| (error.kind, error.offset);
        assert_eq!(
            read(PeerLayout::OwnOnly, &octets(&data)).map_err(offset_of),
            Err((kind, offset)),
            "{data}"
        );
        // It is our format, regardless of the peer's layout.
        for layout in LAYOUTS {
            read(layout, &octets(&data)).unwrap_err();
        }
    }
}

#[test]
fn unknown_parameters_have_a_bound() {
    let block = |fields: usize, deadline: bool| {
        let size = 8 + fields + if deadline { 16 } else { 0 };
        let mut data = octets(&format!(
            "00 504454 01 00 01 00 {ID} 00 0{} 0099",
            u8::from(deadline)
        ));
        data.extend((size as u32).to_be_bytes());
        data.resize(24 + size, 0x55);
        read(PeerLayout::OwnOnly, &data)
    };
    block(UnknownParameters::MOST, true).unwrap();
    block(UnknownParameters::MOST, false).unwrap();
    block(UnknownParameters::MOST + 8, false).unwrap_err();
    block(UnknownParameters::MOST + 8, true).unwrap_err();
    assert!(UnknownParameters::new(9, None, Endian::Big, &[0; UnknownParameters::MOST]).is_some());
    assert!(UnknownParameters::new(9, None, Endian::Big, &[0; UnknownParameters::MOST + 8]).is_none());
    assert!(UnknownParameters::new(9, None, Endian::Big, &[0; 7]).is_none());
    for kind in 0..9 {
        assert!(
            UnknownParameters::new(kind, None, Endian::Big, &[]).is_none(),
            "{kind}"
        );
    }
}

#[test]
fn data_of_newer_minor_versions_is_ignored() {
    let plain = octets(&format!(
        "01 504454 01 00 01 00 {ID} 01 00 0200 10000000 07000000 00000000"
    ));
    let expected = read(PeerLayout::OwnOnly, &plain).unwrap();
    for newer in [
        // After the blocks, in the flags, in the reserved octet, after the fields of a block, in its flags
        // and its padding; a deadline that the kind does not have.
        format!("01 504454 01 07 01 00 {ID} 01 00 0200 10000000 07000000 00000000 ffffffff ff"),
        format!("01 504454 01 07 f1 00 {ID} 01 00 0200 10000000 07000000 00000000 ffffffff ff"),
        format!("01 504454 01 07 01 ff {ID} 01 00 0200 10000000 07000000 00000000"),
        format!("01 504454 01 07 01 00 {ID} 01 00 0200 18000000 07000000 12345678 1122334455667788"),
        format!("01 504454 01 07 01 00 {ID} 01 f0 0200 10000000 07000000 ffffffff"),
        format!(
            "01 504454 01 07 01 00 {ID} 01 01 0200 20000000 {} 07000000 00000000",
            "11".repeat(16)
        ),
    ] {
        assert_eq!(
            read(PeerLayout::OwnOnly, &octets(&newer)),
            Ok(expected),
            "{newer}"
        );
    }
}

/// Octets with boundary values.
fn octet() -> impl Strategy<Value = u8> {
    prop_oneof![0..12_u8, select(&[0x7f, 0x80, 0xff][..]), any::<u8>()]
}

proptest! {
    #[test]
    fn damaged_contexts_are_read_or_refused(
        context in context(),
        changes in vec((any::<prop::sample::Index>(), octet()), 1..6),
        cut in any::<prop::sample::Index>(),
        is_cut: bool,
    ) {
        let mut data = context.encode(&CLOCKS, Endian::Little).to_vec();
        if is_cut {
            data.truncate(cut.index(data.len()));
        }
        for (at, octet) in changes {
            if !data.is_empty() {
                *at.get_mut(&mut data) = octet;
            }
        }
        for layout in LAYOUTS {
            // A context that has been read can be encoded, and is then read as the same.
            if let Ok(Reading::Context(context)) = read(layout, &data) {
                let again = context.encode(&CLOCKS, Endian::Big);
                let Ok(Reading::Context(read)) = read(PeerLayout::OwnOnly, &again) else {
                    panic!("{context:?} cannot be read again");
                };
                prop_assert_eq!(read.id, context.id);
                let kinds = |context: &punctual_rtsched::wire::SchedulingContext| {
                    let kind = |parameters: CarriedParameters| parameters.known().map(|known| known.kind());
                    [context.parameters, context.implicit].map(|parameters| parameters.map(kind))
                };
                prop_assert_eq!(kinds(&read), kinds(&context));
            }
        }
    }

    #[test]
    fn random_data_is_read_or_refused(data in vec(octet(), 0..200), ours: bool) {
        let mut data = data;
        if ours && data.len() > 5 {
            data[0] &= 1;
            data[1..5].copy_from_slice(b"PDT\x01");
        }
        for layout in LAYOUTS {
            let _ = read(layout, &data);
        }
    }
}
