//! Wide text and fixed-point numbers: calls, values in an `any`, and their type codes.

use std::sync::Mutex;

use punctual_any::{Any, AnyView, Kind, Typed, Value};
use punctual_cdr::{
    CdrErrorKind, Decode, Decoder, Encode, Encoder, Endian, Fixed, LongDouble, WChar, WString,
};
use punctual_generated_tests::{
    MemoryOrb,
    wide::wide::{
        Alone, Amount, EURO, Few, Key, Price, RATE, Shop, ShopRef, Symbol, TooDear, UNIT, shop::ChangeError,
    },
};
use punctual_types::SystemException;

struct Market(Mutex<WString<4>>);

impl Shop for Market {
    fn describe(&self, name: &WString, sum: &mut Amount) -> Result<(WString, WChar), SystemException> {
        *sum = sum.checked_mul(2).unwrap_or_default();
        Ok((WString::from(format!("{name} for {sum}")), EURO))
    }

    fn change(&self, given: &Price, all: &[Key]) -> Result<Price, ChangeError> {
        if given.value > Amount::try_from(100).unwrap() {
            return Err(TooDear {
                most: Amount::try_from(100).unwrap(),
                why: "größer".into(),
            }
            .into());
        }
        let mut price = given.clone();
        price.notes = all.iter().map(|key| WString::from(format!("{key:?}"))).collect();
        Ok(price)
    }

    fn show(&self, given: &Symbol, few: &mut Few) -> Result<Symbol, SystemException> {
        *few = Few::NoMember(WChar('💧'));
        Ok(given.clone())
    }

    fn dynamic(&self, value: AnyView<'_>) -> Result<Any, SystemException> {
        Ok(value.to_owned())
    }

    fn tag(&self) -> Result<WString<4>, SystemException> {
        Ok(self.0.lock().unwrap().clone())
    }

    fn set_tag(&self, value: &WString<4>) -> Result<(), SystemException> {
        *self.0.lock().unwrap() = value.clone();
        Ok(())
    }
}

fn price(value: &str) -> Price {
    Price {
        currency: WString::new("€uro").unwrap(),
        value: value.parse().unwrap(),
        sign: WChar('💧'),
        notes: vec!["".into(), "größer".into()],
        exact: LongDouble(0x3fff << 112),
    }
}

fn both(test: impl Fn(&ShopRef)) {
    for endian in [Endian::Big, Endian::Little] {
        let orb = MemoryOrb::new(endian);
        test(&orb.activate::<ShopRef, _>(Market(Mutex::default())));
    }
}

#[test]
fn wide_text_and_fixed_numbers_travel_in_all_directions() {
    both(|shop| {
        let mut sum: Amount = "19.95".parse().unwrap();
        let (text, sign) = shop.describe(&"Öl".into(), &mut sum).unwrap();
        assert_eq!((&*text, sign, sum.unscaled()), ("Öl for 39.90", WChar('€'), 3990));
        shop.set_tag(&WString::new("größ").unwrap()).unwrap();
        assert_eq!(&*shop.tag().unwrap(), "größ");
        let keys = [
            Key::Name("n".into()),
            Key::Number(-3),
            Key::Large('z', "1234567890123456789012345678901".parse().unwrap()),
        ];
        let back = shop.change(&price("-99.99"), &keys).unwrap();
        assert_eq!(
            (back.currency, back.value, back.sign),
            (price("0").currency, "-99.99".parse().unwrap(), WChar('💧'))
        );
        assert_eq!(&*back.notes[2], "Large('z', 1234567890123456789012345678901)");
        let Err(ChangeError::TooDear(error)) = shop.change(&price("100.01"), &[]) else {
            panic!("cheap")
        };
        assert_eq!((error.most.unscaled(), &*error.why), (10_000, "größer"));
    });
}

#[test]
fn constants_are_exact() {
    assert_eq!(
        (EURO, UNIT, RATE.to_string()),
        (WChar('€'), "m²", String::from("-12.5"))
    );
}

#[test]
fn wide_text_and_fixed_numbers_travel_in_an_any() {
    both(|shop| {
        let price = price("7.50");
        let back = shop.dynamic(&Any::new(&price).unwrap()).unwrap();
        assert_eq!(back.get::<Price>().unwrap(), price);
        let Value::Struct(members) = back.value().unwrap() else {
            panic!("no struct")
        };
        assert_eq!(members[0].1, Value::WString("€uro".into()));
        assert_eq!(members[1].1, Value::Fixed(750, 2));
        assert_eq!(members[2].1, Value::WChar('💧'));
        let again = Any::from_value(back.type_code().clone(), &back.value().unwrap()).unwrap();
        assert_eq!(again, back);
        let key = Key::Number(5);
        let back = shop.dynamic(&Any::new(&key).unwrap()).unwrap();
        assert_eq!(back.get::<Key>().unwrap(), key);
        let negative = Any::new(&Fixed::<4, 1>::new(-15).unwrap()).unwrap();
        assert_eq!(negative.value().unwrap(), Value::Fixed(-15, 1));
        assert_eq!(
            Any::from_value(negative.type_code().clone(), &Value::Fixed(-15, 1)).unwrap(),
            negative
        );
        assert!(Any::from_value(negative.type_code().clone(), &Value::Fixed(15, 2)).is_err());
    });
}

#[test]
fn type_codes_have_bounds_and_digits() {
    assert_eq!(<WString>::type_code().to_string(), "wstring");
    assert_eq!(WString::<8>::type_code().to_string(), "wstring<8>");
    assert_eq!(Amount::type_code().to_string(), "fixed<8, 2>");
    assert_eq!(WChar::type_code().kind().unwrap(), Kind::WChar);
}

fn symbols() -> [Symbol; 5] {
    [
        Symbol::Price(EURO, -7),
        Symbol::Price(WChar('£'), 7),
        Symbol::Unit("m²".into()),
        Symbol::Other(WChar('\u{0}'), Key::Number(1)),
        Symbol::Other(WChar('💧'), Key::Name("drop".into())),
    ]
}

#[test]
fn wide_characters_select_the_members_of_unions() {
    both(|shop| {
        for symbol in symbols() {
            let mut few = Few::One(3);
            assert_eq!(shop.show(&symbol, &mut few).unwrap(), symbol);
            assert_eq!(few, Few::NoMember(WChar('💧')));
            let any = Any::new(&symbol).unwrap();
            assert_eq!(shop.dynamic(&any).unwrap().get::<Symbol>().unwrap(), symbol);
        }
    });
    assert_eq!(Symbol::default(), Symbol::Price(EURO, 0));
    assert_eq!(Alone::default(), Alone::Only(WChar('\0'), 0));
}

/// The value in a message of this minor version of GIOP, big-endian, behind a header of 12 octets.
fn message(minor: u8, value: &impl Encode) -> Result<Vec<u8>, CdrErrorKind> {
    let mut octets = [&b"GIOP\x01"[..], &[minor, 0, 0, 0, 0, 0, 0]].concat();
    let written = value.encode(&mut Encoder::resume(&mut octets, Endian::Big));
    written.map(|()| octets).map_err(|error| error.kind)
}

#[test]
fn the_discriminator_has_the_form_of_a_wide_character() {
    let price = Symbol::Price(EURO, -7);
    // A number in GIOP 1.1, a length and octets from GIOP 1.2 on, and nothing in GIOP 1.0.
    let old = [0x20, 0xac, 0, 0, 0xff, 0xff, 0xff, 0xf9];
    let new = [2, 0x20, 0xac, 0, 0xff, 0xff, 0xff, 0xf9];
    assert_eq!(message(0, &price), Err(CdrErrorKind::WideTextInRequest));
    for (minor, body) in [(1, old), (2, new)] {
        let octets = message(minor, &price).unwrap();
        assert_eq!(octets[12..], body, "GIOP 1.{minor}");
        let mut decoder = Decoder::new(&octets, Endian::Big).at(12);
        assert_eq!(Symbol::decode(&mut decoder).unwrap(), price);
        let mut again = Symbol::Price(WChar('£'), 0);
        again
            .decode_into(&mut Decoder::new(&octets, Endian::Big).at(12))
            .unwrap();
        assert_eq!(again, price);
    }
    let drop = Few::NoMember(WChar('💧'));
    assert_eq!(message(1, &drop), Err(CdrErrorKind::TextNotInCodeSet));
    assert_eq!(message(2, &drop).unwrap()[12..], [4, 0xd8, 0x3d, 0xdc, 0xa7]);
    for wrong in [
        Symbol::Price(WChar('m'), 0),
        Symbol::Other(WChar('£'), Key::default()),
    ] {
        assert_eq!(
            message(2, &wrong),
            Err(CdrErrorKind::UnionLabelMismatch),
            "{wrong:?}"
        );
    }
}

#[test]
fn labels_of_wide_characters_are_wide_characters_in_the_type_code() {
    let code = Few::type_code();
    let mut octets = Vec::new();
    code.encode(&mut Encoder::new(&mut octets, Endian::Big)).unwrap();
    let tail = [
        &[26, 0, 0, 0][..],        // the discriminator: tk_wchar, little-endian as all of it
        &[0xff, 0xff, 0xff, 0xff], // no default
        &[1, 0, 0, 0],             // one member
        &[2, 0, b'a'],             // its label, in the form of an encapsulation: GIOP 1.2
        &[0, 4, 0, 0, 0, b'o', b'n', b'e', 0], // aligned: its name
        &[10, 0, 0, 0],            // tk_octet
    ];
    assert!(octets.ends_with(&tail.concat()), "{octets:?}");
    let code = Symbol::type_code();
    let labels: Vec<_> = code.view().cases().unwrap().map(|case| case.unwrap().0).collect();
    assert_eq!(labels, [Some(0x20ac), Some(0xa3), Some(0x6d), None]);
    assert_eq!(code.view().to_owned().unwrap(), code);
}

#[test]
fn a_union_on_a_wide_character_is_built_at_run_time() {
    let code = Symbol::type_code();
    let unit = Value::union(&code, Value::WChar('m')).unwrap();
    let any = Any::from_value(code.clone(), &unit).unwrap();
    assert_eq!(any.get::<Symbol>().unwrap(), Symbol::Unit("".into()));
    for symbol in symbols() {
        let any = Any::new(&symbol).unwrap();
        let tree = any.value().unwrap();
        assert_eq!(Any::from_value(code.clone(), &tree).unwrap(), any);
        let Value::Union(selector, _) = tree else {
            panic!("no union")
        };
        assert!(matches!(*selector, Value::WChar(_)), "{selector:?}");
    }
    assert!(
        Value::union(&code, Value::Char('m')).is_err(),
        "a `char` is no `wchar`"
    );
}
