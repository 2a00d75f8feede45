//! Values of derived types under the type code of their base.

use punctual_any::{Any, AnyView, DynValue, Kind, TypeCode, Value, ValueModifier};
use punctual_cdr::{Arena, CdrErrorKind, CharSet, Decode, Decoder, Encode, Encoder, Endian, ValueTag};

const BOTH: [Endian; 2] = [Endian::Big, Endian::Little];

pub fn node() -> TypeCode {
    let members = [
        ("id", TypeCode::basic(Kind::Long), true),
        ("next", TypeCode::recursive("IDL:Node:1.0"), false),
    ];
    TypeCode::value("IDL:Node:1.0", "Node", ValueModifier::None, None, members)
}

/// With a member that is aligned at eight octets.
fn special() -> TypeCode {
    let members = [
        ("height", TypeCode::basic(Kind::Double), true),
        ("more", TypeCode::recursive("IDL:Special:1.0"), true),
    ];
    let modifier = ValueModifier::Truncatable;
    TypeCode::value("IDL:Special:1.0", "Special", modifier, Some(node()), members)
}

fn of_special(height: f64, next: Value, more: Value) -> Value {
    let members = [
        ("id", 5.into()),
        ("next", next),
        ("height", height.into()),
        ("more", more),
    ];
    let members = members.map(|(name, value)| (name.to_owned(), value));
    DynValue::new(members.into())
        .truncatable_to(vec!["IDL:Node:1.0".into()])
        .into()
}

/// A value with another one of its type in it, whose repository ids are those of the first.
fn two_specials() -> Value {
    let inner = of_special(2.5, Value::None, Value::None);
    of_special(1.5, Value::None, inner)
}

/// Encodes the value alone, at an offset.
pub fn encoded(any: &Any, offset: usize, endian: Endian) -> Vec<u8> {
    let mut octets = vec![0; offset];
    let mut encoder = Encoder::resume(&mut octets, endian).with_char_set(CharSet::Utf8);
    any.view().encode_value(&mut encoder).unwrap();
    octets
}

pub fn decoded(of: &TypeCode, octets: &[u8], offset: usize, endian: Endian) -> Any {
    let mut decoder = Decoder::new(octets, endian)
        .with_char_set(CharSet::Utf8)
        .at(offset);
    let any = Any::decode_value(of, &mut decoder).unwrap();
    assert_eq!(decoder.remaining(), 0);
    any
}

/// The heights of the outer and the inner value; none of one that was truncated.
fn heights(octets: &[u8], offset: usize, endian: Endian) -> [Option<f64>; 2] {
    let tree = decoded(&special_or_node(octets), octets, offset, endian)
        .value()
        .unwrap();
    ["height", "more.height"].map(|path| match tree.seek(path) {
        Some(Value::Double(height)) => Some(*height),
        _ => None,
    })
}

/// The type that the value claims to have.
fn special_or_node(octets: &[u8]) -> TypeCode {
    let wanted = b"IDL:Special:1.0";
    let found = octets.windows(wanted.len()).any(|window| window == wanted);
    if found { special() } else { node() }
}

#[test]
fn they_pass_on_whole_at_any_alignment() {
    let any = Any::from_value(special(), &two_specials()).unwrap();
    for endian in BOTH {
        for from in (0..8).map(|words| words * 4) {
            let octets = encoded(&any, from, endian);
            let received = decoded(&node(), &octets, from, endian);
            let tree = received.value().unwrap();
            assert_eq!((tree.seek("id"), tree.seek("height")), (Some(&5.into()), None));
            for to in (0..8).map(|words| words * 4) {
                let again = encoded(&received, to, endian);
                assert_eq!(
                    heights(&again, to, endian),
                    [Some(1.5), Some(2.5)],
                    "from {from} to {to}, {endian:?}"
                );
            }
        }
    }
}

/// The numbers in an unknown state, and their sizes, are not known.
#[test]
fn they_are_truncated_for_the_other_byte_order() {
    let any = Any::from_value(special(), &two_specials()).unwrap();
    for (from, to) in [(Endian::Big, Endian::Little), (Endian::Little, Endian::Big)] {
        let received = decoded(&node(), &encoded(&any, 4, from), 4, from);
        let again = encoded(&received, 0, to);
        let last = decoded(&node(), &again, 0, to).value().unwrap();
        assert_eq!((last.seek("id"), last.seek("height")), (Some(&5.into()), None));
        assert_eq!(
            special_or_node(&again),
            node(),
            "it no longer claims to be derived"
        );
    }
}

/// Inside of an `any` in an `any`, of a sequence, and behind octets.
#[test]
fn they_pass_on_inside_of_other_values() {
    let pair = |value: TypeCode| {
        let members = [
            ("flag", TypeCode::basic(Kind::Octet)),
            ("values", TypeCode::sequence(value, 0)),
            ("last", TypeCode::basic(Kind::Double)),
        ];
        TypeCode::structure("IDL:Pair:1.0", "Pair", members)
    };
    let members = [
        ("flag", Value::Octet(1)),
        ("values", Value::Sequence(vec![two_specials(), two_specials()])),
        ("last", 7.5.into()),
    ];
    let tree = Value::Struct(members.map(|(name, value)| (name.to_owned(), value)).into());
    let whole = Any::from_value(pair(special()), &tree).unwrap();
    for (endian, from, to) in [
        (Endian::Big, 0, 4),
        (Endian::Little, 4, 0),
        (Endian::NATIVE, 4, 0),
    ] {
        let received = decoded(&pair(node()), &encoded(&whole, from, endian), from, endian);
        let again = encoded(&received, to, endian);
        let last = decoded(&pair(special()), &again, to, endian).value().unwrap();
        for path in ["values.0.more.height", "values.1.more.height"] {
            assert_eq!(last.seek(path), Some(&2.5.into()), "{path}");
        }
        assert_eq!(last.seek("last"), Some(&7.5.into()));
        if endian != Endian::NATIVE {
            continue;
        }
        let mut nested = Vec::new();
        let mut encoder = Encoder::new(&mut nested, endian).with_char_set(CharSet::Utf8);
        Any::new(&received).unwrap().encode(&mut encoder).unwrap();
        let mut decoder = Decoder::new(&nested, endian).with_char_set(CharSet::Utf8);
        let inner: Any = Any::decode(&mut decoder).unwrap().get().unwrap();
        assert_eq!(encoded(&inner, to, endian), again);
    }
}

/// The second `any` of a message has the repository ids of the first, as has a value in it.
#[test]
fn repository_ids_before_the_any_go_with_the_value() {
    for endian in BOTH {
        let mut octets = Vec::new();
        let mut encoder = Encoder::new(&mut octets, endian).with_char_set(CharSet::Utf8);
        let ids = ["IDL:Special:1.0", "IDL:Node:1.0"];
        for height in [1.5, 2.5] {
            node().encode(&mut encoder).unwrap();
            let state = |encoder: &mut Encoder<'_>, _| {
                7_i32.encode(encoder)?;
                let last = |encoder: &mut Encoder<'_>, _| (8_i32, 0_u32).encode(encoder);
                encoder.value(None, &ids[1..], false, last)?;
                (height, 0_u32).encode(encoder)
            };
            encoder.value(None, &ids, true, state).unwrap();
        }
        let arena = Arena::new();
        let mut decoder = Decoder::new(&octets, endian)
            .with_char_set(CharSet::Utf8)
            .with_arena(&arena);
        let first = AnyView::decode(&mut decoder).unwrap();
        let second = AnyView::decode(&mut decoder).unwrap();
        for (any, height) in [(first, 1.5), (second, 2.5)] {
            for to in [0, 4] {
                let again = encoded(&any.to_owned(), to, endian);
                assert_eq!(heights(&again, to, endian), [Some(height), None]);
            }
        }
    }
}

/// In its chunks, values are nested one level deeper than outside.
#[test]
fn they_pass_through_the_state_of_another_value() {
    let any = Any::from_value(special(), &two_specials()).unwrap();
    let received = decoded(&node(), &encoded(&any, 4, Endian::NATIVE), 4, Endian::NATIVE);
    let outer = [
        ("any", TypeCode::basic(Kind::Any), true),
        ("last", TypeCode::basic(Kind::Octet), true),
    ];
    let outer = TypeCode::value("IDL:Outer:1.0", "Outer", ValueModifier::Truncatable, None, outer);
    for offset in [0, 4] {
        let back = through_a_state(&outer, Vec::new(), received.clone(), offset);
        let again = encoded(&back, 4, Endian::NATIVE);
        assert_eq!(heights(&again, 4, Endian::NATIVE), [Some(1.5), Some(2.5)]);
    }
}

/// It has no chunks on its own.
#[test]
fn an_any_has_chunks_in_the_state_of_another_value() {
    let plain = DynValue::new(vec![("id".into(), 3.into()), ("next".into(), Value::None)]);
    let mut octets = Vec::new();
    let mut encoder = Encoder::new(&mut octets, Endian::NATIVE).with_char_set(CharSet::Utf8);
    Any::from_value(node(), &plain.into())
        .unwrap()
        .encode(&mut encoder)
        .unwrap();
    let mut decoder = Decoder::new(&octets, Endian::NATIVE).with_char_set(CharSet::Utf8);
    let received = Any::decode(&mut decoder).unwrap();
    let outer = [
        ("text", TypeCode::string(0), true),
        ("any", TypeCode::basic(Kind::Any), true),
        ("last", TypeCode::basic(Kind::Octet), true),
    ];
    let outer = TypeCode::value("IDL:Outer:1.0", "Outer", ValueModifier::Truncatable, None, outer);
    for length in [0, 4] {
        let text = vec![("text".to_owned(), Value::String("x".repeat(length)))];
        let back = through_a_state(&outer, text, received.clone(), 0);
        assert_eq!(back.value().unwrap().seek("id"), Some(&3.into()));
    }
}

/// Sends it as a member of a chunked value.
fn through_a_state(outer: &TypeCode, mut members: Vec<(String, Value)>, any: Any, offset: usize) -> Any {
    members.extend([
        ("any".to_owned(), Value::Any(any)),
        ("last".to_owned(), Value::Octet(9)),
    ]);
    let value = DynValue::new(members).truncatable_to(vec!["IDL:None:1.0".into()]);
    let octets = encoded(
        &Any::from_value(outer.clone(), &value.into()).unwrap(),
        offset,
        Endian::NATIVE,
    );
    let arena = Arena::new();
    let decoder = Decoder::new(&octets, Endian::NATIVE).with_char_set(CharSet::Utf8);
    let mut decoder = decoder.with_arena(&arena).at(offset);
    let back = AnyView::decode_value(outer, &mut decoder).unwrap();
    let back = back.value().unwrap();
    assert_eq!(back.seek("last"), Some(&Value::Octet(9)));
    match back.seek("any") {
        Some(Value::Any(inner)) => inner.clone(),
        _ => panic!("{back:?}"),
    }
}

/// Where a state refers to a value before it, only its type knows: it does so at the same distance, which is
/// another one where the alignment is.
#[test]
fn values_that_may_refer_out_of_an_unknown_state_need_their_alignment() {
    let first = of_special(1.5, Value::None, Value::None);
    let second = of_special(2.5, Value::None, first.clone());
    let both = Value::Sequence(vec![first, second]);
    let any = Any::from_value(TypeCode::sequence(special(), 0), &both).unwrap();
    for from in [0, 4] {
        let octets = encoded(&any, from, Endian::NATIVE);
        let received = decoded(&TypeCode::sequence(node(), 0), &octets, from, Endian::NATIVE);
        for to in [0, 4] {
            let again = encoded(&received, to, Endian::NATIVE);
            let code = TypeCode::sequence(special(), 0);
            let as_sent = decoded(&code, &again, to, Endian::NATIVE).value();
            assert_eq!(
                as_sent.is_ok(),
                from == to,
                "the second is no longer derived: {as_sent:?}"
            );
            let nodes = decoded(&TypeCode::sequence(node(), 0), &again, to, Endian::NATIVE);
            assert_eq!(nodes.value().unwrap().seek("1.id"), Some(&5.into()));
        }
    }
}

/// They can be neither copied part by part nor truncated: they are refused in every message of the other byte
/// order, and in no other one.
#[test]
fn custom_values_pass_on_in_their_byte_order() {
    let custom = TypeCode::value("IDL:C:1.0", "C", ValueModifier::Custom, None, []);
    for endian in BOTH {
        for (from, ids) in [
            (0, &[][..]),
            (4, &["IDL:C:1.0"][..]),
            (4, &["IDL:D:1.0", "IDL:C:1.0"][..]),
        ] {
            let mut octets = vec![0; from];
            let mut encoder = Encoder::resume(&mut octets, endian);
            let state = |encoder: &mut Encoder<'_>, _| 1.5_f64.encode(encoder);
            encoder.value(None, ids, true, state).unwrap();
            let received = decoded(&custom, &octets, from, endian);
            for to in [0, 4] {
                let again = encoded(&received, to, endian);
                let mut decoder = Decoder::new(&again, endian).at(to);
                let ValueTag::Value(header) = decoder.value_tag().unwrap() else {
                    panic!("a value")
                };
                assert!(
                    header
                        .ids
                        .iter()
                        .map(|id| id.len())
                        .eq(ids.iter().map(|id| id.len()))
                        || ids.is_empty()
                );
                assert_eq!(
                    decoder.value_state(&header, false, f64::decode),
                    Ok(1.5),
                    "{from} to {to}"
                );
                let other = BOTH[usize::from(endian == Endian::Big)];
                let mut refused = Vec::new();
                let mut encoder = Encoder::new(&mut refused, other);
                let refused = received.view().encode_value(&mut encoder).unwrap_err();
                assert_eq!(refused.kind, CdrErrorKind::TypeUnsupported);
            }
        }
    }
}
