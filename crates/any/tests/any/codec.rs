//! Values in encapsulations outside messages.

use proptest::prelude::*;
use punctual_any::{Any, AnyError, Codec, Kind, TypeCode, Value};
use punctual_cdr::{CdrErrorKind, CharSet};

use crate::round_trips::typed_value;

proptest! {
    #[test]
    fn any_value_survives_with_its_type_and_without_it((code, value) in typed_value()) {
        let codec = Codec::with_char_set(CharSet::Utf8);
        let any = Any::from_value(code, &value).unwrap();
        prop_assert_eq!(&codec.decode(&codec.encode(&any).unwrap()).unwrap(), &any);
        let octets = codec.encode_value(&any).unwrap();
        prop_assert_eq!(&codec.decode_value(&octets, any.type_code()).unwrap(), &any);
    }

    #[test]
    fn arbitrary_octets_do_no_harm(octets in prop::collection::vec(any::<u8>(), 0..80)) {
        let _ = Codec::default().decode(&octets);
    }
}

/// As in CORBA 3.3 part 2, 9.3.3: byte order, then alignment from the start of the encapsulation.
#[test]
fn both_byte_orders_are_read() {
    let codec = Codec::default();
    let little = [1, 0, 0, 0, 3, 0, 0, 0, 5, 0, 0, 0];
    let big = [0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 5];
    assert_eq!(codec.decode(&little).unwrap().get::<i32>().unwrap(), 5);
    assert_eq!(codec.decode(&big).unwrap().get::<i32>().unwrap(), 5);
    let long = TypeCode::basic(Kind::Long);
    let error = codec.decode_value(&[], &long).unwrap_err();
    assert!(matches!(error, AnyError::Malformed(error) if error.kind == CdrErrorKind::Truncated));
    let value = codec.decode_value(&[0, 9, 9, 9, 0, 0, 1, 44], &long).unwrap();
    assert_eq!(value.get::<i32>().unwrap(), 300, "with any padding");
}

#[test]
fn octets_behind_the_value_are_refused() {
    let codec = Codec::default();
    let mut octets = codec.encode_value(&Any::new(&5_i32).unwrap()).unwrap();
    octets.push(0);
    let error = codec
        .decode_value(&octets, &TypeCode::basic(Kind::Long))
        .unwrap_err();
    assert_eq!(error, AnyError::NotOfType(Kind::Long));
}

#[test]
fn text_is_in_the_code_set_of_the_codec() {
    let any = Any::new("é").unwrap();
    let text = |codec: Codec| codec.encode_value(&any).unwrap()[8..].to_vec();
    assert_eq!(text(Codec::default()), [0xe9, 0]);
    assert_eq!(text(Codec::with_char_set(CharSet::Utf8)), [0xc3, 0xa9, 0]);
    let outside = Any::new("日").unwrap();
    assert!(Codec::default().encode(&outside).is_err(), "not in ISO-8859-1");
    assert_eq!(
        Codec::default()
            .decode_value(&Codec::default().encode_value(&any).unwrap(), any.type_code())
            .unwrap()
            .value()
            .unwrap(),
        Value::String("é".into())
    );
}
