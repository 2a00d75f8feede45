//! Constant expressions and their values.

use punctual_idl::hir::{ConstantValue, DefinitionKind, FixedValue, Type};

use super::support::accepted;

/// The value of the constant `x`.
fn value(text: &str) -> ConstantValue {
    match &accepted(text).find("x").unwrap().kind {
        DefinitionKind::Constant(constant) => constant.value.clone(),
        other => panic!("{other:?}"),
    }
}

fn long(expression: &str) -> i32 {
    match value(&format!("const long x = {expression};")) {
        ConstantValue::Long(value) => value,
        other => panic!("{other:?}"),
    }
}

#[test]
fn integer_operators_and_their_precedence() {
    assert_eq!(long("1 + 2 * 3"), 7);
    assert_eq!(long("(1 + 2) * 3"), 9);
    assert_eq!(long("10 - 4 - 3"), 3);
    assert_eq!(long("1 << 2 + 1"), 8);
    assert_eq!(long("6 & 3 | 8 ^ 12"), 6);
    assert_eq!(long("-7 / 2"), -3);
    assert_eq!(long("-7 % 2"), -1);
    assert_eq!(long("~5"), -6);
    assert_eq!(long("0x10 + 010 + 10"), 34);
    assert_eq!(long("256 >> 4 >> 1"), 8);
    assert_eq!(long("2147483648 - 1"), i32::MAX);
    assert_eq!(long("-2147483648"), i32::MIN);
}

#[test]
fn limits_of_the_integer_types() {
    assert_eq!(value("const octet x = 255;"), ConstantValue::Octet(255));
    assert_eq!(value("const short x = -32768;"), ConstantValue::Short(i16::MIN));
    assert_eq!(
        value("const unsigned short x = ~0;"),
        ConstantValue::UShort(u16::MAX)
    );
    assert_eq!(
        value("const unsigned long x = ~1;"),
        ConstantValue::ULong(u32::MAX - 1)
    );
    assert_eq!(
        value("const long long x = -9223372036854775808;"),
        ConstantValue::LongLong(i64::MIN)
    );
    assert_eq!(
        value("const unsigned long long x = 18446744073709551615;"),
        ConstantValue::ULongLong(u64::MAX)
    );
}

#[test]
fn constants_in_constants() {
    let text =
        "module M { const short a = 3; }; const unsigned long b = M::a * 2; const long x = b + ::M::a;";
    assert_eq!(value(text), ConstantValue::Long(9));
}

#[test]
fn floating_point() {
    assert_eq!(
        value("const double x = 1.5 + 2.5e1 * .5;"),
        ConstantValue::Double(14.0)
    );
    assert_eq!(value("const float x = -1e-3;"), ConstantValue::Float(-1e-3));
    let bits = |text: &str| match value(text) {
        ConstantValue::LongDouble(value) => value.to_bits(),
        other => panic!("{other:?}"),
    };
    assert_eq!(bits("const long double x = 3.;"), 0x4000_8000 << 96);
    let (tenth, third) = (
        0x3ffb_9999_9999_9999_9999_9999_9999_999a,
        0x3ffd_5555_5555_5555_5555_5555_5555_5555,
    );
    assert_eq!(bits("const long double x = 0.1;"), tenth);
    assert_eq!(bits("const long double x = 1.0 / 3.0;"), third);
    assert_eq!(
        bits("typedef long double L; const L x = -(1.0 / 3.0);"),
        third | 1 << 127
    );
    assert_eq!(
        bits("const long double x = 1e1000;"),
        0x4cf8_e71b_63f3_ba7b_580a_f1a5_2d2a_7379
    );
    // A constant has the precision of its type; an expression, that of the one that is declared.
    let double = u128::from(0.1_f64.to_bits() & ((1 << 52) - 1)) << 60 | 0x3ffb << 112;
    assert_eq!(bits("const double d = 0.1; const long double x = d;"), double);
    assert_eq!(
        value("const long double l = 0.1; const double x = l;"),
        ConstantValue::Double(0.1)
    );
}

#[test]
fn fixed_point_is_exact() {
    let fixed = |unscaled, scale| ConstantValue::Fixed(FixedValue { unscaled, scale });
    assert_eq!(value("const fixed x = 0.1d + 0.2d;"), fixed(3, 1));
    assert_eq!(value("const fixed x = -12.50d;"), fixed(-125, 1));
    assert_eq!(value("typedef fixed<4, 1> F; const F x = 12.39d;"), fixed(123, 1));
    let specification = accepted("const fixed x = 0.005d;");
    match &specification.find("x").unwrap().kind {
        DefinitionKind::Constant(constant) => assert_eq!(constant.ty, Type::Fixed { digits: 3, scale: 3 }),
        other => panic!("{other:?}"),
    }
}

#[test]
fn characters_and_strings() {
    assert_eq!(value("const char x = '\\'';"), ConstantValue::Char('\''));
    assert_eq!(value("const char x = '\\xe9';"), ConstantValue::Char('é'));
    assert_eq!(value("const char x = 'é';"), ConstantValue::Char('é'));
    assert_eq!(value("const char x = '\\101';"), ConstantValue::Char('A'));
    assert_eq!(value("const wchar x = L'\\u20ac';"), ConstantValue::WChar('€'));
    assert_eq!(
        value("const wstring x = L\"\\uD83D\\uDE00\\u20ac\";"),
        ConstantValue::WString("😀€".into())
    );
    assert_eq!(
        value("const wchar x = L'\\uD83D\\uDE00';"),
        ConstantValue::WChar('😀')
    );
    assert_eq!(
        value("const string x = \"tab\\t\" \"quote\\\"\" // rest\n \"\\x41\" \"B\";"),
        ConstantValue::String("tab\tquote\"AB".into())
    );
    assert_eq!(
        value("const wstring x = L\"\\u20ac\" L\"!\";"),
        ConstantValue::WString("€!".into())
    );
    assert_eq!(
        value("const string a = \"one\"; const string x = a;"),
        ConstantValue::String("one".into())
    );
}

#[test]
fn booleans_and_enumerators() {
    assert_eq!(value("const boolean x = TRUE;"), ConstantValue::Boolean(true));
    let specification = accepted("module M { enum E { a, b, c }; }; const M::E x = M::c;");
    let enumeration = specification.find("M::E").unwrap().id;
    match &specification.find("x").unwrap().kind {
        DefinitionKind::Constant(constant) => {
            assert_eq!(
                constant.value,
                ConstantValue::Enumerator {
                    enumeration,
                    ordinal: 2
                }
            );
        }
        other => panic!("{other:?}"),
    }
}
