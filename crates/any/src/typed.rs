//! The type codes of Rust types.

use alloc::{boxed::Box, string::String, vec::Vec};

use punctual_cdr::{BoundedSeq, BoundedSlice, BoundedStr, BoundedString, LongDouble};

use crate::{Any, AnyRef, Kind, TypeCode, TypeCodeRef};

/// A Rust type that stands for an IDL type. Generated code implements it for structs, unions, enums and
/// exceptions.
///
/// ```
/// use punctual_any::Typed;
///
/// assert_eq!(Vec::<[f64; 3]>::type_code().to_string(), "sequence<double[3]>");
/// ```
pub trait Typed {
    /// Returns the type code.
    fn type_code() -> TypeCode;
}

/// A typed object reference. Generated code implements it.
pub trait TypedReference {
    /// Returns the type code of the interface.
    fn type_code() -> TypeCode;
}

impl<T: TypedReference> Typed for Option<T> {
    fn type_code() -> TypeCode {
        T::type_code()
    }
}

macro_rules! basic {
    ($($type:ty: $kind:ident;)*) => {$(
        impl Typed for $type {
            fn type_code() -> TypeCode {
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
    i16: Short;
    u16: UShort;
    i32: Long;
    u32: ULong;
    i64: LongLong;
    u64: ULongLong;
    f32: Float;
    f64: Double;
    LongDouble: LongDouble;
    Any: Any;
    AnyRef<'_>: Any;
    TypeCode: TypeCode;
    TypeCodeRef<'_>: TypeCode;
}

impl Typed for str {
    fn type_code() -> TypeCode {
        TypeCode::from_static(&[Kind::String as u8, 0, 0, 0, 0, 0, 0, 0])
    }
}

impl Typed for String {
    fn type_code() -> TypeCode {
        str::type_code()
    }
}

impl<T: Typed + ?Sized> Typed for &T {
    fn type_code() -> TypeCode {
        T::type_code()
    }
}

impl<T: Typed + ?Sized> Typed for Box<T> {
    fn type_code() -> TypeCode {
        T::type_code()
    }
}

impl<T: Typed> Typed for [T] {
    fn type_code() -> TypeCode {
        TypeCode::sequence(T::type_code(), 0)
    }
}

impl<T: Typed> Typed for Vec<T> {
    fn type_code() -> TypeCode {
        <[T]>::type_code()
    }
}

impl<T: Typed, const N: usize> Typed for [T; N] {
    fn type_code() -> TypeCode {
        TypeCode::array(T::type_code(), N as u32)
    }
}

impl<T: Typed, const N: usize> Typed for BoundedSeq<T, N> {
    fn type_code() -> TypeCode {
        TypeCode::sequence(T::type_code(), N as u32)
    }
}

impl<T: Typed, const N: usize> Typed for BoundedSlice<'_, T, N> {
    fn type_code() -> TypeCode {
        TypeCode::sequence(T::type_code(), N as u32)
    }
}

impl<const N: usize> Typed for BoundedString<N> {
    fn type_code() -> TypeCode {
        TypeCode::string(N as u32)
    }
}

impl<const N: usize> Typed for BoundedStr<'_, N> {
    fn type_code() -> TypeCode {
        TypeCode::string(N as u32)
    }
}
