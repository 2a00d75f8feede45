//! Decoding of octets into trees of values.

use alloc::{boxed::Box, collections::BTreeMap, string::String, vec::Vec};
use core::mem;

use punctual_cdr::{
    CdrError, CdrErrorKind, Decode, Decoder, Ior, LongDouble, ValueTag, WChar, WString, unscaled,
};

use super::{Any, DynValue, Value};
use crate::{
    Kind, TypeCode, TypeCodeView,
    type_code::{BOXED, discriminator},
    walk::OCTETS_PER_STEP,
};

/// Octets counted for a value of a value type, besides its members.
const SHARED: usize = 128;

/// Decodes the parts of one value.
#[derive(Default)]
pub(super) struct Reader {
    /// Parts around the present one.
    depth: u16,
    /// The greatest depth in the present value of a value type, with the parts of earlier ones in it.
    deepest: u16,
    /// Values of value types by position, with the levels of parts in them; `None` while one is being
    /// decoded.
    values: BTreeMap<usize, Option<(DynValue, u16)>>,
}

impl Reader {
    pub(super) fn value(
        &mut self,
        code: &TypeCodeView<'_>,
        decoder: &mut Decoder<'_>,
    ) -> Result<Value, CdrError> {
        self.expect_levels(0, decoder)?;
        self.depth += 1;
        let value = self.of_kind(code, decoder);
        self.depth -= 1;
        value
    }

    /// Fails if what begins here is nested too deeply with so many levels in it.
    fn expect_levels(&mut self, levels: u16, decoder: &Decoder<'_>) -> Result<(), CdrError> {
        self.deepest = self.deepest.max(self.depth + levels);
        if self.depth + levels > decoder.nesting_left() {
            return Err(decoder.error(CdrErrorKind::NestingTooDeep));
        }
        Ok(())
    }

    fn of_kind(&mut self, code: &TypeCodeView<'_>, decoder: &mut Decoder<'_>) -> Result<Value, CdrError> {
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
            Kind::Alias => self.value(&code.content()?, decoder)?,
            Kind::Struct => self.members(code, decoder)?,
            Kind::Except => {
                String::decode(decoder)?;
                self.members(code, decoder)?
            }
            Kind::Union => self.union(code, decoder)?,
            Kind::Sequence => {
                let count = u32::decode(decoder)?;
                self.elements(count, code, decoder)?
            }
            Kind::Array => self.elements(code.length()?, code, decoder)?,
            Kind::Any => Value::Any(Any::decode(decoder)?),
            Kind::TypeCode => Value::TypeCode(TypeCode::decode(decoder)?),
            Kind::ObjRef | Kind::Component | Kind::Home => Value::Reference(Ior::decode(decoder)?),
            Kind::AbstractInterface => abstract_interface(decoder)?,
            Kind::Value | Kind::ValueBox | Kind::Event => self.shared(code, decoder)?,
            _ => return Err(decoder.error(CdrErrorKind::TypeUnsupported)),
        })
    }

    fn members(&mut self, code: &TypeCodeView<'_>, decoder: &mut Decoder<'_>) -> Result<Value, CdrError> {
        let mut members = Vec::new();
        for member in code.members()? {
            let (name, of) = member?;
            members.push((owned(name, decoder)?, self.value(&of, decoder)?));
        }
        Ok(Value::Struct(members))
    }

    fn union(&mut self, code: &TypeCodeView<'_>, decoder: &mut Decoder<'_>) -> Result<Value, CdrError> {
        let mut union = code.union()?;
        let chosen = discriminator(union.label_kind, &mut decoder.clone())?;
        let selector = self.value(&union.discriminator, decoder)?;
        let member = match union.select(chosen)?.member {
            Some((name, of)) => {
                let name = owned(name.read()?, decoder)?;
                Some((name, Box::new(self.value(&of, decoder)?)))
            }
            None => None,
        };
        Ok(Value::Union(Box::new(selector), member))
    }

    fn elements(
        &mut self,
        count: u32,
        code: &TypeCodeView<'_>,
        decoder: &mut Decoder<'_>,
    ) -> Result<Value, CdrError> {
        let element = code.content()?;
        let element = element.resolved_in_steps(|| decoder.reserve(OCTETS_PER_STEP))?;
        if element.kind()? == Kind::Octet {
            decoder.reserve(count as usize)?;
            return Ok(Value::Octets(decoder.octets(count as usize)?.to_vec()));
        }
        let mut elements = Vec::new();
        for _ in 0..count {
            elements.push(self.value(&element, decoder)?);
        }
        Ok(Value::Sequence(elements))
    }

    fn shared(&mut self, code: &TypeCodeView<'_>, decoder: &mut Decoder<'_>) -> Result<Value, CdrError> {
        let unsupported = decoder.error(CdrErrorKind::TypeUnsupported);
        let header = match decoder.value_tag()? {
            ValueTag::Null => return Ok(Value::None),
            ValueTag::Earlier(position) => {
                let known = self.values.get(&position).ok_or(unsupported)?.clone();
                let (value, levels) = known.ok_or_else(|| decoder.error(CdrErrorKind::ValueCyclic))?;
                // As if it were nested here: chains of references are as deep.
                self.expect_levels(levels, decoder)?;
                return Ok(Value::ValueType(value));
            }
            ValueTag::Value(header) => header,
        };
        // The types in front of the one that the type code describes are left out: truncation.
        let left_out = match header.ids.len() {
            0 => Some(0),
            _ => header.ids.iter().position(|id| code.has_id(id)),
        };
        let left_out = left_out.ok_or(unsupported)?;
        let is_custom = code.kind()? != Kind::ValueBox && code.value()?.is_custom;
        if is_custom || left_out > 0 && !header.is_chunked {
            return Err(unsupported);
        }
        decoder.reserve(SHARED)?;
        self.values.insert(header.position, None);
        let around = mem::replace(&mut self.deepest, self.depth);
        let members = decoder.value_state(&header, left_out > 0, |decoder| {
            let mut members = Vec::new();
            self.state(code, decoder, &mut members)?;
            Ok(members)
        })?;
        let mut ids = Vec::new();
        for id in header.ids.get(left_out + 1..).unwrap_or_default() {
            let id = core::str::from_utf8(id).map_err(|_| decoder.error(CdrErrorKind::ValueMalformed))?;
            ids.push(owned(id, decoder)?);
        }
        let value = DynValue::new(members).truncatable_to(ids);
        self.values
            .insert(header.position, Some((value.clone(), self.deepest - self.depth)));
        self.deepest = self.deepest.max(around);
        Ok(Value::ValueType(value))
    }

    /// The members of the base, then its own, of which no list is made: a type code can be large.
    fn state(
        &mut self,
        code: &TypeCodeView<'_>,
        decoder: &mut Decoder<'_>,
        members: &mut Vec<(String, Value)>,
    ) -> Result<(), CdrError> {
        if code.kind()? == Kind::ValueBox {
            members.push((owned(BOXED, decoder)?, self.value(&code.content()?, decoder)?));
            return Ok(());
        }
        self.expect_levels(0, decoder)?;
        let mut value = code.value()?;
        if let Some(base) = value.base {
            self.depth += 1;
            self.state(&base.resolved()?, decoder, members)?;
            self.depth -= 1;
        }
        for _ in 0..value.members {
            let (name, of) = value.next()?;
            members.push((owned(name.read()?, decoder)?, self.value(&of, decoder)?));
        }
        Ok(())
    }
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

/// Each element of a sequence has the names of its type: they count as the value does.
fn owned(name: &str, decoder: &mut Decoder<'_>) -> Result<String, CdrError> {
    decoder.reserve(name.len())?;
    Ok(String::from(name))
}
