//! Values of value types as trees.

use punctual_any::{Any, AnyError, AnyView, DynValue, TypeCode, Value, ValueModifier};
use punctual_cdr::{Arena, CdrError, CdrErrorKind, Decode, Decoder, Encode, Encoder, Endian, ValueTag};

use crate::derived::{decoded, encoded, node};

fn label() -> TypeCode {
    TypeCode::value_box("IDL:Label:1.0", "Label", TypeCode::string(0))
}

fn special() -> TypeCode {
    let members = [("tag", label(), true)];
    let modifier = ValueModifier::Truncatable;
    TypeCode::value("IDL:Special:1.0", "Special", modifier, Some(node()), members)
}

fn nodes(values: &[Value]) -> (TypeCode, Value) {
    let code = TypeCode::sequence(node(), 0);
    (code, Value::Sequence(values.to_vec()))
}

fn of_node(id: i32, next: Value) -> DynValue {
    DynValue::new(vec![("id".into(), id.into()), ("next".into(), next)])
}

/// Encodes and decodes it in the other byte order.
fn passed_on(any: &Any) -> Any {
    let endian = match Endian::NATIVE {
        Endian::Big => Endian::Little,
        Endian::Little => Endian::Big,
    };
    let mut octets = Vec::new();
    any.encode(&mut Encoder::new(&mut octets, endian)).unwrap();
    Any::decode(&mut Decoder::new(&octets, endian)).unwrap()
}

#[test]
fn states_have_the_members_of_all_bases() {
    let tag = DynValue::new(vec![("value".into(), "red".into())]);
    let of_special = [
        ("id".into(), 5.into()),
        ("next".into(), of_node(6, Value::None).into()),
        ("tag".into(), tag.into()),
    ];
    let any = Any::from_value(special(), &DynValue::new(of_special.to_vec()).into()).unwrap();
    for any in [&any, &passed_on(&any)] {
        let tree = any.value().unwrap();
        assert_eq!(tree.seek("id"), Some(&Value::Long(5)));
        assert_eq!(tree.seek("next.id"), Some(&Value::Long(6)));
        assert_eq!(tree.seek("next.next"), Some(&Value::None));
        assert_eq!(tree.seek("tag.value"), Some(&"red".into()));
        assert_eq!(
            format!("{tree:?}"),
            r#"ValueType(DynValue("id", "next", "tag"))"#,
            "of bounded length"
        );
    }
    let initial = Value::initial(&special()).unwrap();
    assert_eq!(initial, Value::None);
    let null = Any::from_value(special(), &initial).unwrap();
    assert_eq!(null.value(), Ok(Value::None));
}

#[test]
fn a_value_in_several_places_stays_one() {
    let last = Value::from(of_node(1, Value::None));
    let before = Value::from(of_node(2, last.clone()));
    let (code, tree) = nodes(&[last.clone(), before, Value::None, last]);
    let any = passed_on(&Any::from_value(code.clone(), &tree).unwrap());
    let mut tree = any.value().unwrap();
    assert_eq!(tree.seek("0"), tree.seek("3"));
    assert_eq!(tree.seek("0"), tree.seek("1.next"));
    assert_ne!(tree.seek("0"), tree.seek("1"));
    assert_eq!(tree.seek("2"), Some(&Value::None));
    assert_eq!(tree.seek_mut("0.id"), None, "it is elsewhere, too");
    *tree.seek_mut("1.id").expect("it is nowhere else") = 9.into();
    let changed = Any::from_value(code, &tree).unwrap().value().unwrap();
    assert_eq!(changed.seek("1.id"), Some(&Value::Long(9)));
    assert_eq!(changed.seek("0"), changed.seek("1.next"));
}

/// A small message would otherwise describe a tree of any size.
#[test]
fn many_paths_to_few_values_cost_little() {
    let pair = [
        ("left", TypeCode::recursive("IDL:Pair:1.0"), true),
        ("right", TypeCode::recursive("IDL:Pair:1.0"), true),
    ];
    let pair = TypeCode::value("IDL:Pair:1.0", "Pair", ValueModifier::None, None, pair);
    let both = |value: Value| DynValue::new(vec![("left".into(), value.clone()), ("right".into(), value)]);
    let tree = (0..60).fold(Value::None, |inner, _| both(inner).into());
    let any = Any::from_value(pair, &tree).unwrap();
    let tree = any.value().unwrap();
    assert_eq!(tree.seek("left"), tree.seek("right"));
    assert!(format!("{tree:?} {any:?}").len() < 200);
}

#[test]
fn derived_values_are_truncated_if_they_may_be() {
    let bases = vec!["IDL:Node:1.0".to_owned()];
    let tag = DynValue::new(vec![("value".into(), "red".into())]);
    let members = vec![
        ("id".into(), 5.into()),
        ("next".into(), Value::None),
        ("tag".into(), tag.into()),
    ];
    let derived = |bases| {
        Any::from_value(
            special(),
            &DynValue::new(members.clone()).truncatable_to(bases).into(),
        )
    };
    let whole = derived(bases).unwrap();
    let as_node = decoded(&node(), &encoded(&whole, 0, Endian::NATIVE), 0, Endian::NATIVE);
    let Value::ValueType(truncated) = as_node.value().unwrap() else {
        panic!("{as_node:?}")
    };
    let names: Vec<_> = truncated.members().iter().map(|(name, _)| &name[..]).collect();
    assert_eq!((names, truncated.bases().len()), (vec!["id", "next"], 0));
}

#[test]
fn wrong_trees_are_refused() {
    let custom = TypeCode::value("IDL:C:1.0", "C", ValueModifier::Custom, None, []);
    let rows = [
        (node(), DynValue::new(Vec::new()).into()),
        (node(), of_node(1, 7.into()).into()),
        (node(), Value::Long(1)),
        (label(), DynValue::new(vec![("value".into(), 7.into())]).into()),
        (TypeCode::string(0), of_node(1, Value::None).into()),
    ];
    for (code, tree) in rows {
        let refused = Any::from_value(code, &tree);
        assert!(matches!(refused, Err(AnyError::NotOfType(_))), "{refused:?}");
    }
    let refused = Any::from_value(custom, &DynValue::new(Vec::new()).into());
    let unsupported = |error: &AnyError| match error {
        AnyError::Malformed(error) => error.kind == CdrErrorKind::TypeUnsupported,
        _ => false,
    };
    assert!(refused.as_ref().is_err_and(unsupported), "{refused:?}");
}

/// A node whose `next` is itself.
#[test]
fn circles_are_refused() {
    let mut octets = Vec::new();
    let mut encoder = Encoder::new(&mut octets, Endian::NATIVE);
    for word in [0x7fff_ff00_u32, 1, 0xffff_ffff, (-12_i32) as u32] {
        word.encode(&mut encoder).unwrap();
    }
    let any = Any::decode_value(&node(), &mut Decoder::new(&octets, Endian::NATIVE)).unwrap();
    match any.value() {
        Err(AnyError::Malformed(error)) => assert_eq!(error.kind, CdrErrorKind::ValueCyclic),
        other => panic!("{other:?}"),
    }
}

/// Their memory is used again.
#[test]
fn values_of_anys_that_exist_while_they_are_encoded_only_are_different_ones() {
    for endian in [Endian::Big, Endian::Little] {
        let mut octets = Vec::new();
        let mut encoder = Encoder::new(&mut octets, endian);
        encoder.octets(&[0; 4]).unwrap();
        for id in 0..100 {
            let any = Any::from_value(node(), &of_node(id, Value::None).into()).unwrap();
            any.encode(&mut encoder).unwrap();
            any.encode(&mut encoder).unwrap();
        }
        let mut decoder = Decoder::new(&octets, endian).at(4);
        for id in 0..200 {
            let any = Any::decode(&mut decoder).unwrap();
            assert_eq!(any.value().unwrap().seek("id"), Some(&Value::Long(id / 2)));
        }
    }
}

/// In a chunked value, between other members.
#[test]
fn anys_may_be_split_between_chunks() {
    let point = TypeCode::structure("IDL:P:1.0", "P", [("x", TypeCode::string(0))]);
    for code in [TypeCode::string(0), point] {
        let mut any = Vec::new();
        let mut encoder = Encoder::new(&mut any, Endian::Big);
        (&code, "abc").encode(&mut encoder).unwrap();
        for split in (4..any.len()).step_by(4) {
            let mut octets = Vec::new();
            let mut encoder = Encoder::new(&mut octets, Endian::Big);
            (0x7fff_ff0a_u32, "IDL:C:1.0").encode(&mut encoder).unwrap();
            for chunk in [&any[..split], &any[split..]] {
                chunk.encode(&mut encoder).unwrap();
            }
            (-1_i32).encode(&mut encoder).unwrap();
            let arena = Arena::new();
            let decoder = Decoder::new(&octets, Endian::Big).with_arena(&arena);
            let owned = of_state(decoder.clone(), Any::decode);
            let lent = of_state(decoder, AnyView::decode);
            for any in [owned, lent.to_owned()] {
                assert_eq!(any.type_code(), &code, "split at {split}");
                let value = any.value().unwrap();
                let text = value.seek("x").unwrap_or(&value);
                assert_eq!(text, &"abc".into(), "split at {split}");
            }
            assert_eq!(lent.value(), lent.to_owned().value());
        }
    }
}

/// Reads the state of the value at the decoder's position.
fn of_state<'a, T>(
    mut decoder: Decoder<'a>,
    read: impl FnOnce(&mut Decoder<'a>) -> Result<T, CdrError>,
) -> T {
    let ValueTag::Value(header) = decoder.value_tag().unwrap() else {
        panic!("a value")
    };
    decoder.value_state(&header, false, read).unwrap()
}
