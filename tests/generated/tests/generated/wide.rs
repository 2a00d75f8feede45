//! Wide text and fixed-point numbers: calls, values in an `any`, and their type codes.

use std::sync::Mutex;

use punctual_any::{Any, AnyView, Kind, Typed, Value};
use punctual_cdr::{Endian, Fixed, LongDouble, WChar, WString};
use punctual_generated_tests::{
    MemoryOrb,
    wide::wide::{Amount, EURO, Key, Price, RATE, Shop, ShopRef, TooDear, UNIT, shop::ChangeError},
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
