//! Encoding of trees of values into octets.

use alloc::{boxed::Box, format, string::String, vec::Vec};

use punctual_cdr::{CdrErrorKind, Decoder, Encode, Encoder, Endian, WChar, WString};

use super::{DynValue, Value};
use crate::{
    AnyError, Kind, TypeCodeView,
    type_code::{UnionView, discriminator},
};

/// Encodes a value as the type code describes it.
pub(super) fn value(
    value: &Value,
    code: &TypeCodeView<'_>,
    encoder: &mut Encoder<'_>,
    depth: u16,
) -> Result<(), AnyError> {
    let kind = code.kind()?;
    if depth > Decoder::MAX_NESTING_LIMIT {
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
        (Kind::Alias, _) => self::value(value, &code.content()?, encoder, depth + 1)?,
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
        (Kind::Value | Kind::ValueBox | Kind::Event, Value::None) => encoder.null_value()?,
        (Kind::Value | Kind::ValueBox | Kind::Event, Value::ValueType(object)) => {
            encode_object(object, code, encoder, depth)?;
        }
        _ => return Err(AnyError::NotOfType(kind)),
    }
    Ok(())
}

/// A value of a value type, with all its members unless it was appended before.
fn encode_object(
    object: &DynValue,
    code: &TypeCodeView<'_>,
    encoder: &mut Encoder<'_>,
    depth: u16,
) -> Result<(), AnyError> {
    let kind = code.kind()?;
    let (is_custom, is_truncatable) = match kind {
        Kind::ValueBox => (false, false),
        _ => code
            .value()
            .map(|value| (value.is_custom, value.is_truncatable))?,
    };
    if is_custom {
        return Err(encoder.error(CdrErrorKind::TypeUnsupported).into());
    }
    let mut ids = Vec::new();
    // JacORB reads no value of an `any` without an id, and boxes without one only.
    if kind != Kind::ValueBox {
        ids.push(code.id()?);
        ids.extend(object.bases().iter().map(|id| &id[..]));
    }
    let state = code.state()?;
    let mut failed = None;
    let written = encoder.value(
        Some(object.shared()),
        &ids,
        is_truncatable || ids.len() > 1,
        |encoder, _| {
            let written = encode_state(object, &state, encoder, depth);
            written.map_err(|error| {
                failed = Some(error);
                encoder.error(CdrErrorKind::TypeUnsupported)
            })
        },
    );
    failed.map_or(written.map_err(AnyError::from), Err)
}

fn encode_state(
    object: &DynValue,
    state: &[(&str, TypeCodeView<'_>)],
    encoder: &mut Encoder<'_>,
    depth: u16,
) -> Result<(), AnyError> {
    if state.len() != object.members().len() {
        return Err(AnyError::NotOfType(Kind::Value));
    }
    for ((_, member), (_, of)) in object.members().iter().zip(state) {
        value(member, of, encoder, depth + 1)?;
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
        self::value(value, &of, encoder, depth + 1)?;
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
    self::value(selector, &union.discriminator, encoder, depth + 1)?;
    match (union.select(chosen)?.member, member) {
        (None, None) => Ok(()),
        (Some((_, of)), Some((_, value))) => self::value(value, &of, encoder, depth + 1),
        _ => Err(AnyError::NotOfType(Kind::Union)),
    }
}

/// Returns the label that a discriminator equals.
pub(super) fn chosen_label(
    selector: &Value,
    union: &UnionView<'_>,
    endian: Endian,
    depth: u16,
) -> Result<i128, AnyError> {
    let mut octets = Vec::new();
    value(
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
                self::value(value, &element, encoder, depth + 1)?;
            }
        }
        _ => {}
    }
    Ok(())
}
