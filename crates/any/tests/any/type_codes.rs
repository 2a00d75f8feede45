//! The encoded form of type codes, their parts, equality and equivalence.

use punctual_any::{Kind, TypeCode, TypeCodeView, Typed};
use punctual_cdr::{CdrErrorKind, Decode, Decoder, Encode, Encoder, Endian};

fn encoded(code: &TypeCode, endian: Endian) -> Vec<u8> {
    let mut octets = Vec::new();
    code.encode(&mut Encoder::new(&mut octets, endian)).unwrap();
    octets
}

fn decoded(octets: &[u8], endian: Endian) -> TypeCode {
    TypeCode::decode(&mut Decoder::new(octets, endian)).unwrap()
}

fn point() -> TypeCode {
    TypeCode::structure(
        "IDL:P:1.0",
        "P",
        [("x", TypeCode::basic(Kind::Long)), ("n", TypeCode::string(0))],
    )
}

fn node() -> TypeCode {
    let children = TypeCode::sequence(TypeCode::recursive("IDL:Node:1.0"), 0);
    TypeCode::structure("IDL:Node:1.0", "Node", [("children", children)])
}

#[test]
fn a_struct_is_an_encapsulation_of_its_members() {
    let octets = encoded(&point(), Endian::Little);
    #[rustfmt::skip]
    let expected = [
        15, 0, 0, 0, // struct
        60, 0, 0, 0, // length
        1, 0, 0, 0, // little-endian
        10, 0, 0, 0, b'I', b'D', b'L', b':', b'P', b':', b'1', b'.', b'0', 0, 0, 0,
        2, 0, 0, 0, b'P', 0, 0, 0,
        2, 0, 0, 0, // members
        2, 0, 0, 0, b'x', 0, 0, 0,
        3, 0, 0, 0, // long
        2, 0, 0, 0, b'n', 0, 0, 0,
        18, 0, 0, 0, 0, 0, 0, 0, // string
    ];
    assert_eq!(octets, expected);
    // What is in the encapsulation keeps its own byte order.
    let foreign = encoded(&point(), Endian::Big);
    assert_eq!(foreign[..8], [0, 0, 0, 15, 0, 0, 0, 60]);
    assert_eq!(foreign[8..], expected[8..]);
    assert_eq!(decoded(&foreign, Endian::Big), point());
}

#[test]
fn a_recursive_type_refers_to_the_type_code_around_it() {
    let octets = encoded(&node(), Endian::Little);
    let at = octets.windows(4).position(|four| four == [0xff; 4]).unwrap();
    let offset = i32::from_le_bytes(octets[at + 4..at + 8].try_into().unwrap());
    assert_eq!(
        offset,
        -(at as i32 + 4),
        "it counts from itself to the outermost kind"
    );
    let node = decoded(&octets, Endian::Little);
    let (name, children) = node.view().members().unwrap().next().unwrap().unwrap();
    assert_eq!(name, "children");
    let element = children.content().unwrap();
    assert_eq!(
        (element.kind().unwrap(), element.name().unwrap()),
        (Kind::Struct, "Node")
    );
    let alone = element.to_owned().unwrap();
    assert_eq!(alone, node);
    assert_eq!(alone.to_string(), "struct Node { sequence<Node> children; }");
}

#[test]
fn a_part_of_a_recursive_type_can_be_copied() {
    let node = node();
    let (_, children) = node.view().members().unwrap().next().unwrap().unwrap();
    let children = children.to_owned().unwrap();
    assert_eq!(children.to_string(), "sequence<Node>");
    assert!(children.view().content().unwrap().equal(&node.view()));
    let again = decoded(&encoded(&children, Endian::Big), Endian::Big);
    assert!(again.equivalent(&children));
}

#[test]
fn unions_have_labels_of_the_size_of_their_discriminator() {
    let choice = TypeCode::union(
        "IDL:Choice:1.0",
        "Choice",
        TypeCode::basic(Kind::LongLong),
        Some(1),
        [
            (-7, "number", TypeCode::basic(Kind::Short)),
            (0, "text", TypeCode::string(8)),
        ],
    );
    for endian in [Endian::Little, Endian::Big] {
        let octets = encoded(&choice, endian);
        assert_eq!(decoded(&octets, endian), choice);
    }
    assert!(choice.equivalent(&choice.view().to_owned().unwrap()));
    assert!(choice.view().compact().unwrap().equivalent(&choice));
}

#[test]
fn typedefs_do_not_matter_for_equivalence_but_for_equality() {
    let alias = TypeCode::alias("IDL:Q:1.0", "Q", point());
    assert!(alias.equivalent(&point()));
    assert_ne!(alias, point());
    let renamed = TypeCode::structure(
        "",
        "Other",
        [("a", TypeCode::basic(Kind::Long)), ("b", String::type_code())],
    );
    assert!(
        renamed.equivalent(&point()),
        "an empty repository id: the members decide"
    );
    let other = TypeCode::structure(
        "",
        "P",
        [("x", TypeCode::basic(Kind::ULong)), ("n", String::type_code())],
    );
    assert!(!other.equivalent(&point()));
    assert!(!TypeCode::sequence(point(), 3).equivalent(&TypeCode::sequence(point(), 0)));
}

#[test]
fn compact_type_codes_have_no_names() {
    let compact = point().view().compact().unwrap();
    assert_eq!(compact.view().name().unwrap(), "");
    assert_eq!(compact.view().id().unwrap(), "IDL:P:1.0");
    assert!(compact.equivalent(&point()));
    assert_eq!(compact.to_string(), "struct IDL:P:1.0 { long ; string ; }");
}

#[test]
fn every_kind_describes_itself() {
    let all = [
        (TypeCode::default(), "null"),
        (<()>::type_code(), "void"),
        (TypeCode::fixed(5, 2), "fixed<5, 2>"),
        (TypeCode::wide_string(3), "wstring<3>"),
        (<[[i16; 2]; 3]>::type_code(), "short[2][3]"),
        (TypeCode::interface("IDL:A:1.0", "A"), "interface A"),
        (TypeCode::enumeration("IDL:E:1.0", "E", ["a", "b"]), "enum E"),
        (TypeCode::exception("IDL:X:1.0", "X", []), "exception X { }"),
    ];
    for (code, text) in all {
        assert_eq!(code.to_string(), text);
        for endian in [Endian::Little, Endian::Big] {
            assert_eq!(decoded(&encoded(&code, endian), endian), code, "{text}");
        }
    }
}

#[test]
fn parts_that_a_kind_does_not_have_are_errors() {
    let long = TypeCode::basic(Kind::Long);
    let long: TypeCodeView<'_> = long.view();
    assert_eq!(long.id().unwrap_err().kind, CdrErrorKind::TypeCodeInvalid);
    assert_eq!(long.length().unwrap_err().kind, CdrErrorKind::TypeCodeInvalid);
    assert!(long.members().is_err() && long.content().is_err() && long.enumerators().is_err());
}
