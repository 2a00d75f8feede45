//! Large structs with members of each kind in boxes, in every place of a type.

use std::collections::BTreeMap;

use punctual_any::{Any, TypeCode, Typed, Value};
use punctual_cdr::{
    Abstract, BoundedString, Decode, Decoder, Encode, Encoder, Endian, LongDouble, Shared, WString,
};
use punctual_generated_tests::{
    MemoryOrb,
    many_members::many_members::{
        Base, Broken, Choice, Colour, Counter, CounterRef, Counters, Derived, Either, EitherView, Leaf,
        ManySigns, Mixed, MixedView, MoreTexts, NamedRef, Owned, Page, Pair, Parts, Row, Sign, Signs, Store,
        StoreRef, Tenths, Texts, Torn, Volume,
        store::{KeepBaseError, KeepVolumeError},
    },
};
use punctual_stub::{Interface, Skeleton};
use punctual_types::SystemException;

const ORDERS: [Endian; 2] = [Endian::Big, Endian::Little];

/// Returns `given`, and `other` as the third; `other` becomes `given`.
struct Shelf;

macro_rules! keeps {
    ($($method:ident($given:ty, $of:ty) $convert:expr;)*) => {$(
        fn $method(&self, given: $given, other: &mut $of) -> Result<($of, $of), SystemException> {
            let convert: fn(&$given) -> $of = $convert;
            let third = std::mem::replace(other, convert(&given));
            Ok((convert(&given), third))
        }
    )*};
}

impl Store for Shelf {
    keeps! {
        keep_mixed(MixedView<'_>, Mixed) |given| given.to_owned();
        keep_owned(&Owned, Owned) |given| (*given).clone();
        keep_either(EitherView<'_>, Either) |given| given.to_owned();
        keep_several(&[MixedView<'_>], Vec<Mixed>) |given| given.iter().map(MixedView::to_owned).collect();
        keep_texts(&Texts, Texts) |given| (*given).clone();
        keep_whole(&[Parts], Vec<Parts>) |given| given.to_vec();
        keep_pair(&Pair, Pair) |given| (*given).clone();
        keep_page(&Page, Page) |given| (*given).clone();
    }

    fn keep_base(&self, given: Option<Shared<Base>>) -> Result<Option<Shared<Base>>, KeepBaseError> {
        let broken = || Broken {
            text: Box::new(String::from("broken")),
            one_any: Box::new(any(3)),
            c99: Box::new(tenths(7)),
            ..Broken::default()
        };
        given.map(Some).ok_or_else(|| broken().into())
    }

    fn keep_volume(&self, given: Option<Shared<Volume>>) -> Result<Option<Shared<Volume>>, KeepVolumeError> {
        let mut torn = Torn::default();
        torn.f99 = String::from("torn");
        given.map(Some).ok_or_else(|| torn.into())
    }
}

impl Counter for Shelf {
    fn increase(&self, n: i32) -> Result<i32, SystemException> {
        Ok(n + 1)
    }
}

fn any(number: i32) -> Any {
    Any::new(&number).unwrap()
}

fn tenths(all: i128) -> Tenths {
    Tenths::new(all).unwrap()
}

/// A value in each member, by assignment.
macro_rules! fill {
    ($of:ident, $text:expr) => {{
        let (text, mut filled) = (String::from($text), $of::default());
        *filled.one_any = any(4);
        *filled.text = text.clone();
        *filled.few = String::from("few").try_into().unwrap();
        filled.few_texts[1] = String::from("two").try_into().unwrap();
        *filled.numbers = vec![1, 2];
        *filled.texts = vec![text.clone(), String::new()];
        *filled.octets = vec![3, 4].try_into().unwrap();
        *filled.anys = vec![any(5), any(6)].try_into().unwrap();
        *filled.price = tenths(-15);
        filled.exact.0 = 7;
        filled.hue = Colour::Green;
        filled.one_row.c = 0.5;
        *filled.one_choice = Choice::Line(text.clone());
        filled.pair[1] = text;
        filled.three[2] = 8;
        filled.frame[4999] = 9;
        filled.flag = true;
        *filled.c99 = tenths(100);
        filled
    }};
}

fn owned(text: &str, counter: &CounterRef) -> Owned {
    let mut owned = fill!(Owned, text);
    *owned.wide = text.into();
    *owned.few_wide = WString::new("wide").unwrap();
    *owned.entries = BTreeMap::from([(String::from(text), 1)]);
    *owned.code = TypeCode::string(3);
    *owned.something = Some(counter.as_object().clone());
    *owned.counting = Some(counter.clone());
    *owned.counters = vec![None, Some(counter.clone())];
    owned
}

fn texts(text: &str) -> Texts {
    let mut texts = Texts::default();
    (texts.a00, texts.f99) = (String::from(text), String::from(text));
    texts
}

fn parts(number: f64) -> Parts {
    let mut parts = Parts::default();
    assert_eq!(&*parts.made, "x");
    (parts.rest.c, parts.a00, parts.f99) = (number, number, number);
    parts.frame[4999] = 7;
    parts.inner = vec![Parts::default(), parts.clone()];
    parts.inner[1].b99 = number;
    parts
}

fn counters(counter: &CounterRef) -> Counters {
    let mut counters = Counters::default();
    counters.f99 = Some(counter.clone());
    counters
}

macro_rules! check {
    ($object:expr; $($method:ident, $into:ident, $asynchronous:ident $a:expr, $b:expr;)*) => {$({
        let (a, b) = ($a, $b);
        let mut inout = b.clone();
        let (mut result, mut out) = $object.$method(&a, &mut inout).unwrap();
        assert!((&result, &inout, &out) == (&a, &a, &b), stringify!($method));
        // Twice: the second time the lane's own values have been used before.
        for _ in 0..2 {
            (inout, result, out) = (b.clone(), b.clone(), a.clone());
            $object.$into(&a, &mut inout, &mut result, &mut out).unwrap();
            assert!((&result, &inout, &out) == (&a, &a, &b), stringify!($into));
        }
        let results = $object.$asynchronous(&a, &b).wait().unwrap();
        assert!(results == (a.clone(), a, b), stringify!($asynchronous));
    })*};
}

#[test]
fn boxed_members_of_each_kind_travel_in_all_directions() {
    for endian in ORDERS {
        let orb = MemoryOrb::new(endian);
        let (object, counter): (StoreRef, CounterRef) = (orb.activate(Shelf), orb.activate(Shelf));
        check! { object;
            keep_mixed, keep_mixed_into, keep_mixed_async fill!(Mixed, "a"), Mixed::default();
            keep_owned, keep_owned_into, keep_owned_async owned("a", &counter), Owned::default();
            keep_either, keep_either_into, keep_either_async Either::Many(fill!(Mixed, "a")),
                Either::OneRow(Row::default());
            keep_several, keep_several_into, keep_several_async vec![fill!(Mixed, "a"), Mixed::default()],
                vec![fill!(Mixed, "b")];
            keep_texts, keep_texts_into, keep_texts_async texts("a"), texts("b");
            keep_whole, keep_whole_into, keep_whole_async vec![parts(1.0), Parts::default()],
                vec![parts(2.0)];
            keep_pair, keep_pair_into, keep_pair_async [parts(1.0), parts(2.0)], [parts(3.0), parts(4.0)];
            keep_page, keep_page_into, keep_page_async Page::Counting(counters(&counter)),
                Page::Text(texts("b"));
        }
    }
}

#[test]
fn values_and_exceptions_with_boxed_members_travel() {
    let mut base = Base {
        text: Box::new(String::from("base")),
        one_any: Box::new(any(1)),
        one_leaf: Box::new(Some(Shared::new(Leaf { n: 2 }))),
        ..Base::default()
    };
    *base.c99 = tenths(3);
    let derived = Derived {
        base: Box::new(base),
        more: Box::new(String::from("more")),
        ..Derived::default()
    };
    for endian in ORDERS {
        let object: StoreRef = MemoryOrb::new(endian).activate(Shelf);
        let given: Shared<Base> = Shared::new(derived.clone()).widen();
        let returned = object.keep_base(Some(&given)).unwrap().unwrap();
        assert_eq!((&**returned.text, &*returned.c99), ("base", &tenths(3)));
        assert_eq!((*returned.one_leaf).as_ref().unwrap().n, 2);
        assert_eq!(*returned.narrow::<Derived>().unwrap().more, "more");
        let Err(KeepBaseError::Broken(broken)) = object.keep_base(None) else {
            panic!("not broken");
        };
        assert_eq!(
            (&**broken.text, &*broken.one_any, &*broken.c99),
            ("broken", &any(3), &tenths(7))
        );
        assert!(broken.to_string().contains("ManyMembers::Broken"));
    }
}

#[test]
fn values_and_exceptions_in_parts_travel() {
    let mut volume = Volume::default();
    assert_eq!(volume.number, 7);
    *volume.base.text = String::from("base");
    volume.number = -1;
    for endian in ORDERS {
        let object: StoreRef = MemoryOrb::new(endian).activate(Shelf);
        let given = Shared::new(volume.clone());
        let returned = object.keep_volume(Some(&given)).unwrap().unwrap();
        assert!(*returned == volume);
        assert_eq!((returned.number, &**returned.base.text), (-1, "base"));
        let base = object.keep_base(Some(&given.widen())).unwrap().unwrap();
        assert_eq!(base.narrow::<Volume>().unwrap().number, -1);
        let Err(KeepVolumeError::Torn(torn)) = object.keep_volume(None) else {
            panic!("not torn");
        };
        assert_eq!(torn.f99, "torn");
        assert!(torn.to_string().starts_with("ManyMembers::Torn { a00: \"\", a01"));
    }
}

/// Elements in parts count with all their octets.
#[test]
fn parts_count_as_decoded_memory() {
    let mut message = Vec::new();
    let mut encoder = Encoder::new(&mut message, Endian::NATIVE);
    vec![Texts::default(); 10].encode(&mut encoder).unwrap();
    let mut decoder = Decoder::new(&message, Endian::NATIVE);
    Vec::<Texts>::decode(&mut decoder).unwrap();
    let octets = 10 * 600 * size_of::<String>();
    assert!(
        (octets..2 * octets).contains(&decoder.decoded()),
        "{}",
        decoder.decoded()
    );
}

/// The value of an `any` is the same as that of members in place.
#[test]
fn anys_hold_structs_with_boxed_members() {
    let mixed = fill!(Mixed, "a");
    let any = Any::new(&mixed).unwrap();
    assert_eq!(any.get::<Mixed>().unwrap(), mixed);
    let Value::Struct(members) = any.value().unwrap() else {
        panic!("no struct");
    };
    assert_eq!(members.len(), 320);
    assert_eq!(
        members[1],
        (String::from("text"), Value::String(String::from("a")))
    );
    let again = Any::from_value(Mixed::type_code(), &any.value().unwrap()).unwrap();
    assert_eq!(again.get::<Mixed>().unwrap(), mixed);
    let any = Any::new(&parts(1.0)).unwrap();
    assert!(any.get::<Parts>().unwrap() == parts(1.0));
}

#[test]
fn boxed_members_have_the_defaults_of_annotations() {
    let mixed = Mixed::default();
    let given = (&**mixed.given_text, &**mixed.given_few, *mixed.given_price);
    assert_eq!(given, ("x", "y", tenths(15)));
    assert_eq!(*Base::default().given_text, "x");
    assert!(texts("a") < texts("b"), "an attribute derives the order");
}

/// Both forms take at most 4 KiB; of more than 512 members, as much as a box.
#[test]
fn large_structs_have_the_stated_sizes() {
    let sizes = [
        size_of::<Mixed>(),
        size_of::<MixedView<'_>>(),
        size_of::<Owned>(),
        size_of::<Broken>(),
        size_of::<Base>(),
        size_of::<Derived>(),
    ];
    assert_eq!(sizes.map(|size| size <= 4096), [true; 6], "{sizes:?}");
    let in_place = [
        size_of::<BTreeMap<String, i32>>(),
        size_of::<Option<Abstract<NamedRef>>>(),
        size_of::<BoundedString<5>>(),
        size_of::<WString>(),
        size_of::<Option<Shared<Leaf>>>(),
        size_of::<Tenths>(),
        size_of::<LongDouble>(),
        size_of::<Option<CounterRef>>(),
    ];
    assert_eq!(in_place, [24, 24, 24, 24, 16, 16, 16, 16]);
    let in_parts = [size_of::<Texts>(), size_of::<Parts>(), size_of::<Torn>()];
    assert_eq!(in_parts, [size_of::<Box<()>>(); 3]);
    assert_eq!(size_of::<Volume>(), 2 * size_of::<Box<()>>());
    assert!(<StoreRef as Skeleton<Shelf>>::VALUES_ON_STACK >= size_of::<KeepBaseError>());
}

/// Whether the members are in boxes or in parts, and those of the base in others or in none.
#[test]
fn large_structs_convert_to_their_bases() {
    let signs = Signs {
        text: Box::new(String::from("exit")),
        price: Box::new(tenths(3)),
        ..Signs::default()
    };
    let mut many = ManySigns::default();
    (many.text, many.price) = (String::from("exit"), tenths(3));
    for sign in [Sign::from(&signs), Sign::from(&many)] {
        assert_eq!(
            (&*sign.text, sign.price, sign.frame.len()),
            ("exit", tenths(3), 5000)
        );
    }
    let mut more = MoreTexts::default();
    (more.a00, more.f99, more.more99) = ("first".into(), "last".into(), "more".into());
    let texts = Texts::from(&more);
    assert_eq!((&*texts.a00, &*texts.f98, &*texts.f99), ("first", "", "last"));
}
