//! Trees of values that are built from type codes and changed.

use proptest::prelude::*;
use punctual_any::{Any, AnyError, Kind, TypeCode, Value};
use punctual_cdr::CdrErrorKind;

use crate::round_trips::typed_value;

proptest! {
    #[test]
    fn initial_values_are_of_their_type((code, _) in typed_value()) {
        let initial = Value::initial(&code).unwrap();
        let any = Any::from_value(code, &initial).unwrap();
        prop_assert_eq!(any.value().unwrap(), initial);
    }
}

fn colour() -> TypeCode {
    TypeCode::enumeration("IDL:Colour:1.0", "Colour", ["red", "green"])
}

fn track() -> TypeCode {
    let shape = [
        (9, "rest", TypeCode::basic(Kind::Any)),
        (1, "paint", colour()),
        (0, "size", TypeCode::array(TypeCode::basic(Kind::Octet), 3)),
    ];
    let shape = TypeCode::union("IDL:Shape:1.0", "Shape", colour(), Some(0), shape);
    let members = [
        ("name", TypeCode::string(4)),
        ("shape", TypeCode::alias("IDL:Form:1.0", "Form", shape)),
        ("heights", TypeCode::sequence(TypeCode::basic(Kind::Double), 2)),
    ];
    TypeCode::structure("IDL:Track:1.0", "Track", members)
}

#[test]
fn a_tree_is_changed_by_path_and_becomes_an_any() {
    let mut tree = Value::initial(&track()).unwrap();
    *tree.seek_mut("name").unwrap() = "a".into();
    let paint = Value::enumerator(&colour(), "green").unwrap();
    assert_eq!(
        tree.seek("shape.0"),
        Some(&paint),
        "the first member with a label"
    );
    let Some(Value::Sequence(heights)) = tree.seek_mut("heights") else {
        panic!("a sequence");
    };
    heights.extend([Value::Double(1.5), Value::Double(2.5)]);
    *tree.seek_mut("heights.1").unwrap() = 3.5.into();
    let any = Any::from_value(track(), &tree).unwrap();
    let read = any.value().unwrap();
    assert_eq!(read.seek("heights.1"), Some(&Value::Double(3.5)));
    assert_eq!(read.seek("shape.paint"), read.component(1).unwrap().component(1));
    for absent in [
        "",
        "height",
        "heights.2",
        "name.0",
        "shape.size",
        "shape.2",
        "shape.0.0",
    ] {
        assert_eq!(read.seek(absent), None, "{absent}");
    }
}

#[test]
fn a_tree_that_is_no_longer_of_its_type_is_refused() {
    let mut tree = Value::initial(&track()).unwrap();
    *tree.seek_mut("heights").unwrap() = 3_i32.into();
    let error = Any::from_value(track(), &tree).unwrap_err();
    assert_eq!(error, AnyError::NotOfType(Kind::Sequence));
}

#[test]
fn a_discriminator_selects_the_member() {
    let code = track();
    let (_, form) = code.view().members().unwrap().nth(1).unwrap().unwrap();
    let form = form.to_owned().unwrap();
    let red = Value::enumerator(&colour(), "red").unwrap();
    let union = Value::union(&form, red).unwrap();
    assert_eq!(union.seek("size"), Some(&Value::Octets(vec![0; 3])));
    assert!(Value::union(&form, 0_u32.into()).is_err(), "no enum");
    assert!(Value::union(&colour(), 0_u32.into()).is_err(), "no union");
    assert!(Value::enumerator(&colour(), "blue").is_err());
}

#[test]
fn type_codes_of_few_octets_do_not_exhaust_memory() {
    let refused = |code: &TypeCode| match Value::initial(code) {
        Err(AnyError::Malformed(error)) => error.kind,
        other => panic!("{other:?}"),
    };
    let mut code = TypeCode::array(TypeCode::basic(Kind::Octet), u32::MAX);
    assert_eq!(refused(&code), CdrErrorKind::DecodedTooLarge);
    code = TypeCode::structure("IDL:Empty:1.0", "Empty", []);
    for _ in 0..4 {
        code = TypeCode::array(code, u32::MAX);
    }
    assert_eq!(refused(&code), CdrErrorKind::DecodedTooLarge);
    for _ in 0..60 {
        code = TypeCode::sequence(code, 0);
    }
    assert!(Value::initial(&code).is_ok(), "an empty sequence");
    for _ in 0..70 {
        code = TypeCode::array(code, 1);
    }
    assert_eq!(refused(&code), CdrErrorKind::NestingTooDeep);
}

#[test]
fn an_abstract_interface_is_nil_at_first() {
    let code = TypeCode::abstract_interface("IDL:Shown:1.0", "Shown");
    let any = Any::from_value(code.clone(), &Value::initial(&code).unwrap()).unwrap();
    assert_eq!(any.value().unwrap(), Value::None);
}
