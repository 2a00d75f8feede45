//! Tests of encoding and decoding.

use alloc::{string::String, vec, vec::Vec};
use core::fmt::Debug;

use super::*;

const ORDERS: [Endian; 2] = [Endian::Big, Endian::Little];

fn encoded(value: impl Encode, endian: Endian, char_set: CharSet) -> Vec<u8> {
    let mut octets = Vec::new();
    value
        .encode(&mut Encoder::new(&mut octets, endian).with_char_set(char_set))
        .unwrap();
    octets
}

fn round_trip<T: Encode + for<'a> Decode<'a> + PartialEq + Debug>(value: T) {
    for endian in ORDERS {
        for shift in 0..8_u8 {
            let mut octets = Vec::new();
            let mut encoder = Encoder::new(&mut octets, endian).with_char_set(CharSet::Utf8);
            vec![0_u8; shift.into()]
                .into_iter()
                .for_each(|octet| octet.encode(&mut encoder).unwrap());
            value.encode(&mut encoder).unwrap();
            let arena = Arena::new();
            let mut decoder = Decoder::new(&octets, endian)
                .with_char_set(CharSet::Utf8)
                .with_arena(&arena);
            decoder.octets(shift.into()).unwrap();
            assert_eq!(
                T::decode(&mut decoder).unwrap(),
                value,
                "{endian:?}, shifted by {shift}"
            );
            assert_eq!(decoder.remaining(), 0);
            // Every shorter message must fail, and must not panic.
            for end in shift.into()..octets.len() {
                let mut decoder = Decoder::new(&octets[..end], endian)
                    .with_arena(&arena)
                    .at(shift.into());
                T::decode(&mut decoder).unwrap_err();
            }
        }
    }
}

#[test]
fn round_trips_in_both_byte_orders_and_every_alignment() {
    round_trip(true);
    round_trip('x');
    round_trip(0xfe_u8);
    round_trip(-2_i16);
    round_trip(0xfffe_u16);
    round_trip(-2_i32);
    round_trip(0xffff_fffe_u32);
    round_trip(-2_i64);
    round_trip(u64::MAX - 1);
    round_trip(1.5_f32);
    round_trip(-2.25_f64);
    round_trip(LongDouble(0x3fff_8000_0000_0000_0000_0000_0000_0001));
    round_trip(String::from("Grüße"));
    round_trip(vec![1_i32, 2, 3]);
    round_trip(vec![1.5_f64, -1.0]);
    round_trip(vec![String::from("a"), String::from("bc")]);
    round_trip(vec![vec![1_u64], vec![2, 3]]);
    round_trip([[1_i16, 2, 3], [4, 5, 6]]);
    round_trip(BoundedSeq::<i32, 3>::try_from(vec![1, 2, 3]).unwrap());
    round_trip(BoundedString::<5>::try_from(String::from("abcde")).unwrap());
}

#[test]
fn encodings_match_the_specification() {
    assert_eq!(
        encoded((1_u8, 0x0102_0304_u32), Endian::Big, CharSet::Latin1),
        [1, 0, 0, 0, 1, 2, 3, 4]
    );
    assert_eq!(
        encoded((1_u8, 0x0102_0304_u32), Endian::Little, CharSet::Latin1),
        [1, 0, 0, 0, 4, 3, 2, 1]
    );
    assert_eq!(
        encoded("hé", Endian::Big, CharSet::Latin1),
        [0, 0, 0, 3, b'h', 0xe9, 0]
    );
    assert_eq!(
        encoded("hé", Endian::Big, CharSet::Utf8),
        [0, 0, 0, 4, b'h', 0xc3, 0xa9, 0]
    );
    assert_eq!(encoded("", Endian::Little, CharSet::Utf8), [1, 0, 0, 0, 0]);
    assert_eq!(
        encoded([1_u16, 2].as_slice(), Endian::Big, CharSet::Utf8),
        [0, 0, 0, 2, 0, 1, 0, 2]
    );
    assert_eq!(encoded([1_u16, 2], Endian::Big, CharSet::Utf8), [0, 1, 0, 2]);
    // No padding precedes the elements of an empty sequence.
    assert_eq!(
        encoded([0_u64; 0].as_slice(), Endian::Big, CharSet::Utf8),
        [0, 0, 0, 0]
    );
}

#[test]
fn numbers_in_native_order_are_lent_from_the_message() {
    let octets = encoded([7_i32, 8].as_slice(), Endian::NATIVE, CharSet::Utf8);
    let mut decoder = Decoder::new(&octets, Endian::NATIVE);
    assert_eq!(<&[i32]>::decode(&mut decoder).unwrap(), [7, 8]);
}

#[test]
fn foreign_numbers_and_text_are_lent_from_the_arena() {
    let foreign = if Endian::NATIVE == Endian::Big {
        Endian::Little
    } else {
        Endian::Big
    };
    let arena = Arena::new();
    let octets = encoded(
        ([7_i64, 8].as_slice(), ["é", "b"].as_slice()),
        foreign,
        CharSet::Latin1,
    );
    let mut decoder = Decoder::new(&octets, foreign).with_arena(&arena);
    assert_eq!(<&[i64]>::decode(&mut decoder).unwrap(), [7, 8]);
    assert_eq!(<&[&str]>::decode(&mut decoder).unwrap(), ["é", "b"]);
}

#[test]
fn decoding_into_a_value_keeps_its_memory() {
    let octets = encoded(([1_i32, 2].as_slice(), "ab"), Endian::NATIVE, CharSet::Utf8);
    let (mut numbers, mut text) = (Vec::with_capacity(8), String::with_capacity(8));
    let before = (numbers.as_ptr(), text.as_ptr());
    let mut decoder = Decoder::new(&octets, Endian::NATIVE);
    numbers.decode_into(&mut decoder).unwrap();
    text.decode_into(&mut decoder).unwrap();
    assert_eq!((numbers.as_slice(), text.as_str()), ([1, 2].as_slice(), "ab"));
    assert_eq!((numbers.as_ptr(), text.as_ptr()), before);
}

#[test]
fn malformed_values_are_refused() {
    fn kind<T: for<'a> Decode<'a> + Debug>(octets: &[u8], char_set: CharSet) -> CdrErrorKind {
        T::decode(&mut Decoder::new(octets, Endian::Big).with_char_set(char_set))
            .unwrap_err()
            .kind
    }
    use CdrErrorKind::*;
    assert_eq!(kind::<bool>(&[2], CharSet::Utf8), BooleanInvalid);
    assert_eq!(kind::<char>(&[0xe9], CharSet::Utf8), TextInvalid);
    assert_eq!(
        kind::<String>(&[0, 0, 0, 2, b'a', b'b'], CharSet::Utf8),
        StringUnterminated
    );
    assert_eq!(
        kind::<String>(&[0, 0, 0, 3, b'a', 0, 0], CharSet::Utf8),
        StringUnterminated
    );
    assert_eq!(kind::<String>(&[0, 0, 0, 2, 0xe9, 0], CharSet::Utf8), TextInvalid);
    assert_eq!(kind::<char>(&[0xe9], CharSet::Ascii), TextInvalid);
    assert_eq!(
        kind::<String>(&[0, 0, 0, 3, 0xc3, 0xa9, 0], CharSet::Ascii),
        TextInvalid
    );
    assert_eq!(
        kind::<String>(&[0xff, 0xff, 0xff, 0xff, 0], CharSet::Utf8),
        LengthImpossible
    );
    assert_eq!(
        kind::<Vec<u64>>(&[0, 0, 0, 2, 0, 0, 0, 0, 0], CharSet::Utf8),
        LengthImpossible
    );
    assert_eq!(
        kind::<Vec<String>>(&[0x10, 0, 0, 0], CharSet::Utf8),
        LengthImpossible
    );
    assert_eq!(
        kind::<BoundedSeq<u8, 1>>(&[0, 0, 0, 2, 1, 2], CharSet::Utf8),
        BoundExceeded
    );
    assert_eq!(
        kind::<BoundedString<1>>(&[0, 0, 0, 3, b'a', b'b', 0], CharSet::Utf8),
        BoundExceeded
    );
}

#[test]
fn values_that_cannot_be_encoded_are_refused() {
    fn kind(value: impl Encode, char_set: CharSet) -> CdrErrorKind {
        let mut octets = Vec::new();
        let mut encoder = Encoder::new(&mut octets, Endian::NATIVE)
            .with_char_set(char_set)
            .with_limit(16);
        value.encode(&mut encoder).unwrap_err().kind
    }
    assert_eq!(kind("a\0b", CharSet::Utf8), CdrErrorKind::ValueNotRepresentable);
    assert_eq!(kind("€", CharSet::Latin1), CdrErrorKind::TextNotInCodeSet);
    assert_eq!(kind('é', CharSet::Utf8), CdrErrorKind::TextNotInCodeSet);
    assert_eq!(kind('é', CharSet::Ascii), CdrErrorKind::TextNotInCodeSet);
    assert_eq!(kind("é", CharSet::Ascii), CdrErrorKind::TextNotInCodeSet);
    assert_eq!(
        kind(Text::SingleOctets(b"\xe9", CharSet::Latin1), CharSet::Ascii),
        CdrErrorKind::TextNotInCodeSet
    );
    assert_eq!(kind([0_u64, 1].as_slice(), CharSet::Utf8), CdrErrorKind::TooLarge);
    assert_eq!(kind("0123456789abcdef", CharSet::Utf8), CdrErrorKind::TooLarge);
}

#[test]
fn excessive_nesting_is_an_error() {
    fn descend(decoder: &mut Decoder<'_>) -> Result<(), CdrError> {
        decoder.nested(descend)
    }
    let error = descend(&mut Decoder::new(&[], Endian::Big)).unwrap_err();
    assert_eq!(error.kind, CdrErrorKind::NestingTooDeep);
}

/// As large as a union with a member of 4 KiB: 4 octets on the wire.
struct Large([u32; 1024]);

impl<'a> Decode<'a> for Large {
    const MIN_SIZE: usize = 4;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        match u32::decode(decoder)? {
            0xffff_ffff => Err(decoder.error(CdrErrorKind::EnumOutOfRange)),
            value => Ok(Self([value; 1024])),
        }
    }
}

/// A sequence of `count` large values, of which number `bad` cannot be decoded.
fn large(count: u32, bad: u32) -> Vec<u8> {
    let value = |index| if index == bad { 0xffff_ffff } else { index };
    let values: Vec<u32> = (0..count).map(value).collect();
    encoded(values.as_slice(), Endian::NATIVE, CharSet::Utf8)
}

#[test]
fn elements_beyond_the_limit_are_refused_before_the_first_is_decoded() {
    // Decoded, this has 400 MB; the first element would fail in another way.
    let octets = large(100_000, 0);
    let arena = Arena::new();
    let decoder = Decoder::new(&octets, Endian::NATIVE).with_arena(&arena);
    let mut elements = Vec::<Large>::new();
    let owned = elements.decode_into(&mut decoder.clone());
    let lent = <&[Large]>::decode(&mut decoder.clone()).map(<[_]>::len);
    for error in [owned.unwrap_err(), lent.unwrap_err()] {
        assert_eq!((error.kind, error.offset), (CdrErrorKind::DecodedTooLarge, 4));
    }
    assert_eq!((elements.capacity(), arena.allocated_bytes()), (0, 0));
    // All that a message contains counts.
    let two = [large(3, 9), large(3, 9)].concat();
    let mut decoder = Decoder::new(&two, Endian::NATIVE).with_decoded_limit(5 * size_of::<Large>());
    assert_eq!(Vec::<Large>::decode(&mut decoder).unwrap().len(), 3);
    assert_eq!(
        Vec::<Large>::decode(&mut decoder).map(|_| ()).unwrap_err().kind,
        CdrErrorKind::DecodedTooLarge
    );
}

#[test]
fn memory_grows_with_the_octets_and_not_with_the_announced_length() {
    let octets = large(100_000, 300);
    let arena = Arena::new();
    let decoder = Decoder::new(&octets, Endian::NATIVE)
        .with_arena(&arena)
        .with_decoded_limit(usize::MAX);
    let mut elements = Vec::<Large>::new();
    let owned = elements.decode_into(&mut decoder.clone());
    let lent = <&[Large]>::decode(&mut decoder.clone()).map(<[_]>::len);
    for error in [owned.unwrap_err(), lent.unwrap_err()] {
        assert_eq!(error.kind, CdrErrorKind::EnumOutOfRange);
    }
    // As much as the message has, then at most twice as much as has been decoded.
    assert_eq!((elements.len(), elements[299].0[1023]), (300, 299));
    assert!(elements.capacity() < 700, "{}", elements.capacity());
    assert!(
        arena.allocated_bytes() < 3000 * size_of::<Large>(),
        "{}",
        arena.allocated_bytes()
    );
}

#[test]
fn numbers_and_text_may_take_twice_their_message_whatever_the_limit() {
    let text = "\u{e9}".repeat(1000);
    let octets = encoded(
        (text.as_str(), [7_u8; 1000].as_slice()),
        Endian::Big,
        CharSet::Latin1,
    );
    let arena = Arena::new();
    let decoder = Decoder::new(&octets, Endian::Big)
        .with_arena(&arena)
        .with_decoded_limit(0);
    let mut owned = decoder.clone();
    assert_eq!(String::decode(&mut owned).unwrap(), text);
    assert_eq!(Vec::<u8>::decode(&mut owned).unwrap(), [7; 1000]);
    let mut lent = decoder;
    assert_eq!(<&str>::decode(&mut lent).unwrap(), text);
    assert_eq!(<&[u8]>::decode(&mut lent).unwrap(), [7; 1000]);
    assert_eq!(lent.decoded(), 2000, "octets are lent from the message");
}

#[test]
fn an_encapsulation_has_its_own_alignment() {
    let mut octets = Vec::new();
    let mut encoder = Encoder::new(&mut octets, Endian::Big);
    1_u8.encode(&mut encoder).unwrap();
    encode_encapsulation(&mut encoder, |inner| 10922_i16.encode(inner)).unwrap();
    assert_eq!(octets, [1, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0x2a, 0xaa]);
    let mut decoder = Decoder::new(&octets, Endian::Big).at(4);
    let inner = <&[u8]>::decode(&mut decoder).unwrap();
    let mut inner = decode_encapsulation(&decoder, inner).unwrap();
    assert_eq!(i16::decode(&mut inner).unwrap(), 10922);
}

struct Bound;

impl FromIor for Bound {
    fn from_ior(_: Ior, _: &Decoder<'_>) -> Result<Self, CdrError> {
        Ok(Self)
    }
}

#[test]
fn the_memory_of_a_reference_grows_with_its_addresses() {
    let reference = |size| Ior {
        type_id: String::new(),
        profiles: vec![TaggedProfile {
            tag: 0,
            data: vec![0; size],
        }],
    };
    let memory = |size| {
        let mut octets = Vec::new();
        let mut encoder = Encoder::new(&mut octets, Endian::NATIVE);
        reference(size).encode(&mut encoder).unwrap();
        let mut decoder = Decoder::new(&octets, Endian::NATIVE);
        Option::<Bound>::decode(&mut decoder).unwrap().unwrap();
        decoder.decoded()
    };
    assert!(memory(8) >= 1 << 10);
    // 256 alternate addresses of 12 octets.
    assert!(memory(256 * 12) >= 256 * 280, "{}", memory(256 * 12));
}
