//! An `any` that is lent from the message that contains it.

use core::fmt;

use alloc::{string::ToString, vec, vec::Vec};
use punctual_cdr::{
    CdrError, CharSet, Decode, DecodeContext, Decoder, Encode, Encoder, Endian, Place, Text, WideCharSet,
};

use super::{Any, Value};
use crate::{AnyError, Enclosing, Kind, TypeCode, TypeCodeView, Typed, walk};

/// An `any` as lent to a servant for the time of an upcall: nothing is copied or decoded before it is
/// requested.
///
/// ```
/// # mod punctual { pub(crate) use punctual_any as any; }
/// use punctual::any::{Any, AnyView};
///
/// fn altitude(any: AnyView<'_>) -> Option<f64> {
///     any.get().ok()
/// }
/// assert_eq!(altitude(Any::new(&1500.0)?.view()), Some(1500.0));
/// assert_eq!(altitude(Any::new(&1500)?.view()), None, "a long");
/// # Ok::<(), punctual_any::AnyError>(())
/// ```
#[derive(Clone)]
pub struct AnyView<'a> {
    pub(super) type_code: TypeCodeView<'a>,
    /// Position of the value.
    pub(super) place: Place<'a>,
    /// Octets of the value, with the padding before it.
    pub(super) octets: &'a [u8],
    pub(super) passed: walk::Passed,
}

/// Repository id of the base of all interfaces.
const OBJECT: &str = "IDL:omg.org/CORBA/Object:1.0";

impl<'a> AnyView<'a> {
    /// Returns the type of the value.
    pub fn type_code(&self) -> TypeCodeView<'a> {
        self.type_code
    }

    /// Returns whether the value is of this type, typedefs aside.
    pub fn is<T: Typed>(&self) -> bool {
        self.holds(&T::type_code())
    }

    /// Returns whether a value of this type can be extracted; a reference to any object is an `Object`.
    fn holds(&self, wanted: &TypeCode) -> bool {
        let is_object =
            |code: &TypeCodeView<'_>| code.kind() == Ok(Kind::ObjRef) && matches!(code.id(), Ok("" | OBJECT));
        let is_reference =
            |code: TypeCodeView<'_>| matches!(code.kind(), Ok(Kind::ObjRef | Kind::Component | Kind::Home));
        self.type_code.equivalent(&wanted.view())
            || is_object(&wanted.view()) && self.type_code.resolved().is_ok_and(is_reference)
    }

    /// Decodes the value; text and sequences may be lent from the message.
    ///
    /// # Errors
    /// The `any` holds another type, or its octets are malformed.
    pub fn get<T: Typed + Decode<'a>>(&self) -> Result<T, AnyError> {
        let wanted = T::type_code();
        if !self.holds(&wanted) {
            return Err(AnyError::OtherType {
                held: self.type_code.to_string(),
                wanted: wanted.to_string(),
            });
        }
        let mut value = self.place.decoder();
        if wanted.kind()? == Kind::Except {
            Text::decode(&mut value)?;
        }
        Ok(T::decode(&mut value)?)
    }

    /// Passes over a value that its type does not precede, such as an argument of an operation, and lends it
    /// from the message. The type code is copied to the decoder's arena.
    ///
    /// # Errors
    /// The octets are not a value of this type, or exceed the limits of the decoder.
    pub fn decode_value(of: &TypeCode, decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let type_code = TypeCodeView::of_octets(decoder.lend_copy(of.octets())?);
        Found::of_type(type_code, decoder)?.lend(decoder)
    }

    /// Decodes the value as its type code describes it.
    ///
    /// # Errors
    /// Type code or value are malformed.
    pub fn value(&self) -> Result<Value, AnyError> {
        Ok(Value::decode(&self.type_code, &mut self.place.decoder())?)
    }

    /// Sets the ORB to which object references in the value are bound (see `punctual-stub`).
    #[doc(hidden)]
    pub fn with_context(mut self, context: &'a dyn DecodeContext) -> Self {
        self.place = self.place.decoder().with_context(context).place();
        self
    }

    /// Copies it, so that it outlives the upcall.
    pub fn to_owned(&self) -> Any {
        let mut any = Any::default();
        let found = Found {
            type_code: self.type_code,
            value: self.place.decoder(),
            octets: self.octets,
            passed: self.passed,
        };
        // If it failed, the copy would be empty.
        let copied = found.copy_to(&mut any);
        debug_assert!(copied.is_ok(), "what was passed over can be copied: {copied:?}");
        any
    }

    fn has_form(&self, endian: Endian, char_set: CharSet) -> bool {
        has_form(&self.place.decoder(), self.octets, self.passed, endian, char_set)
    }
}

/// An `any` in a message, with what its decoder knows about earlier values.
pub(super) struct Found<'c, 'a> {
    type_code: TypeCodeView<'c>,
    /// Positioned at the value.
    value: Decoder<'a>,
    octets: &'a [u8],
    passed: walk::Passed,
}

impl<'c, 'a> Found<'c, 'a> {
    /// Passes over the value of this type at the decoder's position.
    pub(super) fn of_type(type_code: TypeCodeView<'c>, decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let value = decoder.clone();
        let passed = walk::skip(&type_code, decoder)?;
        let octets = decoder.passed(value.position());
        Ok(Self {
            type_code,
            value,
            octets,
            passed,
        })
    }

    /// Returns the form of copies: that of this machine, and UTF-8 if it represents each `char` in one octet.
    /// What is not known can only be copied as it is.
    fn form_of_copies(&self) -> (Endian, CharSet) {
        let walk::Passed {
            values,
            has_wide_char,
            ..
        } = self.passed;
        match self.value.char_set() {
            char_set if values.has_unknown => (self.value.endian(), char_set),
            char_set if has_wide_char => (Endian::NATIVE, char_set),
            _ => (Endian::NATIVE, CharSet::Utf8),
        }
    }

    /// Copies it into an `any`, whose memory is reused. After an error, the `any` is empty.
    pub(super) fn copy_to(&self, any: &mut Any) -> Result<(), CdrError> {
        let copied = self.try_copy_to(any);
        if copied.is_err() {
            any.clear();
        }
        copied
    }

    fn try_copy_to(&self, any: &mut Any) -> Result<(), CdrError> {
        if self.type_code.whole() != Some(any.type_code.octets()) || self.type_code.endian() == Endian::Big {
            any.type_code = self.type_code.to_owned()?;
        }
        (any.endian, any.char_set) = self.form_of_copies();
        let start = self.value.position() % ALIGNMENT;
        any.start = start as u8;
        any.octets.clear();
        any.octets.resize(start, 0);
        any.values = self.passed.values;
        if has_form(&self.value, self.octets, self.passed, any.endian, any.char_set) {
            any.octets.extend_from_slice(self.octets);
            return Ok(());
        }
        walk::copy(&self.type_code, &mut self.value.clone(), &mut any.encoder())
    }
}

impl<'a> Found<'a, 'a> {
    /// Passes over it.
    pub(super) fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        Self::of_type(TypeCodeView::decode(decoder)?, decoder)
    }

    /// Lends it. What refers to values before it, or is in chunks of a value, is copied to the arena.
    fn lend(mut self, decoder: &mut Decoder<'a>) -> Result<AnyView<'a>, CdrError> {
        let is_elsewhere = self.passed.refers_outside || self.value.is_fragmented();
        if is_elsewhere && self.value.knows_values() {
            let mut any = Any::default();
            self.copy_to(&mut any)?;
            self.octets = decoder.lend_copy(&any.octets)?;
            let value = self.value.beginning_with(self.octets, any.endian);
            self.value = value.with_char_set(any.char_set).at(any.start.into());
            self.octets = &self.octets[any.start.into()..];
            self.passed.refers_outside = false;
        }
        Ok(AnyView {
            type_code: self.type_code,
            place: self.value.place(),
            octets: self.octets,
            passed: self.passed,
        })
    }
}

/// Returns whether the octets of a value are what another message of this form would contain.
fn has_form(
    value: &Decoder<'_>,
    octets: &[u8],
    passed: walk::Passed,
    endian: Endian,
    char_set: CharSet,
) -> bool {
    let same_text = value.char_set() == char_set || octets.is_ascii();
    let is_whole = !value.is_fragmented() && !passed.refers_outside;
    value.endian() == endian && same_text && is_whole
}

/// Largest alignment of a value.
pub(super) const ALIGNMENT: usize = 8;

impl<'a> Decode<'a> for AnyView<'a> {
    const MIN_SIZE: usize = 4;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        Found::decode(decoder)?.lend(decoder)
    }
}

impl Encode for AnyView<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        if self.passed.values.reach == walk::Reach::Any && self.encode_as_it_is(encoder)? {
            return Ok(());
        }
        self.type_code.encode(encoder)?;
        self.encode_value(encoder)
    }
}

impl AnyView<'_> {
    /// Encodes the value without its type, as an argument or result of an operation. An exception has its
    /// repository id in front.
    ///
    /// # Errors
    /// Text is outside the code set of the encoder, or a value of a value type cannot be converted.
    pub fn encode_value(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        let same_place = encoder.position() % ALIGNMENT == self.place.decoder().position() % ALIGNMENT;
        // Inside of a chunked value, others have chunks; and what is not known is copied in the same way
        // wherever it is.
        let values = self.passed.values;
        let is_whole = !(values.has_unknown || values.are_there && encoder.is_in_chunk());
        let same_place =
            same_place && is_whole && !encoder.has_fixed_wide_form() && self.is_accepted(encoder)?;
        if same_place && self.has_form(encoder.endian(), encoder.char_set()) {
            return self.append_octets(encoder);
        }
        let mut value = self.place.decoder();
        walk::copy_known(&self.type_code, values, false, &mut value, encoder)
    }

    /// Encodes type code and value, which contains one of an unknown type that may refer to others around it:
    /// only as a whole it remains what it is, at its alignment, for which a type code of another length makes
    /// room. Returns `false` if its octets would mean something else.
    fn encode_as_it_is(&self, encoder: &mut Encoder<'_>) -> Result<bool, CdrError> {
        let value = self.place.decoder();
        let same_text = value.char_set() == encoder.char_set()
            && !encoder.has_fixed_wide_form()
            && self.is_accepted(encoder)?;
        let is_whole = !value.is_fragmented() && !self.passed.refers_outside && !encoder.is_in_chunk();
        let same_text = same_text || self.passed.values.has_no_text;
        if !same_text || !is_whole || value.endian() != encoder.endian() {
            return Ok(false);
        }
        encoder.align(4)?;
        let begin = encoder.position();
        let mut code = self.type_code.to_owned()?;
        let fits =
            |code: &TypeCode| (begin + code.octets().len()) % ALIGNMENT == value.position() % ALIGNMENT;
        if !fits(&code) {
            code = self.type_code.shifted()?;
        }
        if !fits(&code) {
            return Ok(false);
        }
        code.encode(encoder)?;
        self.append_octets(encoder)?;
        Ok(true)
    }

    fn append_octets(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        if self.passed.values.are_there {
            encoder.note_values();
        }
        encoder.octets(self.octets)
    }

    /// Returns whether the peer accepts its wide text, if it has any.
    fn is_accepted(&self, encoder: &Encoder<'_>) -> Result<bool, CdrError> {
        Ok(match encoder.code_sets().wchar {
            WideCharSet::Utf16 => true,
            WideCharSet::None | WideCharSet::Unknown => {
                !walk::skip(&self.type_code, &mut self.place.decoder())?.has_wide_text
            }
        })
    }
}

impl From<AnyView<'_>> for Any {
    fn from(lent: AnyView<'_>) -> Self {
        lent.to_owned()
    }
}

impl fmt::Debug for AnyView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value() {
            Ok(value) => write!(f, "any of {} {value:?}", self.type_code),
            Err(error) => write!(f, "any of {}: {error}", self.type_code),
        }
    }
}

impl PartialEq for AnyView<'_> {
    /// Returns whether types and values are equal; numbers that are not numbers equal themselves here.
    fn eq(&self, other: &Self) -> bool {
        let decoder = self.place.decoder();
        let form = match self.passed.values.has_unknown {
            true => (decoder.endian(), decoder.char_set()),
            false => (Endian::NATIVE, CharSet::Utf8),
        };
        // What refers to values around it can be copied to a place of its alignment only.
        let [start, others] = [self, other].map(|any| any.place.decoder().position() % ALIGNMENT);
        let start = if start == others { start } else { 0 };
        let octets = |any| canonical(any, form, start);
        self.type_code.equivalent(&other.type_code)
            && (matches!((octets(self), octets(other)), (Ok(one), Ok(two)) if one == two)
                // Equivalent type codes inside may have different octets.
                || matches!((self.value(), other.value()), (Ok(one), Ok(two)) if one == two))
    }
}

/// The octets in a message of this form, in which so many others precede them.
fn canonical(
    any: &AnyView<'_>,
    (endian, char_set): (Endian, CharSet),
    start: usize,
) -> Result<Vec<u8>, CdrError> {
    let mut octets = vec![0; start];
    let encoder = Encoder::resume(&mut octets, endian).with_char_set(char_set);
    let mut encoder = encoder.without_header();
    let values = any.passed.values;
    walk::copy_known(
        &any.type_code,
        values,
        true,
        &mut any.place.decoder(),
        &mut encoder,
    )?;
    Ok(octets)
}

impl Typed for AnyView<'_> {
    fn describe(enclosing: &mut Enclosing) -> TypeCode {
        Any::describe(enclosing)
    }
}

/// Sequences of them are lent from an arena, which drops nothing.
const _: () = assert!(!core::mem::needs_drop::<AnyView<'_>>());
