//! Values without Rust type: what a type code and octets say.

mod tree;

use alloc::{boxed::Box, format, string::String, vec::Vec};

use punctual_cdr::{
    CdrError, CdrErrorKind, Decode, Decoder, Encode, Encoder, Endian, Ior, LongDouble, ValueTag, WChar,
    WString, unscaled,
};

use super::Any;
use crate::{
    AnyError, Kind, TypeCode, TypeCodeView,
    type_code::{MAX_DEPTH, UnionView, discriminator},
};

/// A value of any IDL type as a tree, for tools that learn types at run time: `DynamicAny::DynAny`.
///
/// ```
/// use punctual_any::{Any, Kind, TypeCode, Value};
///
/// let point = TypeCode::structure("IDL:Point:1.0", "Point", [("x", TypeCode::basic(Kind::Long))]);
/// let any = Any::from_value(point, &Value::Struct(vec![("x".into(), Value::Long(3))]))?;
/// let Value::Struct(members) = any.value()? else { unreachable!() };
/// assert_eq!(members[0], ("x".into(), Value::Long(3)));
/// # Ok::<(), punctual_any::AnyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null` or `void`; null of an abstract interface.
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
}

impl Value {
    /// Decodes the value at the decoder's position.
    pub(super) fn decode(code: &TypeCodeView<'_>, decoder: &mut Decoder<'_>) -> Result<Self, CdrError> {
        // Passing over it first bounds the work: see `walk`.
        crate::walk::skip(code, &mut decoder.clone())?;
        decode(code, decoder, 0)
    }

    /// Encodes the value as the type code describes it.
    pub(super) fn encode(&self, code: &TypeCodeView<'_>, encoder: &mut Encoder<'_>) -> Result<(), AnyError> {
        encode(self, code, encoder, 0)
    }
}

fn decode(code: &TypeCodeView<'_>, decoder: &mut Decoder<'_>, depth: u16) -> Result<Value, CdrError> {
    if depth > MAX_DEPTH {
        return Err(decoder.error(CdrErrorKind::NestingTooDeep));
    }
    // What a tree takes in memory counts, not only the text in it.
    decoder.reserve(size_of::<Value>())?;
    Ok(match code.kind()? {
        Kind::Null | Kind::Void => Value::None,
        Kind::Boolean => Value::Boolean(bool::decode(decoder)?),
        Kind::Char => Value::Char(char::decode(decoder)?),
        Kind::Octet => Value::Octet(u8::decode(decoder)?),
        Kind::Short => Value::Short(i16::decode(decoder)?),
        Kind::UShort => Value::UShort(u16::decode(decoder)?),
        Kind::Long => Value::Long(i32::decode(decoder)?),
        Kind::ULong => Value::ULong(u32::decode(decoder)?),
        Kind::LongLong => Value::LongLong(i64::decode(decoder)?),
        Kind::ULongLong => Value::ULongLong(u64::decode(decoder)?),
        Kind::Float => Value::Float(f32::decode(decoder)?),
        Kind::Double => Value::Double(f64::decode(decoder)?),
        Kind::LongDouble => Value::LongDouble(LongDouble::decode(decoder)?),
        Kind::String => Value::String(bounded(String::decode(decoder)?, code, decoder)?),
        Kind::WChar => Value::WChar(WChar::decode(decoder)?.0),
        Kind::WString => {
            let text = <WString>::decode(decoder)?.into_inner();
            Value::WString(bounded(text, code, decoder)?)
        }
        Kind::Fixed => {
            let (digits, scale) = code.digits_and_scale()?;
            let number = unscaled(decoder.octets(usize::from(digits) / 2 + 1)?);
            Value::Fixed(
                number.ok_or_else(|| decoder.error(CdrErrorKind::FixedInvalid))?,
                scale,
            )
        }
        Kind::Enum => {
            let ordinal = u32::decode(decoder)?;
            // The names that are passed over count as memory, which bounds them.
            decoder.reserve(ordinal as usize)?;
            let name = code.unread_enumerators()?.nth(ordinal as usize);
            let name = name.ok_or_else(|| decoder.error(CdrErrorKind::EnumOutOfRange))??;
            Value::Enum(ordinal, owned(name.read()?, decoder)?)
        }
        Kind::Alias => decode(&code.content()?, decoder, depth + 1)?,
        Kind::Struct => members(code, decoder, depth)?,
        Kind::Except => {
            String::decode(decoder)?;
            members(code, decoder, depth)?
        }
        Kind::Union => union(code, decoder, depth)?,
        Kind::Sequence => {
            let count = u32::decode(decoder)?;
            elements(count, code, decoder, depth)?
        }
        Kind::Array => elements(code.length()?, code, decoder, depth)?,
        Kind::Any => Value::Any(Any::decode(decoder)?),
        Kind::TypeCode => Value::TypeCode(TypeCode::decode(decoder)?),
        Kind::ObjRef | Kind::Component | Kind::Home => Value::Reference(Ior::decode(decoder)?),
        Kind::AbstractInterface => abstract_interface(decoder)?,
        _ => return Err(decoder.error(CdrErrorKind::TypeUnsupported)),
    })
}

/// A reference, or null: what values consist of is not described.
fn abstract_interface(decoder: &mut Decoder<'_>) -> Result<Value, CdrError> {
    if bool::decode(decoder)? {
        return Ok(Value::Reference(Ior::decode(decoder)?));
    }
    match decoder.value_tag()? {
        ValueTag::Null => Ok(Value::None),
        _ => Err(decoder.error(CdrErrorKind::TypeUnsupported)),
    }
}

fn bounded(text: String, code: &TypeCodeView<'_>, decoder: &Decoder<'_>) -> Result<String, CdrError> {
    match code.length()? {
        0 => Ok(text),
        bound if text.chars().count() <= bound as usize => Ok(text),
        _ => Err(decoder.error(CdrErrorKind::BoundExceeded)),
    }
}

fn members(code: &TypeCodeView<'_>, decoder: &mut Decoder<'_>, depth: u16) -> Result<Value, CdrError> {
    let mut members = Vec::new();
    for member in code.members()? {
        let (name, of) = member?;
        members.push((owned(name, decoder)?, decode(&of, decoder, depth + 1)?));
    }
    Ok(Value::Struct(members))
}

fn union(code: &TypeCodeView<'_>, decoder: &mut Decoder<'_>, depth: u16) -> Result<Value, CdrError> {
    let mut union = code.union()?;
    let chosen = discriminator(union.label_kind, &mut decoder.clone())?;
    let selector = decode(&union.discriminator, decoder, depth + 1)?;
    let member = match union.select(chosen)?.member {
        Some((name, of)) => {
            let name = owned(name.read()?, decoder)?;
            Some((name, Box::new(decode(&of, decoder, depth + 1)?)))
        }
        None => None,
    };
    Ok(Value::Union(Box::new(selector), member))
}

/// Each element of a sequence has the names of its type: they count as the value does.
fn owned(name: &str, decoder: &mut Decoder<'_>) -> Result<String, CdrError> {
    decoder.reserve(name.len())?;
    Ok(String::from(name))
}

fn elements(
    count: u32,
    code: &TypeCodeView<'_>,
    decoder: &mut Decoder<'_>,
    depth: u16,
) -> Result<Value, CdrError> {
    let element = code.content()?.resolved()?;
    if element.kind()? == Kind::Octet {
        decoder.reserve(count as usize)?;
        return Ok(Value::Octets(decoder.octets(count as usize)?.to_vec()));
    }
    let mut elements = Vec::new();
    for _ in 0..count {
        elements.push(decode(&element, decoder, depth + 1)?);
    }
    Ok(Value::Sequence(elements))
}

fn encode(
    value: &Value,
    code: &TypeCodeView<'_>,
    encoder: &mut Encoder<'_>,
    depth: u16,
) -> Result<(), AnyError> {
    let kind = code.kind()?;
    if depth > MAX_DEPTH {
        return Err(encoder.error(CdrErrorKind::NestingTooDeep).into());
    }
    match (kind, value) {
        (Kind::Null | Kind::Void, Value::None) => {}
        (Kind::AbstractInterface, Value::None) => {
            false.encode(encoder)?;
            encoder.null_value()?;
        }
        (Kind::AbstractInterface, Value::Reference(reference)) => {
            true.encode(encoder)?;
            reference.encode(encoder)?;
        }
        (Kind::Boolean, Value::Boolean(value)) => value.encode(encoder)?,
        (Kind::Char, Value::Char(value)) => value.encode(encoder)?,
        (Kind::Octet, Value::Octet(value)) => value.encode(encoder)?,
        (Kind::Short, Value::Short(value)) => value.encode(encoder)?,
        (Kind::UShort, Value::UShort(value)) => value.encode(encoder)?,
        (Kind::Long, Value::Long(value)) => value.encode(encoder)?,
        (Kind::ULong, Value::ULong(value)) => value.encode(encoder)?,
        (Kind::LongLong, Value::LongLong(value)) => value.encode(encoder)?,
        (Kind::ULongLong, Value::ULongLong(value)) => value.encode(encoder)?,
        (Kind::Float, Value::Float(value)) => value.encode(encoder)?,
        (Kind::Double, Value::Double(value)) => value.encode(encoder)?,
        (Kind::LongDouble, Value::LongDouble(value)) => value.encode(encoder)?,
        (Kind::String | Kind::WString, Value::String(text) | Value::WString(text)) => {
            let bound = code.length()? as usize;
            if bound != 0 && text.chars().count() > bound {
                return Err(encoder.error(CdrErrorKind::BoundExceeded).into());
            }
            match (kind, value) {
                (Kind::String, Value::String(_)) => text.encode(encoder)?,
                (Kind::WString, Value::WString(_)) => <WString>::from(text.as_str()).encode(encoder)?,
                _ => return Err(AnyError::NotOfType(kind)),
            }
        }
        (Kind::WChar, Value::WChar(character)) => WChar(*character).encode(encoder)?,
        (Kind::Fixed, Value::Fixed(number, scale)) => encode_fixed(*number, *scale, code, encoder)?,
        (Kind::Enum, Value::Enum(ordinal, _)) if (*ordinal as usize) < code.enumerators()?.len() => {
            ordinal.encode(encoder)?;
        }
        (Kind::Alias, _) => encode(value, &code.content()?, encoder, depth + 1)?,
        (Kind::Struct, Value::Struct(members)) => encode_members(members, code, encoder, depth)?,
        (Kind::Except, Value::Struct(members)) => {
            code.id()?.encode(encoder)?;
            encode_members(members, code, encoder, depth)?;
        }
        (Kind::Union, Value::Union(selector, member)) => {
            encode_union(selector, member.as_ref(), code, encoder, depth)?;
        }
        (Kind::Sequence | Kind::Array, _) => encode_elements(kind, value, code, encoder, depth)?,
        (Kind::Any, Value::Any(any)) => any.encode(encoder)?,
        (Kind::TypeCode, Value::TypeCode(code)) => code.encode(encoder)?,
        (Kind::ObjRef | Kind::Component | Kind::Home, Value::Reference(ior)) => ior.encode(encoder)?,
        _ => return Err(AnyError::NotOfType(kind)),
    }
    Ok(())
}

/// Two digits in an octet, behind the digits of the type the sign.
fn encode_fixed(
    number: i128,
    scale: i16,
    code: &TypeCodeView<'_>,
    encoder: &mut Encoder<'_>,
) -> Result<(), AnyError> {
    let (digits, of_type) = code.digits_and_scale()?;
    let has_room = digits <= 31 && number.unsigned_abs() < 10_u128.pow(digits.into());
    if scale != of_type || !has_room {
        return Err(AnyError::NotOfType(Kind::Fixed));
    }
    let padded = usize::from(digits) / 2 * 2 + 1;
    let sign = if number < 0 { 'd' } else { 'c' };
    let halves = format!("{:0padded$}{sign}", number.unsigned_abs());
    for pair in halves.as_bytes().as_chunks::<2>().0 {
        let half = |digit: u8| (digit as char).to_digit(16).unwrap_or_default() as u8;
        encoder.octets(&[half(pair[0]) << 4 | half(pair[1])])?;
    }
    Ok(())
}

fn encode_members(
    values: &[(String, Value)],
    code: &TypeCodeView<'_>,
    encoder: &mut Encoder<'_>,
    depth: u16,
) -> Result<(), AnyError> {
    let mut members = code.members()?;
    for (_, value) in values {
        let (_, of) = members.next().ok_or(AnyError::NotOfType(Kind::Struct))??;
        encode(value, &of, encoder, depth + 1)?;
    }
    match members.next() {
        None => Ok(()),
        Some(_) => Err(AnyError::NotOfType(Kind::Struct)),
    }
}

fn encode_union(
    selector: &Value,
    member: Option<&(String, Box<Value>)>,
    code: &TypeCodeView<'_>,
    encoder: &mut Encoder<'_>,
    depth: u16,
) -> Result<(), AnyError> {
    let mut union = code.union()?;
    let chosen = chosen_label(selector, &union, encoder.endian(), depth)?;
    encode(selector, &union.discriminator, encoder, depth + 1)?;
    match (union.select(chosen)?.member, member) {
        (None, None) => Ok(()),
        (Some((_, of)), Some((_, value))) => encode(value, &of, encoder, depth + 1),
        _ => Err(AnyError::NotOfType(Kind::Union)),
    }
}

/// The label that a discriminator equals.
fn chosen_label(
    selector: &Value,
    union: &UnionView<'_>,
    endian: Endian,
    depth: u16,
) -> Result<i128, AnyError> {
    let mut octets = Vec::new();
    encode(
        selector,
        &union.discriminator,
        &mut Encoder::new(&mut octets, endian),
        depth + 1,
    )?;
    Ok(discriminator(
        union.label_kind,
        &mut Decoder::new(&octets, endian),
    )?)
}

fn encode_elements(
    kind: Kind,
    value: &Value,
    code: &TypeCodeView<'_>,
    encoder: &mut Encoder<'_>,
    depth: u16,
) -> Result<(), AnyError> {
    let element = code.content()?.resolved()?;
    let (count, length) = match value {
        Value::Sequence(elements) => (elements.len(), code.length()? as usize),
        Value::Octets(octets) if element.kind()? == Kind::Octet => (octets.len(), code.length()? as usize),
        _ => return Err(AnyError::NotOfType(kind)),
    };
    match kind {
        Kind::Array if count != length => return Err(AnyError::NotOfType(kind)),
        Kind::Array => {}
        _ if length != 0 && count > length => {
            return Err(encoder.error(CdrErrorKind::BoundExceeded).into());
        }
        _ => encoder.length(count)?,
    }
    match value {
        Value::Octets(octets) => encoder.octets(octets)?,
        Value::Sequence(elements) => {
            for value in elements {
                encode(value, &element, encoder, depth + 1)?;
            }
        }
        _ => {}
    }
    Ok(())
}
