//! An `any` with characters (`char`) beyond ASCII, which UTF-8 cannot represent in one octet.

use punctual_any::{Any, AnyView, Kind, TypeCode, Value};
use punctual_cdr::{Arena, CdrErrorKind, CharSet, Decode, Decoder, Encode, Encoder, Endian};

fn message(any: &Any, endian: Endian, char_set: CharSet) -> Vec<u8> {
    let mut octets = Vec::new();
    let mut encoder = Encoder::new(&mut octets, endian).with_char_set(char_set);
    any.encode(&mut encoder).expect("the code set has the character");
    octets
}

#[test]
fn they_pass_in_code_sets_that_have_them() {
    let cases = [
        ('é', CharSet::Latin1),
        ('ł', CharSet::Iso8859_2),
        ('Ж', CharSet::Windows1251),
        ('a', CharSet::Utf8),
    ];
    for ((character, char_set), endian) in cases
        .iter()
        .flat_map(|case| [Endian::Big, Endian::Little].map(|endian| (*case, endian)))
    {
        let any = Any::new(&character).unwrap();
        assert_eq!(any.get::<char>(), Ok(character));
        assert_eq!(any.value(), Ok(Value::Char(character)));
        let octets = message(&any, endian, char_set);
        let arena = Arena::new();
        let decoder = || {
            Decoder::new(&octets, endian)
                .with_char_set(char_set)
                .with_arena(&arena)
        };
        let lent = AnyView::decode(&mut decoder()).unwrap();
        assert_eq!(lent.get::<char>(), Ok(character));
        for owned in [lent.to_owned(), Any::decode(&mut decoder()).unwrap()] {
            assert_eq!(owned, any);
            assert_eq!(message(&owned, endian, char_set), octets);
        }
    }
}

#[test]
fn a_code_set_without_them_refuses_them() {
    let any = Any::new(&'é').unwrap();
    for char_set in [CharSet::Utf8, CharSet::Iso8859_5] {
        let mut octets = Vec::new();
        let mut encoder = Encoder::new(&mut octets, Endian::Big).with_char_set(char_set);
        let refused = any.encode(&mut encoder).map_err(|error| error.kind);
        assert_eq!(refused, Err(CdrErrorKind::TextNotInCodeSet));
    }
    let character = TypeCode::basic(Kind::Char);
    let pair = TypeCode::structure("IDL:P:1.0", "P", [("a", character.clone()), ("b", character)]);
    let value = |a, b| Value::Struct(vec![("a".into(), Value::Char(a)), ("b".into(), Value::Char(b))]);
    let both = Any::from_value(pair.clone(), &value('Ж', 'ж')).unwrap();
    assert_eq!(both.value(), Ok(value('Ж', 'ж')));
    let none = Any::from_value(pair, &value('é', 'ж')).unwrap_err();
    assert!(
        none.to_string().contains("code set"),
        "no code set has both: {none}"
    );
}

#[test]
fn members_of_exceptions_keep_them() {
    let code = TypeCode::exception("IDL:E:1.0", "E", [("c", TypeCode::basic(Kind::Char))]);
    let any = Any::decode_exception(&code, &mut Decoder::new(&[0xe9], Endian::Big)).unwrap();
    let expected = Value::Struct(vec![("c".into(), Value::Char('é'))]);
    assert_eq!(any.value(), Ok(expected));
}
