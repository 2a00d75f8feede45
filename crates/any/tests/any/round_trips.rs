//! Random types and values, in both byte orders, at every alignment, in both code sets.

use proptest::prelude::*;
use punctual_any::{Any, AnyView, Kind, TypeCode, Value};
use punctual_cdr::{Arena, CharSet, Decode, Decoder, Encode, Encoder, Endian};

/// A random type with a value of it.
pub(crate) fn typed_value() -> impl Strategy<Value = (TypeCode, Value)> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(|value| (TypeCode::basic(Kind::Boolean), Value::Boolean(value))),
        any::<u8>().prop_map(|value| (TypeCode::basic(Kind::Octet), Value::Octet(value))),
        any::<i16>().prop_map(|value| (TypeCode::basic(Kind::Short), Value::Short(value))),
        any::<u32>().prop_map(|value| (TypeCode::basic(Kind::ULong), Value::ULong(value))),
        any::<i64>().prop_map(|value| (TypeCode::basic(Kind::LongLong), Value::LongLong(value))),
        any::<i32>().prop_map(|value| (TypeCode::basic(Kind::Double), Value::Double(value.into()))),
        "[a-zé]{0,9}".prop_map(|value| (TypeCode::string(9), Value::String(value))),
        (0_u32..3).prop_map(|ordinal| {
            let names = ["a", "b", "c"];
            let name = String::from(names[ordinal as usize]);
            (
                TypeCode::enumeration("IDL:E:1.0", "E", names),
                Value::Enum(ordinal, name),
            )
        }),
        prop::collection::vec(any::<u8>(), 0..9).prop_map(|octets| (
            TypeCode::sequence(TypeCode::basic(Kind::Octet), 0),
            Value::Octets(octets)
        )),
        Just((
            TypeCode::basic(Kind::TypeCode),
            Value::TypeCode(TypeCode::fixed(3, 1))
        )),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(structure),
            (inner.clone(), 0_usize..4).prop_map(|((code, value), count)| {
                let elements = match (&value, count) {
                    (Value::Octet(octet), _) => Value::Octets(vec![*octet; count]),
                    _ => Value::Sequence(vec![value; count]),
                };
                (TypeCode::sequence(code, 0), elements)
            }),
            (inner.clone(), 1_u32..4).prop_map(|((code, value), count)| {
                let elements = match &value {
                    Value::Octet(octet) => Value::Octets(vec![*octet; count as usize]),
                    _ => Value::Sequence(vec![value; count as usize]),
                };
                (TypeCode::array(code, count), elements)
            }),
            (inner.clone(), inner.clone(), -1_i16..3).prop_map(|(one, two, label)| choice(one, two, label)),
            inner
                .clone()
                .prop_map(|(code, value)| (TypeCode::alias("IDL:A:1.0", "A", code), value)),
            inner.prop_map(|(code, value)| {
                let any = Any::from_value(code, &value).unwrap();
                (TypeCode::basic(Kind::Any), Value::Any(any))
            }),
        ]
    })
}

fn structure(members: Vec<(TypeCode, Value)>) -> (TypeCode, Value) {
    let names: Vec<String> = (0..members.len()).map(|index| format!("m{index}")).collect();
    let codes = names.iter().zip(&members);
    let codes = codes.map(|(name, (code, _))| (name.as_str(), code.clone()));
    let code = TypeCode::structure("IDL:S:1.0", "S", codes);
    let values = names
        .iter()
        .cloned()
        .zip(members.into_iter().map(|(_, value)| value));
    (code, Value::Struct(values.collect()))
}

/// A union with a member for 0, a default member for the rest, and none for -1 if there is no default.
fn choice(one: (TypeCode, Value), two: (TypeCode, Value), label: i16) -> (TypeCode, Value) {
    let code = TypeCode::union(
        "IDL:U:1.0",
        "U",
        TypeCode::basic(Kind::Short),
        (label > 0).then_some(1),
        [(0, "one", one.0), (1, "two", two.0)],
    );
    let member = match label {
        0 => Some((String::from("one"), Box::new(one.1))),
        -1 => None,
        _ => Some((String::from("two"), Box::new(two.1))),
    };
    (code, Value::Union(Box::new(Value::Short(label)), member))
}

proptest! {
    #[test]
    fn what_is_sent_is_received(
        (code, value) in typed_value(),
        start in 0_usize..8,
        big in any::<bool>(),
        utf8 in any::<bool>(),
    ) {
        let any = Any::from_value(code.clone(), &value).unwrap();
        prop_assert_eq!(any.value().unwrap(), value.clone());
        let endian = if big { Endian::Big } else { Endian::Little };
        let char_set = if utf8 { CharSet::Utf8 } else { CharSet::Latin1 };
        let mut message = vec![0; start];
        let mut encoder = Encoder::resume(&mut message, endian).with_char_set(char_set);
        any.encode(&mut encoder).unwrap();
        0xdead_beef_u32.encode(&mut encoder).unwrap();

        let arena = Arena::new();
        let mut decoder = Decoder::new(&message, endian).with_char_set(char_set).with_arena(&arena).at(start);
        let lent = AnyView::decode(&mut decoder).unwrap();
        prop_assert_eq!(u32::decode(&mut decoder).unwrap(), 0xdead_beef, "all of it was read");
        prop_assert_eq!(lent.value().unwrap(), value.clone());
        prop_assert!(lent.type_code().equal(&code.view()));

        let owned = lent.to_owned();
        prop_assert_eq!(&owned, &any);
        prop_assert_eq!(owned.value().unwrap(), value.clone());

        // Forwarded from the message to another one.
        let mut forwarded = Vec::new();
        lent.encode(&mut Encoder::new(&mut forwarded, Endian::NATIVE).with_char_set(CharSet::Utf8)).unwrap();
        let mut decoder = Decoder::new(&forwarded, Endian::NATIVE).with_char_set(CharSet::Utf8);
        prop_assert_eq!(Any::decode(&mut decoder).unwrap().value().unwrap(), value);
    }

    #[test]
    fn changed_octets_are_an_error_or_another_value(
        (code, value) in typed_value(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut message = Vec::new();
        Any::from_value(code, &value).unwrap().encode(&mut Encoder::new(&mut message, Endian::Little)).ok();
        prop_assume!(!message.is_empty());
        for (place, octet) in changes {
            let place = place.index(message.len());
            message[place] = octet;
        }
        let decoder = Decoder::new(&message, Endian::Little);
        if let Ok(lent) = AnyView::decode(&mut decoder.clone()) {
            let _ = (lent.value(), lent.type_code().to_string(), lent == lent.clone());
            let _ = (lent.to_owned(), lent.type_code().to_owned(), lent.type_code().compact());
        }
    }
}
