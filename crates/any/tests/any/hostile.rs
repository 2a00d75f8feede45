//! Type codes and values that were made to exhaust memory, time or the stack.

use std::time::{Duration, Instant};

use punctual_any::{Any, AnyError, AnyView, Kind, TypeCode, TypeCodeView, Value, ValueModifier};
use punctual_cdr::{CdrErrorKind, Decode, Decoder, Encode, Encoder, Endian, WString};

/// An `any` of this type whose value has these octets.
fn message(code: &TypeCode, value: &[u8]) -> Vec<u8> {
    let mut octets = Vec::new();
    let mut encoder = Encoder::new(&mut octets, Endian::Little);
    code.encode(&mut encoder).unwrap();
    encoder.align(4).unwrap();
    octets.extend(value);
    octets
}

fn refused(octets: &[u8]) -> CdrErrorKind {
    let begin = Instant::now();
    let error = AnyView::decode(&mut Decoder::new(octets, Endian::Little)).unwrap_err();
    // Unbounded work takes years; the machine may stall for seconds.
    assert!(begin.elapsed() < Duration::from_secs(60), "bounded work");
    error.kind
}

/// A struct of structs, each with two members of the one before, the second by an indirection: 2^depth
/// values without an octet in a type code of 60 * depth octets.
fn explosion(depth: usize) -> Vec<u8> {
    let mut code = (Kind::Null as u32).to_le_bytes().to_vec();
    for _ in 0..depth {
        let mut octets = Vec::new();
        let mut encoder = Encoder::new(&mut octets, Endian::Little);
        (1_u8, ("", "S", 2_u32), "m").encode(&mut encoder).unwrap();
        encoder.align(4).unwrap();
        let first = encoder.position();
        encoder.octets(&code).unwrap();
        ("m", u32::MAX).encode(&mut encoder).unwrap();
        let back = first as i32 - encoder.position() as i32;
        back.encode(&mut encoder).unwrap();
        code = (Kind::Struct as u32).to_le_bytes().to_vec();
        code.extend((octets.len() as u32).to_le_bytes());
        code.extend(octets);
    }
    code
}

#[test]
fn values_without_octets_are_bounded() {
    assert_eq!(refused(&explosion(40)), CdrErrorKind::TypeCodeInvalid);
    let endless = TypeCode::array(TypeCode::structure("", "Empty", []), u32::MAX);
    assert_eq!(refused(&message(&endless, &[])), CdrErrorKind::TypeCodeInvalid);
    let nothing = TypeCode::sequence(TypeCode::basic(Kind::Void), 0);
    assert_eq!(
        refused(&message(&nothing, &[0xff; 4])),
        CdrErrorKind::TypeCodeInvalid
    );
}

#[test]
fn nesting_is_bounded() {
    let mut code = TypeCode::basic(Kind::Long);
    for _ in 0..80 {
        code = TypeCode::structure("", "S", [("m", code)]);
    }
    assert_eq!(refused(&message(&code, &[0; 4])), CdrErrorKind::NestingTooDeep);
    assert!(code.to_string().contains("struct"));
    let mut octets = message(&TypeCode::basic(Kind::Long), &[0; 4]);
    for _ in 0..80 {
        let mut around = message(&TypeCode::basic(Kind::Any), &[]);
        around.append(&mut octets);
        octets = around;
    }
    assert_eq!(refused(&octets), CdrErrorKind::NestingTooDeep);
}

#[test]
fn a_type_that_contains_itself_without_a_sequence_ends() {
    let node = TypeCode::structure("IDL:N:1.0", "N", [("next", TypeCode::recursive("IDL:N:1.0"))]);
    assert_eq!(refused(&message(&node, &[0; 64])), CdrErrorKind::NestingTooDeep);
    let alias = TypeCode::alias("IDL:A:1.0", "A", TypeCode::recursive("IDL:A:1.0"));
    assert!(alias.view().resolved().is_err());
    assert!(alias.equivalent(&alias) && !alias.equivalent(&node));
    assert_eq!(
        node.view().compact().unwrap().to_string(),
        "struct IDL:N:1.0 { IDL:N:1.0 ; }"
    );
}

#[test]
fn indirections_that_point_elsewhere_are_refused() {
    let node = TypeCode::structure(
        "IDL:N:1.0",
        "N",
        [("m", TypeCode::sequence(TypeCode::recursive("IDL:N:1.0"), 0))],
    );
    let mut octets = Vec::new();
    node.encode(&mut Encoder::new(&mut octets, Endian::Little))
        .unwrap();
    let at = octets.windows(4).position(|four| four == [0xff; 4]).unwrap() + 4;
    for offset in [0_i32, 4, -4, -1, -5, i32::MIN, i32::MAX, -(at as i32) - 4] {
        let mut changed = octets.clone();
        changed[at..at + 4].copy_from_slice(&offset.to_le_bytes());
        let code = TypeCodeView::decode(&mut Decoder::new(&changed, Endian::Little)).unwrap();
        let (_, member) = code.members().unwrap().next().unwrap().unwrap();
        assert!(member.content().is_err(), "{offset}");
    }
}

#[test]
fn impossible_counts_are_refused_before_memory_is_reserved() {
    let text = TypeCode::sequence(TypeCode::string(0), 0);
    let error = AnyView::decode(&mut Decoder::new(&message(&text, &[0xff; 4]), Endian::Little)).unwrap_err();
    assert_eq!(error.kind, CdrErrorKind::Truncated);
    // A small message whose tree would be large.
    let flags = TypeCode::sequence(TypeCode::basic(Kind::Boolean), 0);
    let mut value = 100_000_u32.to_le_bytes().to_vec();
    value.resize(100_004, 1);
    let octets = message(&flags, &value);
    let mut decoder = Decoder::new(&octets, Endian::Little).with_decoded_limit(1 << 20);
    let lent = AnyView::decode(&mut decoder).unwrap();
    assert!(lent.value().unwrap_err().to_string().contains("max_decoded_size"));
    assert_eq!(lent.get::<Vec<bool>>().unwrap().len(), 100_000);
}

#[test]
fn the_bound_of_a_sequence_holds() {
    let bounded = TypeCode::sequence(TypeCode::basic(Kind::Octet), 3);
    assert_eq!(
        refused(&message(&bounded, &[4, 0, 0, 0, 1, 2, 3, 4])),
        CdrErrorKind::BoundExceeded
    );
    assert_eq!(
        refused(&message(&TypeCode::enumeration("", "E", ["a"]), &[1, 0, 0, 0])),
        CdrErrorKind::EnumOutOfRange
    );
    assert_eq!(refused(&[99, 0, 0, 0]), CdrErrorKind::TypeCodeInvalid);
    assert_eq!(
        refused(&message(&TypeCode::basic(Kind::WChar), &[1; 4])),
        CdrErrorKind::TextInvalid
    );
}

/// A union with this many labels, and a sequence of 100,000 of them that select the last.
fn labelled(labels: u32) -> Vec<u8> {
    let members = (0..labels).map(|label| (i128::from(label), "m", TypeCode::basic(Kind::ULong)));
    let union = TypeCode::union("", "U", TypeCode::basic(Kind::ULong), None, members);
    let value = vec![(labels - 1, 7_u32); 100_000];
    let mut octets = Vec::new();
    let mut encoder = Encoder::new(&mut octets, Endian::Little);
    TypeCode::sequence(union, 0).encode(&mut encoder).unwrap();
    value.encode(&mut encoder).unwrap();
    octets
}

#[test]
fn reading_labels_counts_as_work() {
    assert_eq!(refused(&labelled(10_000)), CdrErrorKind::DecodedTooLarge);
    AnyView::decode(&mut Decoder::new(&labelled(8), Endian::Little)).expect("8 labels are few");
}

#[test]
fn passing_over_values_reads_no_names() {
    // A name of 1 MB that is not text: reading it would find this.
    let name = "n".repeat(1 << 20);
    let one = TypeCode::structure("", &name, [(&*name, TypeCode::basic(Kind::Octet))]);
    let union = TypeCode::union(
        &name,
        &name,
        TypeCode::basic(Kind::Octet),
        None,
        [(1, &*name, TypeCode::basic(Kind::Octet))],
    );
    for code in [one, union] {
        let mut octets = message(&TypeCode::sequence(code, 0), &10_000_u32.to_le_bytes());
        octets
            .iter_mut()
            .filter(|octet| **octet == b'n')
            .for_each(|octet| *octet = 0xff);
        octets.resize(octets.len() + 20_000, 1);
        let lent = AnyView::decode(&mut Decoder::new(&octets, Endian::Little)).expect("names are not read");
        assert!(lent.value().is_err(), "here they are");
    }
}

#[test]
fn trees_and_copies_do_not_repeat_long_names() {
    let name = "n".repeat(1 << 20);
    let one = TypeCode::structure("", "S", [(&*name, TypeCode::basic(Kind::Octet))]);
    let mut octets = message(&TypeCode::sequence(one, 0), &10_000_u32.to_le_bytes());
    octets.resize(octets.len() + 10_000, 1);
    let lent = AnyView::decode(&mut Decoder::new(&octets, Endian::Little)).unwrap();
    let error = lent.value().unwrap_err();
    assert!(
        error.to_string().contains("max_decoded_size"),
        "10 GB of names: {error}"
    );
}

#[test]
fn each_any_of_many_pays_for_its_own_work() {
    let nothing = TypeCode::array(TypeCode::basic(Kind::Null), 100_000);
    let mut octets = message(&nothing, &[]);
    assert_eq!(refused(&octets), CdrErrorKind::TypeCodeInvalid);
    octets.resize(1 << 20, 0);
    // The octets behind it are those of others.
    assert_eq!(refused(&octets), CdrErrorKind::TypeCodeInvalid);
}

#[test]
fn a_discriminator_that_is_not_discrete_is_refused() {
    for kind in [Kind::String, Kind::Double, Kind::Any, Kind::Null] {
        let mut parameters = vec![1, 0, 0, 0];
        let mut encoder = Encoder::resume(&mut parameters, Endian::Little);
        ("", "").encode(&mut encoder).unwrap();
        TypeCode::basic(kind).encode(&mut encoder).unwrap();
        (-1_i32, 0_u32).encode(&mut encoder).unwrap();
        let mut octets = (Kind::Union as u32).to_le_bytes().to_vec();
        octets.extend((parameters.len() as u32).to_le_bytes());
        octets.extend(parameters);
        let union = TypeCodeView::decode(&mut Decoder::new(&octets, Endian::Little)).unwrap();
        assert!(union.compact().is_err(), "{kind:?}");
    }
}

/// An `any` with a sequence of nodes, each of which refers to the one before it.
fn chain(links: u32) -> Vec<u8> {
    let members = [
        ("id", TypeCode::basic(Kind::Long), true),
        ("next", TypeCode::recursive("IDL:N:1.0"), true),
    ];
    let node = TypeCode::value("IDL:N:1.0", "N", ValueModifier::None, None, members);
    let first = [links, 0x7fff_ff00, 0, 0];
    let others = (1..links).flat_map(|id| {
        [
            0x7fff_ff00,
            id,
            u32::MAX,
            if id == 1 { -24_i32 } else { -28 } as u32,
        ]
    });
    let value: Vec<u8> = first
        .into_iter()
        .chain(others)
        .flat_map(u32::to_le_bytes)
        .collect();
    message(&TypeCode::sequence(node, 0), &value)
}

#[test]
fn values_that_refer_to_earlier_ones_are_nested() {
    let octets = chain(63);
    let lent = AnyView::decode(&mut Decoder::new(&octets, Endian::Little)).unwrap();
    let Value::Sequence(nodes) = lent.value().expect("63 levels") else {
        panic!("a sequence");
    };
    assert_eq!(nodes[62].seek("next"), Some(&nodes[61]));
    for links in [64, 100_000] {
        let octets = chain(links);
        let lent = AnyView::decode(&mut Decoder::new(&octets, Endian::Little)).unwrap();
        let error = lent.value().unwrap_err();
        assert!(error.to_string().contains("max_nesting"), "{error}");
    }
}

#[test]
fn the_text_of_a_type_is_bounded() {
    // Members whose types are all the same enum, by indirections: 200 MB of names.
    let name = "n".repeat(100_000);
    let mut octets = Vec::new();
    let mut encoder = Encoder::new(&mut octets, Endian::Little);
    (1_u8, ("", "S", 2_001_u32), "m").encode(&mut encoder).unwrap();
    encoder.align(4).unwrap();
    let first = encoder.position();
    TypeCode::enumeration("", &name, ["a"])
        .encode(&mut encoder)
        .unwrap();
    for _ in 0..2_000 {
        ("m", u32::MAX).encode(&mut encoder).unwrap();
        let back = first as i32 - encoder.position() as i32;
        back.encode(&mut encoder).unwrap();
    }
    let mut code = (Kind::Struct as u32).to_le_bytes().to_vec();
    code.extend((octets.len() as u32).to_le_bytes());
    code.extend(octets);
    let code = TypeCodeView::decode(&mut Decoder::new(&code, Endian::Little)).unwrap();
    let text = code.to_string();
    assert!(text.starts_with("struct S { nnn") && text.ends_with("nnn..."));
    assert_eq!(text.len(), 1024 + 3);
}

#[test]
fn the_work_of_a_large_message_counts_as_memory() {
    // In 8 MB, a million sequences of one element whose type is behind 40 typedefs; or of none.
    let octet = || TypeCode::basic(Kind::Octet);
    let behind = (0..40).fold(octet(), |code, _| TypeCode::alias("", "", code));
    let elements = TypeCode::sequence(TypeCode::sequence(behind, 0), 0);
    let sequences = |count: u32, length: u32| {
        let one = [length, 0];
        let numbers = core::iter::once(count).chain(one.repeat(count as usize));
        message(
            &elements,
            &numbers.flat_map(u32::to_le_bytes).collect::<Vec<u8>>(),
        )
    };
    assert_eq!(refused(&sequences(1_000_000, 1)), CdrErrorKind::DecodedTooLarge);
    assert_eq!(refused(&sequences(1_000_000, 0)), CdrErrorKind::DecodedTooLarge);
    let few = sequences(10_000, 1);
    AnyView::decode(&mut Decoder::new(&few, Endian::Little)).expect("in a small one");
    // The same work counts when it is done in several values of a message.
    let octets = few.repeat(100);
    let mut decoder = Decoder::new(&octets, Endian::Little);
    let many = (0..100).find_map(|_| AnyView::decode(&mut decoder).err());
    assert_eq!(many.map(|error| error.kind), Some(CdrErrorKind::DecodedTooLarge));
}

/// Repository ids of a value that no message of this ORB could contain.
#[test]
fn ids_that_cannot_be_copied_are_refused() {
    let code = TypeCode::value(
        "IDL:N:1.0",
        "N",
        ValueModifier::None,
        None,
        [("id", TypeCode::basic(Kind::Long), true)],
    );
    for id in [[0xff, 0], [0, 0]] {
        for endian in [Endian::Big, Endian::Little] {
            let mut octets = Vec::new();
            let mut encoder = Encoder::new(&mut octets, endian);
            (&code, 0x7fff_ff06_u32, 2_u32, "IDL:N:1.0", "x")
                .encode(&mut encoder)
                .unwrap();
            let at = encoder.position() - 2;
            7_i32.encode(&mut encoder).unwrap();
            octets[at..at + 2].copy_from_slice(&id);
            let refused = AnyView::decode(&mut Decoder::new(&octets, endian)).map(|any| any.to_owned());
            assert_eq!(refused.unwrap_err().kind, CdrErrorKind::ValueMalformed, "{id:?}");
        }
    }
}

/// A value that is passed over needs no more memory when it is copied.
#[test]
fn wide_text_at_the_limit_can_be_copied() {
    const LIMIT: usize = 10_000;
    let text = <WString>::from("größer");
    for endian in [Endian::Big, Endian::Little] {
        let mut octets = Vec::new();
        let mut encoder = Encoder::new(&mut octets, endian);
        (TypeCode::wide_string(0), &text).encode(&mut encoder).unwrap();
        for left in 0..200 {
            let mut decoder = Decoder::new(&octets, endian).with_decoded_limit(LIMIT);
            decoder.reserve(LIMIT - left).unwrap();
            let Ok(lent) = AnyView::decode(&mut decoder) else {
                continue;
            };
            let owned = lent.to_owned();
            assert_eq!(
                owned.value(),
                Ok(Value::WString(String::from("größer"))),
                "{left}"
            );
        }
    }
}

/// A struct whose first member has this type, to which its other members refer.
fn referring(first: &TypeCode, members: u32) -> Vec<u8> {
    let mut octets = Vec::new();
    let mut encoder = Encoder::new(&mut octets, Endian::Little);
    (1_u8, ("", "S", members), "m").encode(&mut encoder).unwrap();
    encoder.align(4).unwrap();
    let at = encoder.position();
    first.encode(&mut encoder).unwrap();
    for _ in 1..members {
        ("m", u32::MAX).encode(&mut encoder).unwrap();
        let back = at as i32 - encoder.position() as i32;
        back.encode(&mut encoder).unwrap();
    }
    let mut code = (Kind::Struct as u32).to_le_bytes().to_vec();
    code.extend((octets.len() as u32).to_le_bytes());
    code.extend(octets);
    code
}

#[test]
fn copies_of_many_enumerators_are_bounded() {
    let many = TypeCode::enumeration("", "E", vec![""; 20_000]);
    let octets = referring(&many, 500);
    let code = TypeCodeView::decode(&mut Decoder::new(&octets, Endian::Little)).unwrap();
    let error = code.compact().map(drop).unwrap_err();
    assert_eq!(error.kind, CdrErrorKind::NestingTooDeep, "80 MB of 160 KB");
    let (_, first) = code.members().unwrap().next().unwrap().unwrap();
    assert_eq!(first.to_owned().unwrap(), many);
}

/// Members that refer to the struct that they are in.
#[test]
fn copies_of_many_recursive_members_are_bounded() {
    let itself = || TypeCode::recursive("IDL:S:1.0");
    let many = TypeCode::structure("IDL:S:1.0", "S", (0..2_000).map(|_| ("", itself())));
    let octets = referring(&many, 500);
    let code = TypeCodeView::decode(&mut Decoder::new(&octets, Endian::Little)).unwrap();
    let error = code.compact().map(drop).unwrap_err();
    assert_eq!(error.kind, CdrErrorKind::NestingTooDeep, "a million members");
}

/// The base of a value type is the value type itself.
#[test]
fn bases_in_a_circle_are_refused() {
    let mut octets = Vec::new();
    let mut encoder = Encoder::new(&mut octets, Endian::Little);
    (1_u8, ("IDL:V:1.0", "V"), 0_i16, u32::MAX)
        .encode(&mut encoder)
        .unwrap();
    let back = -8 - encoder.position() as i32;
    (back, 1_u32, "m", Kind::Long as u32, 0_i16)
        .encode(&mut encoder)
        .unwrap();
    let mut code = (Kind::Value as u32).to_le_bytes().to_vec();
    code.extend((octets.len() as u32).to_le_bytes());
    code.extend(octets);
    let code = TypeCodeView::decode(&mut Decoder::new(&code, Endian::Little)).unwrap();
    assert_eq!(code.state().unwrap_err().kind, CdrErrorKind::TypeCodeInvalid);
}

#[test]
fn initial_values_pass_over_a_bounded_number_of_enumerators() {
    let many = TypeCode::enumeration("", "E", vec![""; 100_000]);
    let member = [(99_999, "m", TypeCode::basic(Kind::Octet))];
    let union = TypeCode::union("", "U", many, None, member);
    assert!(Value::initial(&union).is_ok());
    let octets = TypeCode::array(TypeCode::basic(Kind::Octet), (64 << 20) - 50_000);
    let both = TypeCode::structure("", "S", [("o", octets), ("u", union)]);
    let error = Value::initial(&both).map(drop).unwrap_err();
    assert!(error.to_string().contains("max_decoded_size"), "{error}");
}

#[test]
fn the_bounds_of_strings_hold() {
    for (code, text) in [
        (TypeCode::string(3), "abcd"),
        (TypeCode::string(3), "größ"),
        (TypeCode::sequence(TypeCode::string(3), 0), "abcd"),
    ] {
        let mut octets = Vec::new();
        let mut encoder = Encoder::new(&mut octets, Endian::Little);
        code.encode(&mut encoder).unwrap();
        if code.kind() == Ok(Kind::Sequence) {
            1_u32.encode(&mut encoder).unwrap();
        }
        text.encode(&mut encoder).unwrap();
        assert_eq!(refused(&octets), CdrErrorKind::BoundExceeded, "{text}");
    }
    let mut octets = Vec::new();
    let mut encoder = Encoder::new(&mut octets, Endian::Little);
    let wide = (TypeCode::wide_string(3), <WString>::from("größ"));
    wide.encode(&mut encoder).unwrap();
    assert_eq!(refused(&octets), CdrErrorKind::BoundExceeded);
    let too_long = Any::with_type_code(TypeCode::string(3), &"abcd");
    assert_eq!(too_long, Err(AnyError::NotOfType(Kind::String)));
    for text in ["", "abc", "grö"] {
        assert!(Any::with_type_code(TypeCode::string(3), &text).is_ok(), "{text}");
        let text = <WString>::from(text);
        assert!(Any::with_type_code(TypeCode::wide_string(3), &text).is_ok());
    }
    assert!(Any::with_type_code(TypeCode::wide_string(3), &wide.1).is_err());
}

/// Names that are not text: reading one would find this.
#[test]
fn comparing_types_reads_no_names() {
    let code = |name: &str| {
        let long = || TypeCode::basic(Kind::Long);
        let structure = TypeCode::structure("", name, [(name, long())]);
        let union = TypeCode::union("", name, long(), None, [(1, name, structure)]);
        let state = [(name, union, true)];
        TypeCode::value("", name, ValueModifier::None, None, state)
    };
    let changed = |from: u8| {
        let mut octets = Vec::new();
        let code = code(&char::from(from).to_string().repeat(100));
        code.encode(&mut Encoder::new(&mut octets, Endian::Little))
            .unwrap();
        for octet in octets.iter_mut().filter(|octet| **octet == from) {
            *octet |= 0x80;
        }
        octets
    };
    let (one, two) = (changed(b'n'), changed(b'o'));
    let view = |octets| TypeCodeView::decode(&mut Decoder::new(octets, Endian::Little)).unwrap();
    assert!(view(&one).equivalent(&view(&two)), "names do not matter");
    assert!(!view(&one).equal(&view(&two)), "here they do");
}

/// Long names in both, of another byte order.
#[test]
fn large_types_are_equal() {
    let names: Vec<String> = (0..2_000).map(|index| format!("{index:0>1000}")).collect();
    let code = TypeCode::structure(
        "",
        "S",
        names.iter().map(|name| (&**name, TypeCode::basic(Kind::Long))),
    );
    let mut octets = Vec::new();
    code.encode(&mut Encoder::new(&mut octets, Endian::Big)).unwrap();
    let other = TypeCodeView::decode(&mut Decoder::new(&octets, Endian::Big)).unwrap();
    assert!(other.equal(&code.view()));
    // The same names again and again are work.
    let name = "n".repeat(100_000);
    let one = TypeCode::structure("", &name, [("m", TypeCode::basic(Kind::Long))]);
    let octets = referring(&one, 2_000);
    let mut shifted = octets.clone();
    shifted[12] = 1;
    let view = |octets| TypeCodeView::decode(&mut Decoder::new(octets, Endian::Little)).unwrap();
    assert!(!view(&octets).equal(&view(&shifted)), "200 MB of names");
}

/// The octets of a value that begins like a message of GIOP 1.1 or 1.0, whose wide text has another form.
#[test]
fn a_value_that_looks_like_a_message_is_none() {
    let octets = TypeCode::array(TypeCode::basic(Kind::Octet), 8);
    let code = TypeCode::structure("", "S", [("o", octets), ("w", TypeCode::wide_string(0))]);
    for header in [b"GIOP\x01\x01\x01\0", b"GIOP\x01\0\x01\0", b"GIOP\x01\0\x01\x01"] {
        let value = Value::Struct(vec![
            (String::from("o"), Value::Octets(header.to_vec())),
            (String::from("w"), Value::WString(String::from("größer"))),
        ]);
        let any = Any::from_value(code.clone(), &value).unwrap();
        assert_eq!(any.value().as_ref(), Ok(&value));
        for endian in [Endian::Big, Endian::Little] {
            let mut octets = Vec::new();
            let mut encoder = Encoder::new(&mut octets, endian);
            any.encode(&mut encoder).unwrap();
            let received = Any::decode(&mut Decoder::new(&octets, endian)).unwrap();
            assert_eq!(received.value().as_ref(), Ok(&value));
            assert_eq!(received, any);
        }
    }
}
