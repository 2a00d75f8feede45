//! Converts the value of a constant expression to its type (clause 7.4.3.2).

use super::Resolver;
use super::arithmetic::{Problem, Target, Value};
use super::fixed;
use crate::codes::Code;
use crate::hir::{ConstantValue, DefinitionKind, FixedValue, Type};

impl Resolver<'_> {
    /// Returns whether a constant may have this type, typedefs resolved.
    pub(super) fn may_be_constant(&self, target: &Type) -> bool {
        match target {
            Type::Ref(id) => matches!(self.spec[*id].kind, DefinitionKind::Enum(_)),
            Type::Void
            | Type::Any
            | Type::Object
            | Type::ValueBase
            | Type::Sequence { .. }
            | Type::Map { .. }
            | Type::Array { .. } => false,
            _ => true,
        }
    }

    /// Converts a value to a type.
    pub(super) fn convert(&self, value: &Value, target: &Type) -> Result<ConstantValue, Problem> {
        if let (Value::Integer(value), Some(range)) = (value, integer_target(target).map(Target::range)) {
            return integer(*value, target).ok_or_else(|| {
                let message = format!("{value} does not fit in `{}`", type_name(target));
                let help = format!("the range is {} to {}", range.start(), range.end());
                (Code::ConstantOutOfRange, message, help)
            });
        }
        match (value, target) {
            (Value::Float(value), Type::Float) if (*value as f32).is_finite() => {
                return Ok(ConstantValue::Float(*value as f32));
            }
            (Value::Float(value), Type::Float) => {
                let message = format!("{value:e} does not fit in `float`");
                return Err((Code::ConstantOutOfRange, message, "use `double`".to_owned()));
            }
            (Value::Float(value), Type::Double) => return Ok(ConstantValue::Double(*value)),
            (Value::LongDouble(value), Type::LongDouble) => return Ok(ConstantValue::LongDouble(*value)),
            (Value::Integer(_), Type::Float | Type::Double | Type::LongDouble) => {
                let message = format!("an integer is not a value of `{}`", type_name(target));
                let help = "write the numbers with a point, such as `1.0`".to_owned();
                return Err((Code::ConstantTypeMismatch, message, help));
            }
            (Value::Fixed(value), Type::Fixed { digits, scale }) => {
                return fixed_constant(*value, *digits, *scale);
            }
            (Value::Boolean(value), Type::Boolean) => return Ok(ConstantValue::Boolean(*value)),
            (Value::Char(value), Type::Char) => return Ok(ConstantValue::Char(*value)),
            (Value::WideChar(value), Type::WChar) => return Ok(ConstantValue::WChar(*value)),
            (Value::String(text), Type::String { bound }) => {
                return within_bound(text, *bound).map(ConstantValue::String);
            }
            (Value::WideString(text), Type::WString { bound }) => {
                return within_bound(text, *bound).map(ConstantValue::WString);
            }
            (Value::Enumerator(enumeration, ordinal), Type::Ref(id)) if enumeration == id => {
                return Ok(ConstantValue::Enumerator {
                    enumeration: *enumeration,
                    ordinal: *ordinal,
                });
            }
            _ => {}
        }
        let wanted = match target {
            Type::Ref(id) => self.spec[*id].name.as_str(),
            other => type_name(other),
        };
        let help = match (value, target) {
            (Value::String(_), Type::WString { .. }) | (Value::Char(_), Type::WChar) => {
                "put `L` before the literal"
            }
            (Value::WideString(_), Type::String { .. }) | (Value::WideChar(_), Type::Char) => {
                "remove the `L` before the literal, or use the wide type"
            }
            (Value::Float(_) | Value::LongDouble(_), Type::Fixed { .. }) => {
                "end the literals with `d`, such as `1.5d`"
            }
            (Value::Integer(_), Type::Boolean) => "write `TRUE` or `FALSE`",
            _ => "change the value or the type so that they agree",
        };
        Err((
            Code::ConstantTypeMismatch,
            format!("{} is not a value of `{wanted}`", value.describe()),
            help.to_owned(),
        ))
    }
}

/// Returns the target of an expression of this type, typedefs resolved.
pub(super) fn target_of(ty: &Type) -> Target {
    match ty {
        Type::LongDouble => Target::long_double(),
        ty => integer_target(ty).unwrap_or(Target::signed(64)),
    }
}

pub(super) fn integer_target(ty: &Type) -> Option<Target> {
    Some(match ty {
        Type::Octet => Target::unsigned(8),
        Type::Int8 => Target::signed(8),
        Type::Short => Target::signed(16),
        Type::UShort => Target::unsigned(16),
        Type::Long => Target::signed(32),
        Type::ULong => Target::unsigned(32),
        Type::LongLong => Target::signed(64),
        Type::ULongLong => Target::unsigned(64),
        _ => return None,
    })
}

fn integer(value: i128, ty: &Type) -> Option<ConstantValue> {
    match ty {
        Type::Octet => value.try_into().ok().map(ConstantValue::Octet),
        Type::Int8 => value.try_into().ok().map(ConstantValue::Int8),
        Type::Short => value.try_into().ok().map(ConstantValue::Short),
        Type::UShort => value.try_into().ok().map(ConstantValue::UShort),
        Type::Long => value.try_into().ok().map(ConstantValue::Long),
        Type::ULong => value.try_into().ok().map(ConstantValue::ULong),
        Type::LongLong => value.try_into().ok().map(ConstantValue::LongLong),
        Type::ULongLong => value.try_into().ok().map(ConstantValue::ULongLong),
        _ => None,
    }
}

/// Converts a fixed-point value to a type: the fraction is truncated, the integer part must fit.
fn fixed_constant(value: FixedValue, digits: u8, scale: u8) -> Result<ConstantValue, Problem> {
    let mut value = value;
    while value.scale > scale {
        value = FixedValue {
            unscaled: value.unscaled / 10,
            scale: value.scale - 1,
        };
    }
    let whole = fixed::digits(value.unscaled).saturating_sub(u32::from(value.scale));
    // `fixed` without digits is fixed<31, 31> here and takes any value.
    let room = if scale == 31 {
        31
    } else {
        u32::from(digits - scale)
    };
    let is_zero_whole = value.unscaled.unsigned_abs() < 10u128.pow(u32::from(value.scale));
    if is_zero_whole || whole <= room {
        return Ok(ConstantValue::Fixed(value));
    }
    let message = format!("the value has {whole} digits before the point, the type has {room}");
    Err((
        Code::ConstantOutOfRange,
        message,
        "use a fixed type with more digits".to_owned(),
    ))
}

fn within_bound(text: &str, bound: Option<u32>) -> Result<String, Problem> {
    let length = text.chars().count();
    match bound {
        Some(bound) if length > bound as usize => Err((
            Code::ConstantOutOfRange,
            format!("the string has {length} characters, its type at most {bound}"),
            "shorten the text, or use a larger bound".to_owned(),
        )),
        _ => Ok(text.to_owned()),
    }
}

/// Returns a type as IDL writes it.
fn type_name(ty: &Type) -> &'static str {
    match ty {
        Type::Boolean => "boolean",
        Type::Char => "char",
        Type::WChar => "wchar",
        Type::Octet => "octet",
        Type::Int8 => "int8",
        Type::Short => "short",
        Type::UShort => "unsigned short",
        Type::Long => "long",
        Type::ULong => "unsigned long",
        Type::LongLong => "long long",
        Type::ULongLong => "unsigned long long",
        Type::Float => "float",
        Type::Double => "double",
        Type::LongDouble => "long double",
        Type::String { .. } => "string",
        Type::WString { .. } => "wstring",
        Type::Fixed { .. } => "fixed",
        _ => "this type",
    }
}
