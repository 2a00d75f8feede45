//! Values without Rust type: what a type code and octets say.

mod object;
mod read;
mod tree;
mod write;

use alloc::{boxed::Box, string::String, vec::Vec};

use punctual_cdr::{CdrError, Decoder, Encoder, Ior, LongDouble};

pub use self::object::DynValue;
use super::Any;
use crate::{AnyError, TypeCode, TypeCodeView};

/// A value of any IDL type as a tree, for tools that learn types at run time: `DynamicAny::DynAny`.
///
/// ```
/// # mod punctual { pub(crate) use punctual_any as any; }
/// use punctual::any::{Any, Kind, TypeCode, Value};
///
/// let point = TypeCode::structure("IDL:Point:1.0", "Point", [("x", TypeCode::basic(Kind::Long))]);
/// let any = Any::from_value(point, &Value::Struct(vec![("x".into(), Value::Long(3))]))?;
/// let Value::Struct(members) = any.value()? else { unreachable!() };
/// assert_eq!(members[0], ("x".into(), Value::Long(3)));
/// # Ok::<(), punctual_any::AnyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null` or `void`; null of a value type or an abstract interface.
    None,
    /// `boolean`.
    Boolean(bool),
    /// `char`.
    Char(char),
    /// `octet`.
    Octet(u8),
    /// `short`.
    Short(i16),
    /// `unsigned short`.
    UShort(u16),
    /// `long`.
    Long(i32),
    /// `unsigned long`.
    ULong(u32),
    /// `long long`.
    LongLong(i64),
    /// `unsigned long long`.
    ULongLong(u64),
    /// `float`.
    Float(f32),
    /// `double`.
    Double(f64),
    /// `wchar`.
    WChar(char),
    /// A wide string, bounded or not.
    WString(String),
    /// `fixed`: all digits as an integer, and how many of them are behind the point.
    Fixed(i128, i16),
    /// `long double`.
    LongDouble(LongDouble),
    /// A string, bounded or not.
    String(String),
    /// Ordinal and name of an enum's value.
    Enum(u32, String),
    /// The members of a struct or exception, in order.
    Struct(Vec<(String, Self)>),
    /// A union: its discriminator, and the member that it selects, if any.
    Union(Box<Self>, Option<(String, Box<Self>)>),
    /// The elements of a sequence or array.
    Sequence(Vec<Self>),
    /// A sequence or array of octets.
    Octets(Vec<u8>),
    /// A nested `any`.
    Any(Any),
    /// A type code.
    TypeCode(TypeCode),
    /// An object reference.
    Reference(Ior),
    /// A value of a value type, which may be in several places of the tree.
    ValueType(DynValue),
}

impl Value {
    /// Decodes the value at the decoder's position.
    pub(super) fn decode(code: &TypeCodeView<'_>, decoder: &mut Decoder<'_>) -> Result<Self, CdrError> {
        // Passing over it first bounds the work: see `walk`.
        crate::walk::skip(code, &mut decoder.clone())?;
        read::Reader::default().value(code, decoder)
    }

    /// Encodes the value as the type code describes it.
    pub(super) fn encode(&self, code: &TypeCodeView<'_>, encoder: &mut Encoder<'_>) -> Result<(), AnyError> {
        write::value(self, code, encoder, 0)
    }
}
