//! A value together with its type.

mod value;
mod view;

use alloc::{string::String, vec::Vec};
use core::fmt;

use punctual_cdr::{CdrError, CdrErrorKind, CharSet, Decode, Decoder, Encode, Encoder, Endian};

use self::view::{ALIGNMENT, Found};
pub use self::{
    value::{DynValue, Value},
    view::AnyView,
};
use crate::{AnyError, Enclosing, Kind, TypeCode, Typed, walk};

/// A value of any IDL type, `any`; by default it holds none (`null`).
///
/// ```
/// # mod punctual { pub(crate) use punctual_any as any; }
/// use punctual::any::Any;
///
/// let any = Any::new(&String::from("radar"))?;
/// assert!(any.is::<String>());
/// assert_eq!(any.get::<String>()?, "radar");
/// assert_eq!(any.type_code().to_string(), "string");
/// let error = any.get::<i32>().unwrap_err();
/// assert_eq!(error.to_string(), "the any holds string, not long; compare `type_code()` first");
/// # Ok::<(), punctual_any::AnyError>(())
/// ```
#[derive(Clone)]
pub struct Any {
    pub(crate) type_code: TypeCode,
    /// The encoded value.
    pub(crate) octets: Vec<u8>,
    /// Offset of the value in the octets: alignment counts from their start.
    pub(crate) start: u8,
    /// Code set of the text in the value: UTF-8, unless a `char` in it takes more than one octet there.
    pub(crate) char_set: CharSet,
    /// Byte order of the octets: that of this machine, unless the types of values in it are not known.
    pub(crate) endian: Endian,
    pub(crate) values: walk::Values,
}

impl Any {
    /// Puts a value and its type into an `any`.
    ///
    /// # Errors
    /// The value cannot be represented on the wire, such as a string with a NUL in it, or characters (`char`)
    /// that no code set of one octet for each has together.
    pub fn new<T: Typed + Encode + ?Sized>(value: &T) -> Result<Self, AnyError> {
        let type_code = T::type_code();
        let is_exception = type_code.kind()? == Kind::Except;
        let id = is_exception
            .then(|| type_code.view().id().map(String::from))
            .transpose()?;
        let mut any = Self::of_type(type_code);
        let encode = |encoder: &mut Encoder<'_>| {
            // As in a reply: which exception it is precedes its members.
            id.as_ref().map_or(Ok(()), |id| id.encode(encoder))?;
            value.encode(encoder)
        };
        any.encode_with(&CharSet::ALL, encode)?;
        any.examine_values(encode)?;
        Ok(any)
    }

    /// Puts a value into an `any` under another type code, such as that of a typedef.
    ///
    /// # Errors
    /// The value does not have the form that the type code describes.
    pub fn with_type_code(type_code: TypeCode, value: &impl Encode) -> Result<Self, AnyError> {
        let mut any = Self::of_type(type_code);
        any.encode_with(&CharSet::ALL, |encoder| value.encode(encoder))?;
        let mut decoder = any.decoder();
        match walk::skip(&any.type_code.view(), &mut decoder) {
            Ok(passed) if decoder.remaining() == 0 => any.values = passed.values,
            _ => return Err(AnyError::NotOfType(any.type_code.kind()?)),
        }
        Ok(any)
    }

    /// Puts a value without Rust type into an `any`.
    ///
    /// # Errors
    /// The value does not have the form that the type code describes.
    ///
    /// ```
    /// # mod punctual { pub(crate) use punctual_any as any; }
    /// use punctual::any::{Any, Kind, TypeCode, Value};
    ///
    /// let any = Any::from_value(TypeCode::basic(Kind::Short), &Value::Short(-3))?;
    /// assert_eq!(any.get::<i16>()?, -3);
    /// assert!(Any::from_value(TypeCode::basic(Kind::Short), &Value::Boolean(true)).is_err());
    /// # Ok::<(), punctual_any::AnyError>(())
    /// ```
    pub fn from_value(type_code: TypeCode, value: &Value) -> Result<Self, AnyError> {
        let mut any = Self::of_type(type_code.clone());
        let code = type_code.view();
        let encode = |encoder: &mut Encoder<'_>| match value.encode(&code, encoder) {
            Err(AnyError::Malformed(error)) => Err(error),
            ended => Ok(ended),
        };
        any.encode_with(&CharSet::ALL, encode)??;
        any.examine_values(encode)?;
        Ok(any)
    }

    /// An empty one for a value of this type, which begins where the type code ends in messages.
    fn of_type(type_code: TypeCode) -> Self {
        Self {
            start: (type_code.octets().len() % ALIGNMENT) as u8,
            type_code,
            ..Self::default()
        }
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
    /// # mod punctual { pub(crate) use {punctual_any as any, punctual_cdr as value}; }
    /// use punctual::{any::{Any, Kind, TypeCode}, value::{Decoder, Endian}};
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
        let mut any = Self::of_type(of.clone());
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
        let passed = walk::skip_members(&of.view(), &mut members)?;
        decoder.reserve(members.position() - start)?;
        let mut any = Self::of_type(of.clone());
        let end = any.encode_with(&[decoder.char_set()], |encoder| {
            let mut members = decoder.clone();
            of.view().id()?.encode(encoder)?;
            walk::copy_members(&of.view(), &mut members, encoder)?;
            Ok(members)
        })?;
        *decoder = end;
        any.values = passed.values;
        Ok(any)
    }

    /// Lends it, as servants get it.
    pub fn view(&self) -> AnyView<'_> {
        AnyView {
            type_code: self.type_code.view(),
            place: self.decoder().place(),
            octets: &self.octets[self.start.into()..],
            passed: walk::Passed {
                values: self.values,
                has_wide_char: self.char_set != CharSet::Utf8,
                ..walk::Passed::default()
            },
        }
    }

    /// Returns the number of octets of type code and value: about the memory that it takes.
    ///
    /// ```
    /// # mod punctual { pub(crate) use punctual_any as any; }
    /// use punctual::any::Any;
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
        (self.endian, self.values) = (Endian::NATIVE, walk::Values::default());
    }

    /// Encodes the value in UTF-8, or else in the first of these code sets that has its characters.
    fn encode_with<T>(
        &mut self,
        others: &[CharSet],
        mut encode: impl FnMut(&mut Encoder<'_>) -> Result<T, CdrError>,
    ) -> Result<T, CdrError> {
        self.endian = Endian::NATIVE;
        let mut others = others.iter();
        self.char_set = CharSet::Utf8;
        loop {
            self.octets.clear();
            self.octets.resize(self.start.into(), 0);
            let mut encoder = self.encoder();
            let ended = encode(&mut encoder);
            let are_there = encoder.has_values();
            self.values = walk::Values {
                are_there,
                ..walk::Values::default()
            };
            match ended {
                Err(error) if error.kind == CdrErrorKind::TextNotInCodeSet => match others.next() {
                    Some(other) => self.char_set = *other,
                    None => return Err(error),
                },
                ended => return ended,
            }
        }
    }

    /// Finds out whether there are values of other types than the type code describes, and whether such a
    /// value, which `encode` appends, has text whose octets depend on the code set.
    fn examine_values<T>(
        &mut self,
        encode: impl Fn(&mut Encoder<'_>) -> Result<T, CdrError>,
    ) -> Result<(), CdrError> {
        if !self.values.are_there {
            return Ok(());
        }
        self.values = walk::skip(&self.type_code.view(), &mut self.decoder())?.values;
        if self.values.has_unknown {
            // The most different form: a message of GIOP 1.1, in a code set of one octet for each character.
            let mut octets = Vec::from(*b"GIOP\x01\x01\0\0\0\0\0\0\0\0\0\0");
            let begin = octets.len();
            octets.resize(begin + usize::from(self.start), 0);
            let encoder = Encoder::resume(&mut octets, self.endian).with_char_set(CharSet::Latin1);
            let encoded = encode(&mut encoder.for_any());
            self.values.has_no_text = encoded.is_ok() && octets[begin..] == self.octets;
        }
        Ok(())
    }

    fn encoder(&mut self) -> Encoder<'_> {
        let encoder = Encoder::resume(&mut self.octets, self.endian).with_char_set(self.char_set);
        // The limit of nesting is that of the messages in which it travels.
        let encoder = encoder.with_nesting_limit(Decoder::MAX_NESTING_LIMIT);
        encoder.for_any().without_header()
    }

    fn decoder(&self) -> Decoder<'_> {
        let decoder = Decoder::new(&self.octets, self.endian).with_char_set(self.char_set);
        let decoder = decoder.with_nesting_limit(Decoder::MAX_NESTING_LIMIT);
        decoder.without_header().at(self.start.into())
    }
}

impl Default for Any {
    fn default() -> Self {
        Self {
            type_code: TypeCode::default(),
            octets: Vec::new(),
            start: 0,
            char_set: CharSet::default(),
            endian: Endian::NATIVE,
            values: walk::Values::default(),
        }
    }
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
