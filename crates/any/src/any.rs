//! A value together with its type.

mod value;
mod view;

use alloc::vec::Vec;
use core::fmt;

use punctual_cdr::{CdrError, CharSet, Decode, Decoder, Encode, Encoder, Endian};

use self::view::Found;
pub use self::{
    value::{DynValue, Value},
    view::AnyView,
};
use crate::{AnyError, Enclosing, Kind, TypeCode, Typed, walk};

/// A value of any IDL type, `any`; by default it holds none (`null`).
///
/// ```
/// use punctual_any::Any;
///
/// let any = Any::new(&String::from("radar"))?;
/// assert!(any.is::<String>());
/// assert_eq!(any.get::<String>()?, "radar");
/// assert_eq!(any.type_code().to_string(), "string");
/// let error = any.get::<i32>().unwrap_err();
/// assert_eq!(error.to_string(), "the any holds string, not long; compare `type_code()` first");
/// # Ok::<(), punctual_any::AnyError>(())
/// ```
#[derive(Clone, Default)]
pub struct Any {
    pub(crate) type_code: TypeCode,
    /// The encoded value in the byte order of this machine, with text in UTF-8.
    pub(crate) octets: Vec<u8>,
    /// Offset of the value in the octets: alignment counts from their start.
    pub(crate) start: usize,
}

impl Any {
    /// Puts a value and its type into an `any`.
    ///
    /// # Errors
    /// The value cannot be represented on the wire, such as a string with a NUL in it.
    pub fn new<T: Typed + Encode + ?Sized>(value: &T) -> Result<Self, AnyError> {
        let (mut octets, type_code) = (Vec::new(), T::type_code());
        let mut encoder = native(&mut octets);
        if type_code.kind()? == Kind::Except {
            // As in a reply: which exception it is precedes its members.
            type_code.view().id()?.encode(&mut encoder)?;
        }
        value.encode(&mut encoder)?;
        Ok(Self {
            type_code,
            octets,
            start: 0,
        })
    }

    /// Puts a value into an `any` under another type code, such as that of a typedef.
    ///
    /// # Errors
    /// The value does not have the form that the type code describes.
    pub fn with_type_code(type_code: TypeCode, value: &impl Encode) -> Result<Self, AnyError> {
        let mut octets = Vec::new();
        value.encode(&mut native(&mut octets))?;
        let mut decoder = native_decoder(&octets);
        let read = walk::skip(&type_code.view(), &mut decoder);
        if read.is_err() || decoder.remaining() > 0 {
            return Err(AnyError::NotOfType(type_code.kind()?));
        }
        Ok(Self {
            type_code,
            octets,
            start: 0,
        })
    }

    /// Puts a value without Rust type into an `any`.
    ///
    /// # Errors
    /// The value does not have the form that the type code describes.
    ///
    /// ```
    /// use punctual_any::{Any, Kind, TypeCode, Value};
    ///
    /// let any = Any::from_value(TypeCode::basic(Kind::Short), &Value::Short(-3))?;
    /// assert_eq!(any.get::<i16>()?, -3);
    /// assert!(Any::from_value(TypeCode::basic(Kind::Short), &Value::Boolean(true)).is_err());
    /// # Ok::<(), punctual_any::AnyError>(())
    /// ```
    pub fn from_value(type_code: TypeCode, value: &Value) -> Result<Self, AnyError> {
        let mut octets = Vec::new();
        value.encode(&type_code.view(), &mut native(&mut octets))?;
        Ok(Self {
            type_code,
            octets,
            start: 0,
        })
    }

    /// Returns the type of the value.
    pub fn type_code(&self) -> &TypeCode {
        &self.type_code
    }

    /// Returns whether the value is of this type, typedefs aside.
    pub fn is<T: Typed>(&self) -> bool {
        self.view().is::<T>()
    }

    /// Decodes the value. Object references are decoded by the ORB that is to call them: `Orb::extract`.
    ///
    /// # Errors
    /// The `any` holds another type, or was received and is malformed.
    pub fn get<T: Typed + for<'a> Decode<'a>>(&self) -> Result<T, AnyError> {
        self.view().get()
    }

    /// Decodes the value as its type code describes it.
    ///
    /// # Errors
    /// The `any` was received and is malformed.
    pub fn value(&self) -> Result<Value, AnyError> {
        self.view().value()
    }

    /// Decodes a value that its type does not precede, such as a result of an operation.
    ///
    /// # Errors
    /// The octets are not a value of this type, or exceed the limits of the decoder.
    ///
    /// ```
    /// use punctual_any::{Any, Kind, TypeCode};
    /// use punctual_cdr::{Decoder, Endian};
    ///
    /// let mut results = Decoder::new(&[0, 7, 0, 1], Endian::Big);
    /// let short = TypeCode::basic(Kind::Short);
    /// assert_eq!(Any::decode_value(&short, &mut results)?.get::<i16>()?, 7);
    /// assert_eq!(Any::decode_value(&short, &mut results)?.get::<i16>()?, 1);
    /// # Ok::<(), punctual_any::AnyError>(())
    /// ```
    pub fn decode_value(of: &TypeCode, decoder: &mut Decoder<'_>) -> Result<Self, CdrError> {
        let start = decoder.position();
        let found = Found::of_type(of.view(), decoder)?;
        decoder.reserve(decoder.position() - start)?;
        let mut any = Self {
            type_code: of.clone(),
            ..Self::default()
        };
        found.copy_to(&mut any)?;
        Ok(any)
    }

    /// Decodes the members of an exception whose repository id has been decoded, as the errors of operations
    /// are.
    ///
    /// # Errors
    /// The type is no exception, or the octets are not its members.
    pub fn decode_exception(of: &TypeCode, decoder: &mut Decoder<'_>) -> Result<Self, CdrError> {
        let start = decoder.position();
        let mut members = decoder.clone();
        walk::skip_members(&of.view(), &mut members)?;
        decoder.reserve(members.position() - start)?;
        let mut octets = Vec::new();
        let mut encoder = native(&mut octets);
        of.view().id()?.encode(&mut encoder)?;
        walk::copy_members(&of.view(), decoder, &mut encoder)?;
        Ok(Self {
            type_code: of.clone(),
            octets,
            start: 0,
        })
    }

    /// Lends it, as servants get it.
    pub fn view(&self) -> AnyView<'_> {
        let value = native_decoder(&self.octets);
        AnyView {
            type_code: self.type_code.view(),
            place: value.at(self.start).place(),
            octets: &self.octets[self.start..],
            passed: walk::Passed::default(),
        }
    }

    /// Returns the number of octets of type code and value: about the memory that it takes.
    ///
    /// ```
    /// use punctual_any::Any;
    ///
    /// let short = Any::new(&String::from("radar"))?.octets();
    /// assert_eq!(Any::new(&"x".repeat(1_005))?.octets(), short + 1_000);
    /// # Ok::<(), punctual_any::AnyError>(())
    /// ```
    pub fn octets(&self) -> usize {
        self.type_code.octets().len() + self.octets.len()
    }

    /// Empties it and keeps its memory.
    pub fn clear(&mut self) {
        self.type_code = TypeCode::default();
        self.octets.clear();
        self.start = 0;
    }
}

fn native(octets: &mut Vec<u8>) -> Encoder<'_> {
    let encoder = Encoder::new(octets, Endian::NATIVE).with_char_set(CharSet::Utf8);
    encoder.without_header()
}

fn native_decoder(octets: &[u8]) -> Decoder<'_> {
    let decoder = Decoder::new(octets, Endian::NATIVE).with_char_set(CharSet::Utf8);
    decoder.without_header()
}

impl Encode for Any {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.view().encode(encoder)
    }
}

impl<'a> Decode<'a> for Any {
    const MIN_SIZE: usize = 4;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let mut any = Self::default();
        any.decode_into(decoder)?;
        Ok(any)
    }

    fn decode_into(&mut self, decoder: &mut Decoder<'a>) -> Result<(), CdrError> {
        let start = decoder.position();
        let found = Found::decode(decoder)?;
        decoder.reserve(decoder.position() - start)?;
        found.copy_to(self)
    }
}

impl PartialEq for Any {
    /// Whether types and values are equal.
    fn eq(&self, other: &Self) -> bool {
        self.view() == other.view()
    }
}

impl fmt::Debug for Any {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view().fmt(f)
    }
}

impl Typed for Any {
    fn describe(_: &mut Enclosing) -> TypeCode {
        TypeCode::basic(Kind::Any)
    }
}
