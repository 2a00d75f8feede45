//! The type codes of Rust types.

use alloc::{boxed::Box, collections::BTreeMap, string::String, vec::Vec};

use punctual_cdr::{
    Abstract, AbstractInterface, BoundedMap, BoundedSeq, BoundedSlice, BoundedStr, BoundedString, Fixed,
    LongDouble, Shared, ValueType, WChar, WString,
};

use crate::{Kind, TypeCode, TypeCodeView, ValueModifier};

/// A Rust type that stands for an IDL type. Generated code implements it for structs, unions, enums and
/// exceptions.
///
/// ```
/// # mod punctual { pub(crate) use punctual_any as any; }
/// use punctual::any::Typed;
///
/// assert_eq!(Vec::<[f64; 3]>::type_code().to_string(), "sequence<double[3]>");
/// ```
pub trait Typed {
    /// Returns the type code, which generated types build once.
    fn type_code() -> TypeCode {
        Self::describe(&mut Enclosing::default())
    }

    /// Builds the type code as a part of those that enclose it.
    #[doc(hidden)]
    fn describe(enclosing: &mut Enclosing) -> TypeCode;
}

/// A typed object reference. Generated code implements it.
///
/// ```
/// # mod punctual { pub(crate) use punctual_any as any; }
/// use punctual::any::{TypeCode, Typed, TypedReference};
///
/// struct TrackerRef;
///
/// impl TypedReference for TrackerRef {
///     fn type_code() -> TypeCode {
///         TypeCode::interface("IDL:radar/Tracker:1.0", "Tracker")
///     }
/// }
/// // References may be nil, hence the option.
/// assert_eq!(Vec::<Option<TrackerRef>>::type_code().to_string(), "sequence<Tracker>");
/// ```
pub trait TypedReference {
    /// Returns the type code of the interface.
    fn type_code() -> TypeCode;

    /// Builds the type code as a part of those that enclose it.
    #[doc(hidden)]
    fn describe(_: &mut Enclosing) -> TypeCode {
        Self::type_code()
    }
}

/// A value of a value type, or null.
impl<T: ValueType + Typed> TypedReference for Shared<T> {
    fn type_code() -> TypeCode {
        <T as Typed>::type_code()
    }

    fn describe(enclosing: &mut Enclosing) -> TypeCode {
        <T as Typed>::describe(enclosing)
    }
}

/// A reference or a value with an abstract interface.
impl<I: AbstractInterface> TypedReference for Abstract<I> {
    fn type_code() -> TypeCode {
        TypeCode::abstract_interface(I::REPOSITORY_ID, I::NAME)
    }
}

impl<T: TypedReference> Typed for Option<T> {
    fn describe(enclosing: &mut Enclosing) -> TypeCode {
        T::describe(enclosing)
    }
}

/// Function that builds the type code of a part.
type Describe = fn(&mut Enclosing) -> TypeCode;

/// The structs and unions whose type codes are being built: those inside refer to them.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Enclosing {
    ids: Vec<&'static str>,
}

impl Enclosing {
    /// Builds the type code of a struct from names and types of its members.
    pub fn structure(&mut self, id: &'static str, name: &str, members: &[(&str, Describe)]) -> TypeCode {
        self.within(id, |enclosing| {
            let members = members.iter().map(|(name, of)| (*name, of(enclosing)));
            TypeCode::structure(id, name, members)
        })
    }

    /// Builds the type code of an exception from names and types of its members.
    pub fn exception(&mut self, id: &'static str, name: &str, members: &[(&str, Describe)]) -> TypeCode {
        let members = members.iter().map(|(name, of)| (*name, of(self)));
        TypeCode::exception(id, name, members)
    }

    /// Builds the type code of a union from labels, names and types of its members.
    pub fn union(
        &mut self,
        id: &'static str,
        name: &str,
        discriminator: Describe,
        default: Option<usize>,
        members: &[(i128, &str, Describe)],
    ) -> TypeCode {
        self.within(id, |enclosing| {
            let discriminator = discriminator(enclosing);
            let members = members
                .iter()
                .map(|(label, name, of)| (*label, *name, of(enclosing)));
            TypeCode::union(id, name, discriminator, default, members)
        })
    }

    /// Builds the type code of a value type from its concrete base, and names, types and visibility of its
    /// members.
    pub fn value(
        &mut self,
        id: &'static str,
        name: &str,
        modifier: ValueModifier,
        base: Option<Describe>,
        members: &[(&str, Describe, bool)],
    ) -> TypeCode {
        self.with_state(Kind::Value, id, name, modifier, base, members)
    }

    /// Builds the type code of an event type, as [`Self::value`] does that of a value type.
    pub fn event(
        &mut self,
        id: &'static str,
        name: &str,
        modifier: ValueModifier,
        base: Option<Describe>,
        members: &[(&str, Describe, bool)],
    ) -> TypeCode {
        self.with_state(Kind::Event, id, name, modifier, base, members)
    }

    fn with_state(
        &mut self,
        kind: Kind,
        id: &'static str,
        name: &str,
        modifier: ValueModifier,
        base: Option<Describe>,
        members: &[(&str, Describe, bool)],
    ) -> TypeCode {
        self.within(id, |enclosing| {
            let base = base.map(|base| base(enclosing));
            let members = members
                .iter()
                .map(|(name, of, is_public)| (*name, of(enclosing), *is_public));
            TypeCode::with_state(kind, id, name, modifier, base, members)
        })
    }

    /// Builds the type code of a boxed value type.
    pub fn value_box(&mut self, id: &'static str, name: &str, content: Describe) -> TypeCode {
        self.within(id, |enclosing| TypeCode::value_box(id, name, content(enclosing)))
    }

    fn within(&mut self, id: &'static str, build: impl FnOnce(&mut Self) -> TypeCode) -> TypeCode {
        if self.ids.contains(&id) {
            return TypeCode::recursive(id);
        }
        self.ids.push(id);
        let code = build(self);
        self.ids.pop();
        code
    }
}

macro_rules! basic {
    ($($type:ty: $kind:ident;)*) => {$(
        impl Typed for $type {
            fn describe(_: &mut Enclosing) -> TypeCode {
                TypeCode::from_static(const { &(Kind::$kind as u32).to_le_bytes() })
            }
        }
    )*};
}

basic! {
    (): Void;
    bool: Boolean;
    char: Char;
    u8: Octet;
    i8: Octet;
    i16: Short;
    u16: UShort;
    i32: Long;
    u32: ULong;
    i64: LongLong;
    u64: ULongLong;
    f32: Float;
    f64: Double;
    LongDouble: LongDouble;
    WChar: WChar;
    TypeCode: TypeCode;
    TypeCodeView<'_>: TypeCode;
}

impl<const N: usize> Typed for WString<N> {
    fn describe(_: &mut Enclosing) -> TypeCode {
        TypeCode::wide_string(if N == usize::MAX { 0 } else { N as u32 })
    }
}

impl<const D: u8, const S: u8> Typed for Fixed<D, S> {
    fn describe(_: &mut Enclosing) -> TypeCode {
        TypeCode::fixed(D.into(), S.into())
    }
}

impl Typed for str {
    fn describe(_: &mut Enclosing) -> TypeCode {
        TypeCode::from_static(&[Kind::String as u8, 0, 0, 0, 0, 0, 0, 0])
    }
}

impl Typed for String {
    fn describe(enclosing: &mut Enclosing) -> TypeCode {
        str::describe(enclosing)
    }
}

impl<T: Typed + ?Sized> Typed for &T {
    fn describe(enclosing: &mut Enclosing) -> TypeCode {
        T::describe(enclosing)
    }
}

impl<T: Typed + ?Sized> Typed for Box<T> {
    fn describe(enclosing: &mut Enclosing) -> TypeCode {
        T::describe(enclosing)
    }
}

impl<T: Typed> Typed for [T] {
    fn describe(enclosing: &mut Enclosing) -> TypeCode {
        TypeCode::sequence(T::describe(enclosing), 0)
    }
}

impl<T: Typed> Typed for Vec<T> {
    fn describe(enclosing: &mut Enclosing) -> TypeCode {
        <[T]>::describe(enclosing)
    }
}

/// That of its form on the wire: a sequence of pairs.
impl<K: Typed, V: Typed> Typed for BTreeMap<K, V> {
    fn describe(enclosing: &mut Enclosing) -> TypeCode {
        TypeCode::sequence(pair::<K, V>(enclosing), 0)
    }
}

impl<K: Typed, V: Typed, const N: usize> Typed for BoundedMap<K, V, N> {
    fn describe(enclosing: &mut Enclosing) -> TypeCode {
        TypeCode::sequence(pair::<K, V>(enclosing), N as u32)
    }
}

fn pair<K: Typed, V: Typed>(enclosing: &mut Enclosing) -> TypeCode {
    let members = [("key", K::describe(enclosing)), ("value", V::describe(enclosing))];
    TypeCode::structure("", "", members)
}

impl<T: Typed, const N: usize> Typed for [T; N] {
    fn describe(enclosing: &mut Enclosing) -> TypeCode {
        TypeCode::array(T::describe(enclosing), N as u32)
    }
}

impl<T: Typed, const N: usize> Typed for BoundedSeq<T, N> {
    fn describe(enclosing: &mut Enclosing) -> TypeCode {
        TypeCode::sequence(T::describe(enclosing), N as u32)
    }
}

impl<T: Typed, const N: usize> Typed for BoundedSlice<'_, T, N> {
    fn describe(enclosing: &mut Enclosing) -> TypeCode {
        TypeCode::sequence(T::describe(enclosing), N as u32)
    }
}

impl<const N: usize> Typed for BoundedString<N> {
    fn describe(_: &mut Enclosing) -> TypeCode {
        TypeCode::string(N as u32)
    }
}

impl<const N: usize> Typed for BoundedStr<'_, N> {
    fn describe(_: &mut Enclosing) -> TypeCode {
        TypeCode::string(N as u32)
    }
}
