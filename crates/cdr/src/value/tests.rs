//! Golden octets, sharing, truncation, and hostile values.

mod circles;

use alloc::{string::String, vec, vec::Vec};
use core::any::{Any, TypeId};

use super::*;
use crate::{CdrError, CdrErrorKind, Decode, Decoder, Encode, Encoder, Endian, ValueFactory, ValueTag};

#[derive(Clone, Debug, Default)]
struct Node {
    id: i32,
    next: Option<Shared<Node>>,
}

#[derive(Clone, Debug, Default)]
struct Special {
    base: Node,
    text: String,
    weight: f64,
    other: Option<Shared<Node>>,
}

macro_rules! value {
    ($type:ty, $id:literal, $ids:expr, $chunked:expr, [$($factory:ty),*],
     |$self:ident, $wanted:ident| $base:expr, [$($member:ident),*]) => {
        impl ValueType for $type {
            const REPOSITORY_ID: &'static str = $id;

            fn factories() -> &'static [ValueFactory] {
                static ALL: &[ValueFactory] = &[$(ValueFactory {
                    id: <$factory as ValueType>::REPOSITORY_ID,
                    bases: &[],
                    decode: |decoder| ValueFactory::decode::<$factory>(decoder),
                }),*];
                ALL
            }
        }

        impl ValueObject for $type {
            fn ids(&self) -> &'static [&'static str] {
                static IDS: &[&str] = &$ids;
                IDS
            }

            fn is_chunked(&self) -> bool {
                $chunked
            }

            fn encode_state(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
                self.encode(encoder)
            }

            fn part(&self, $wanted: TypeId) -> Option<&dyn Any> {
                let $self = self;
                if $wanted == TypeId::of::<Self>() { Some(self) } else { $base }
            }
        }

        impl Encode for $type {
            fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
                $(self.$member.encode(encoder)?;)*
                Ok(())
            }
        }

        impl<'a> Decode<'a> for $type {
            const MIN_SIZE: usize = 0;

            fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
                Ok(Self { $($member: Decode::decode(decoder)?),* })
            }
        }
    };
}

value!(
    Node,
    "IDL:N:1.0",
    ["IDL:N:1.0"],
    false,
    [Node, Special],
    |_value, wanted| None,
    [id, next]
);
value!(
    Special,
    "IDL:S:1.0",
    ["IDL:S:1.0", "IDL:N:1.0"],
    true,
    [Special],
    |value, wanted| value.base.part(wanted),
    [base, text, weight, other]
);
impl Inherits<Node> for Special {}

/// Knowledge of receivers that have not heard of `Special`.
#[derive(Clone, Debug, Default)]
struct Plain {
    id: i32,
    next: Option<Shared<Node>>,
}

value!(
    Plain,
    "IDL:N:1.0",
    ["IDL:N:1.0"],
    false,
    [Plain],
    |_value, wanted| None,
    [id, next]
);

fn node(id: i32, next: Option<Shared<Node>>) -> Shared<Node> {
    Shared::new(Node { id, next })
}

fn special(id: i32, other: Option<Shared<Node>>) -> Shared<Special> {
    Shared::new(Special {
        base: Node {
            id,
            next: Some(node(id + 1, None)),
        },
        text: String::from("abc"),
        weight: 0.5,
        other,
    })
}

fn encoded(value: &impl Encode, endian: Endian) -> Vec<u8> {
    let mut octets = Vec::new();
    value.encode(&mut Encoder::new(&mut octets, endian)).unwrap();
    octets
}

fn decoded<T: for<'a> Decode<'a>>(octets: &[u8], endian: Endian) -> Result<T, CdrError> {
    let mut decoder = Decoder::new(octets, endian);
    let value = T::decode(&mut decoder)?;
    assert_eq!(decoder.remaining(), 0, "everything was read");
    Ok(value)
}

fn refused<T: for<'a> Decode<'a>>(octets: &[u8]) -> CdrErrorKind {
    match T::decode(&mut Decoder::new(octets, Endian::Big)) {
        Ok(_) => panic!("it was accepted"),
        Err(error) => error.kind,
    }
}

#[test]
fn a_value_has_a_tag_its_id_and_its_state() {
    let octets = encoded(&Some(node(7, None)), Endian::Big);
    let short = [0x7f, 0xff, 0xff, 0, 0, 0, 0, 7, 0, 0, 0, 0];
    assert_eq!(octets, short, "of the declared type, it needs no id");
    let with_id = [
        &[0x7f, 0xff, 0xff, 0x02, 0, 0, 0, 10][..],
        b"IDL:N:1.0\0\0\0",
        &[0, 0, 0, 7, 0, 0, 0, 0],
    ];
    let octets = with_id.concat();
    let back: Option<Shared<Node>> = decoded(&octets, Endian::Big).unwrap();
    assert_eq!(back.unwrap().id, 7);
    assert_eq!(
        decoded::<Option<Shared<Node>>>(&short, Endian::Big)
            .unwrap()
            .unwrap()
            .id,
        7
    );
    assert!(
        decoded::<Option<Shared<Node>>>(&[0; 4], Endian::Big)
            .unwrap()
            .is_none()
    );
}

#[test]
fn a_truncatable_value_is_in_chunks() {
    let value: Option<Shared<Node>> = Some(special(1, None).widen());
    let octets = encoded(&value, Endian::Big);
    let expected: &[&[u8]] = &[
        &[0x7f, 0xff, 0xff, 0x0e, 0, 0, 0, 2, 0, 0, 0, 10],
        b"IDL:S:1.0\0\0\0",
        &[0, 0, 0, 10],
        b"IDL:N:1.0\0\0\0",
        // A chunk with the id; the nested value; its chunk and end.
        &[0, 0, 0, 4, 0, 0, 0, 1, 0x7f, 0xff, 0xff, 0x08],
        &[0, 0, 0, 8, 0, 0, 0, 2, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xfe],
        // A chunk with text, weight and null; the end.
        &[0, 0, 0, 20, 0, 0, 0, 4, b'a', b'b', b'c', 0],
        &[0x3f, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff],
    ];
    let expected = expected.concat();
    assert_eq!(octets.len(), expected.len(), "{octets:?}");
    for endian in [Endian::Big, Endian::Little] {
        let back: Option<Shared<Node>> = decoded(&encoded(&value, endian), endian).unwrap();
        let back = back.unwrap().narrow::<Special>().expect("it is a Special");
        assert_eq!((back.base.id, &*back.text, back.weight), (1, "abc", 0.5));
        assert_eq!(back.base.next.as_ref().unwrap().id, 2);
        assert!(back.other.is_none());
    }
    assert_eq!(octets, expected);
}

#[test]
fn a_value_of_an_unknown_type_is_truncated() {
    let far: Shared<Node> = special(5, Some(special(8, Some(node(10, None))).widen())).widen();
    let octets = encoded(&(Some(far), 77_i32), Endian::Big);
    let mut decoder = Decoder::new(&octets, Endian::Big);
    let base = Option::<Shared<Plain>>::decode(&mut decoder).unwrap().unwrap();
    assert_eq!((base.id, base.next.as_ref().unwrap().id), (5, 6));
    assert_eq!(i32::decode(&mut decoder).unwrap(), 77, "what follows is found");
    assert_eq!(base.repository_id(), "IDL:N:1.0");
}

#[test]
fn shared_values_stay_shared_in_a_message() {
    let last = node(3, None);
    let values = (
        Some(node(1, Some(last.clone()))),
        vec![Some(last.clone()), None, Some(last)],
    );
    for endian in [Endian::Big, Endian::Little] {
        let octets = encoded(&values, endian);
        let mut decoder = Decoder::new(&octets, endian);
        let first = Option::<Shared<Node>>::decode(&mut decoder).unwrap().unwrap();
        let list = Vec::<Option<Shared<Node>>>::decode(&mut decoder).unwrap();
        assert_eq!((&list[0], &list[1], &list[2]), (&first.next, &None, &first.next));
        assert_eq!(first.next.as_ref().unwrap().id, 3);
    }
    // In chunks as well.
    let common = node(9, None);
    let outer = special(1, Some(common.clone()));
    let octets = encoded(&(Some(outer), Some(common)), Endian::Little);
    let mut decoder = Decoder::new(&octets, Endian::Little);
    let outer = Option::<Shared<Special>>::decode(&mut decoder).unwrap().unwrap();
    assert_eq!(Option::<Shared<Node>>::decode(&mut decoder).unwrap(), outer.other);
}

/// As a custom value type may make them. Their memory is used again.
#[test]
fn values_that_exist_while_they_are_encoded_only_are_different_ones() {
    let mut octets = Vec::new();
    let mut encoder = Encoder::new(&mut octets, Endian::Big);
    for id in 0..100 {
        Some(node(id, None)).encode(&mut encoder).unwrap();
    }
    let mut decoder = Decoder::new(&octets, Endian::Big);
    for id in 0..100 {
        let value = Option::<Shared<Node>>::decode(&mut decoder).unwrap();
        assert_eq!(value.unwrap().id, id);
    }
}

#[test]
fn ids_that_exist_while_they_are_encoded_only_are_different_ones() {
    let mut octets = Vec::new();
    let mut encoder = Encoder::new(&mut octets, Endian::Big);
    let id = |number: i32| alloc::format!("IDL:{number:03}:1.0");
    for number in 0..100 {
        let id = id(number / 2);
        encoder.value(None, &[&id], false, |_, _| Ok(())).unwrap();
    }
    let mut decoder = Decoder::new(&octets, Endian::Big);
    for number in 0..100 {
        let ValueTag::Value(header) = decoder.value_tag().unwrap() else {
            panic!("a value")
        };
        assert_eq!(header.ids, [id(number / 2).as_bytes()]);
    }
}

#[test]
fn data_may_be_split_between_chunks() {
    // The text is in two chunks, and the weight begins a third one.
    let octets: &[&[u8]] = &[
        &[0x7f, 0xff, 0xff, 0x0a, 0, 0, 0, 10],
        b"IDL:S:1.0\0\0\0",
        &[0, 0, 0, 14, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 4, b'a', b'b', 0, 0],
        &[0, 0, 0, 2, b'c', 0, 0, 0],
        &[0, 0, 0, 12, 0, 0, 0, 0, 0x3f, 0xe0, 0, 0, 0, 0, 0, 0],
        &[0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff],
    ];
    let octets = octets.concat();
    let arena = crate::Arena::new();
    let mut decoder = Decoder::new(&octets, Endian::Big).with_arena(&arena);
    let value = Option::<Shared<Special>>::decode(&mut decoder).unwrap().unwrap();
    assert_eq!((&*value.text, value.weight, decoder.remaining()), ("abc", 0.5, 0));
}

/// The form that omniORB sends.
#[test]
fn padding_may_belong_to_a_chunk_and_one_tag_may_end_all_values() {
    let octets: &[&[u8]] = &[
        &[
            8, 0xff, 0xff, 0x7f, 12, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, b'n', b'2', 0, 0xe8,
        ],
        &[
            8, 0xff, 0xff, 0x7f, 11, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, b'n', b'1', 0, 0,
        ],
        &[4, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff],
    ];
    let back: Option<Shared<Text>> = decoded(&octets.concat(), Endian::Little).unwrap();
    let back = back.unwrap();
    assert_eq!((back.id, &*back.text), (2, "n2"));
    let next = back.next.as_ref().unwrap();
    assert_eq!((next.id, &*next.text, next.next.is_none()), (1, "n1", true));
}

#[derive(Clone, Debug, Default)]
struct Text {
    id: i32,
    text: String,
    next: Option<Shared<Text>>,
}

value!(
    Text,
    "IDL:T:1.0",
    ["IDL:T:1.0"],
    false,
    [Text],
    |_value, wanted| None,
    [id, text, next]
);

#[test]
fn circles_are_refused() {
    let octets: &[&[u8]] = &[
        &[0x7f, 0xff, 0xff, 0, 0, 0, 0, 7],
        &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf4],
    ];
    assert_eq!(
        refused::<Option<Shared<Node>>>(&octets.concat()),
        CdrErrorKind::ValueCyclic
    );
}

#[test]
fn indirections_lead_to_values_of_the_type_only() {
    for offset in [0_i32, 4, -4, -1, -8, -13, 1000, i32::MIN, i32::MAX] {
        let octets = [
            &[0x7f, 0xff, 0xff, 0, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff][..],
            &offset.to_be_bytes(),
        ];
        assert_eq!(
            refused::<Option<Shared<Node>>>(&octets.concat()),
            CdrErrorKind::ValueMalformed,
            "{offset}"
        );
    }
    // Of ids and lists, too.
    for tag in [2, 6, 3] {
        let octets = [
            0x7f, 0xff, 0xff, tag, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00,
        ];
        assert_eq!(
            refused::<Option<Shared<Node>>>(&octets),
            CdrErrorKind::ValueMalformed
        );
    }
    // To a node where a special one is expected.
    let octets = encoded(&(Some(node(1, None)), u32::MAX, -16_i32), Endian::Big);
    let mut decoder = Decoder::new(&octets, Endian::Big);
    Option::<Shared<Node>>::decode(&mut decoder).unwrap();
    let error = Option::<Shared<Special>>::decode(&mut decoder).unwrap_err();
    assert_eq!(error.kind, CdrErrorKind::ValueTypeUnknown);
}

#[test]
fn unknown_types_are_refused_without_chunks() {
    let octets = [
        &[0x7f, 0xff, 0xff, 0x02, 0, 0, 0, 10][..],
        b"IDL:X:1.0\0\0\0",
        &[0, 0, 0, 7, 0, 0, 0, 0],
    ];
    let octets = octets.concat();
    assert_eq!(
        refused::<Option<Shared<Node>>>(&octets),
        CdrErrorKind::ValueTypeUnknown
    );
    let octets = encoded(&Some(special(7, None).widen::<Node>()), Endian::Big);
    assert_eq!(
        refused::<Option<Shared<Only>>>(&octets),
        CdrErrorKind::ValueTypeUnknown
    );
}

#[derive(Clone, Debug, Default)]
struct Only {
    id: i32,
}

value!(
    Only,
    "IDL:O:1.0",
    ["IDL:O:1.0"],
    false,
    [Only],
    |_value, wanted| None,
    [id]
);

#[test]
fn false_lengths_and_tags_are_refused() {
    let value: Shared<Node> = special(1, Some(special(5, None).widen())).widen();
    let octets = encoded(&Some(value), Endian::Big);
    for at in (0..octets.len()).step_by(4) {
        for number in [
            0_u32,
            1,
            3,
            5,
            0x7fff_fefe,
            0x7fff_ff00,
            0x7fff_ff0a,
            0x8000_0000,
            u32::MAX,
            u32::MAX - 9,
        ] {
            let mut changed = octets.clone();
            changed[at..at + 4].copy_from_slice(&number.to_be_bytes());
            let arena = crate::Arena::new();
            let mut decoder = Decoder::new(&changed, Endian::Big).with_arena(&arena);
            // Neither panics nor loops; what is accepted can be sent.
            if let Ok(Some(value)) = Option::<Shared<Node>>::decode(&mut decoder) {
                encoded(&Some(value), Endian::Big);
            }
            let _ = Option::<Shared<Plain>>::decode(&mut Decoder::new(&changed, Endian::Big));
        }
        let _ = Option::<Shared<Plain>>::decode(&mut Decoder::new(&octets[..at], Endian::Big));
        assert_eq!(
            refused::<Option<Shared<Node>>>(&octets[..at]),
            CdrErrorKind::Truncated,
            "{at}"
        );
    }
}

#[test]
fn nesting_is_bounded() {
    let mut last = node(0, None);
    for id in 1..63 {
        last = node(id, Some(last));
    }
    let deep = Some(last);
    decoded::<Option<Shared<Node>>>(&encoded(&deep, Endian::Big), Endian::Big).expect("63 levels");
    let mut octets = Vec::new();
    let deeper = Some(node(63, Some(node(64, deep))));
    let error = deeper
        .encode(&mut Encoder::new(&mut octets, Endian::Big))
        .unwrap_err();
    assert_eq!(error.kind, CdrErrorKind::NestingTooDeep);
    octets.clear();
    let mut raised = Encoder::new(&mut octets, Endian::Big).with_nesting_limit(65);
    deeper.encode(&mut raised).expect("within the raised limit");
    let mut decoder = Decoder::new(&octets, Endian::Big).with_nesting_limit(66);
    let first: Option<Shared<Node>> = Decode::decode(&mut decoder).expect("within the raised limit");
    let nodes = core::iter::successors(first.as_ref(), |node| node.next.as_ref());
    assert_eq!(nodes.count(), 65);
    let link = [0x7f, 0xff, 0xff, 0, 0, 0, 0, 7];
    assert_eq!(
        refused::<Option<Shared<Node>>>(&link.repeat(100)),
        CdrErrorKind::NestingTooDeep
    );
}

/// A sequence of so many nodes, each of which refers to the one before it: 16 octets for each link.
fn chain(links: u32) -> Vec<u8> {
    let first = [0x7fff_ff00, 0, 0];
    let others = (1..links).flat_map(|id| {
        [
            0x7fff_ff00,
            id,
            u32::MAX,
            if id == 1 { -24_i32 } else { -28 } as u32,
        ]
    });
    let numbers = core::iter::once(links).chain(first).chain(others);
    numbers.flat_map(u32::to_be_bytes).collect()
}

#[test]
fn values_that_refer_to_earlier_ones_are_nested() {
    let nodes: Vec<Option<Shared<Node>>> = decoded(&chain(63), Endian::Big).expect("63 levels");
    let last = nodes[62].as_ref().unwrap();
    assert!(nodes[61] == last.next && nodes[0].as_ref().unwrap().next.is_none());
    encoded(&nodes[62], Endian::Big);
    for links in [64, 300_000] {
        assert_eq!(
            refused::<Vec<Option<Shared<Node>>>>(&chain(links)),
            CdrErrorKind::NestingTooDeep
        );
    }
    // What is nested in a value before the reference counts as well: 40 and 30 levels.
    let mut octets = 2_u32.to_be_bytes().to_vec();
    for (levels, end) in [
        (40, [0; 8]),
        (30, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfd, 0xc8]),
    ] {
        octets.extend([0x7f, 0xff, 0xff, 0, 0, 0, 0, 7].repeat(levels));
        octets.extend(&end[..if levels == 40 { 4 } else { 8 }]);
    }
    assert_eq!(
        refused::<Vec<Option<Shared<Node>>>>(&octets),
        CdrErrorKind::NestingTooDeep
    );
}

/// Nodes with an id of so many octets, 63 times, before their own; all of them have the same list of ids.
fn with_ids(nodes: u32, id: usize) -> Vec<u8> {
    let mut octets = Vec::new();
    let mut encoder = Encoder::new(&mut octets, Endian::Big);
    let indirection = |encoder: &mut Encoder<'_>, target: usize| {
        u32::MAX.encode(encoder).unwrap();
        (target as i32 - encoder.position() as i32)
            .encode(encoder)
            .unwrap();
    };
    nodes.encode(&mut encoder).unwrap();
    for node in 0..nodes {
        0x7fff_ff0e_u32.encode(&mut encoder).unwrap();
        if node == 0 {
            (64_u32, &*"x".repeat(id)).encode(&mut encoder).unwrap();
            encoder.align(4).unwrap();
            (1..63).for_each(|_| indirection(&mut encoder, 12));
            "IDL:N:1.0".encode(&mut encoder).unwrap();
        } else {
            indirection(&mut encoder, 8);
        }
        (8_u32, node, 0_u32, -1_i32).encode(&mut encoder).unwrap();
    }
    octets
}

#[test]
fn repository_ids_have_a_limit_and_count_as_memory() {
    let nodes: Vec<Option<Shared<Node>>> = decoded(&with_ids(100, 1024), Endian::Big).unwrap();
    assert_eq!(nodes[99].as_ref().unwrap().id, 99);
    assert_eq!(
        refused::<Vec<Option<Shared<Node>>>>(&with_ids(1, 1025)),
        CdrErrorKind::ValueMalformed
    );
    // 2,000 values of 28 octets, and 128 MB of ids to look up.
    assert_eq!(
        refused::<Vec<Option<Shared<Node>>>>(&with_ids(2_000, 1024)),
        CdrErrorKind::DecodedTooLarge
    );
}

#[test]
fn many_small_values_count_as_memory() {
    let octets = [0, 0, 0, 100, 0]
        .iter()
        .copied()
        .take(4)
        .chain([0x7f, 0xff, 0xff, 0, 0, 0, 0, 7, 0, 0, 0, 0].repeat(100));
    let octets: Vec<u8> = octets.collect();
    let mut decoder = Decoder::new(&octets, Endian::Big).with_decoded_limit(10_000);
    let error = Vec::<Option<Shared<Node>>>::decode(&mut decoder).unwrap_err();
    assert_eq!(error.kind, CdrErrorKind::DecodedTooLarge);
}

#[test]
fn what_was_discarded_is_not_referred_to() {
    let value = Some(node(1, None));
    let mut octets = Vec::new();
    let mut encoder = Encoder::new(&mut octets, Endian::Big);
    encoder.length(4).unwrap();
    value.encode(&mut encoder).unwrap();
    encoder.truncate(4);
    value.encode(&mut encoder).unwrap();
    assert_eq!(octets[4..], encoded(&value, Endian::Big));
}
