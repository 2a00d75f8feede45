//! Values as JSON.

use std::fmt::Write as _;

use punctual::{
    any::{Any, AnyError, Value},
    ior_to_string,
};

use super::{binary128, conversion::SWITCH};

/// Returns the value of an `any` as JSON, over several lines if `is_tall`.
///
/// # Errors
/// It is malformed, or a value of a custom value type.
pub fn json(any: &Any, is_tall: bool) -> Result<String, AnyError> {
    let mut printed = Printed {
        text: String::new(),
        is_tall,
        depth: 0,
        objects: Vec::new(),
    };
    printed.value(&any.value()?)?;
    Ok(printed.text)
}

/// Returns a JSON object with these members, which are JSON already.
pub fn object(members: &[(String, String)], is_tall: bool) -> String {
    let (open, between, close) = if is_tall {
        ("{\n  ", ",\n  ", "\n}")
    } else {
        ("{", ", ", "}")
    };
    let members = members.iter().map(|(name, value)| {
        let value = if is_tall {
            value.replace('\n', "\n  ")
        } else {
            value.clone()
        };
        format!("{}: {value}", quoted(name))
    });
    format!("{open}{}{close}", members.collect::<Vec<_>>().join(between))
}

/// A JSON string.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

struct Printed {
    text: String,
    is_tall: bool,
    depth: usize,
    /// Values of value types that have been printed.
    objects: Vec<usize>,
}

/// Key of the number of a value that was printed before: values are counted in the order in which they begin.
const AGAIN: &str = "again";

impl Printed {
    fn value(&mut self, value: &Value) -> Result<(), AnyError> {
        match value {
            Value::None => self.text.push_str("null"),
            Value::Boolean(value) => self.number(value),
            Value::Octet(value) => self.number(value),
            Value::Short(value) => self.number(value),
            Value::UShort(value) => self.number(value),
            Value::Long(value) => self.number(value),
            Value::ULong(value) => self.number(value),
            Value::LongLong(value) => self.number(value),
            Value::ULongLong(value) => self.number(value),
            Value::Float(value) if value.is_finite() => self.number(value),
            Value::Float(value) => self.real(f64::from(*value)),
            Value::Double(value) => self.real(*value),
            Value::LongDouble(value) => self.real(binary128::to_f64(value.0)),
            Value::Fixed(unscaled, scale) => self.string(&decimal(*unscaled, *scale)),
            Value::Char(character) | Value::WChar(character) => self.string(&character.to_string()),
            Value::String(text) | Value::WString(text) | Value::Enum(_, text) => self.string(text),
            Value::Struct(members) => {
                let members = members.iter().map(|(name, value)| (&name[..], value));
                self.members(members)?;
            }
            Value::ValueType(object) => {
                let earlier = self.objects.iter().position(|id| *id == object.identity());
                if let Some(index) = earlier {
                    let number = Value::ULong(index as u32 + 1);
                    return self.members([(AGAIN, &number)]);
                }
                self.objects.push(object.identity());
                self.members(object.members().iter().map(|(name, value)| (&name[..], value)))?;
            }
            Value::Union(discriminator, member) => {
                let member = member.iter().map(|(name, value)| (&name[..], &**value));
                self.members([(SWITCH, &**discriminator)].into_iter().chain(member))?;
            }
            Value::Sequence(elements) => {
                let is_tall = elements.iter().any(has_parts);
                self.block(['[', ']'], is_tall, elements, Self::value)?;
            }
            Value::Octets(octets) => {
                let _ = write!(self.text, "{octets:?}");
            }
            Value::Any(any) => {
                let of = Value::String(any.type_code().to_string());
                self.members([("type", &of), ("value", &any.value()?)])?;
            }
            Value::TypeCode(code) => self.string(&code.to_string()),
            Value::Reference(ior) if ior.profiles.is_empty() => self.text.push_str("null"),
            Value::Reference(ior) => self.string(&ior_to_string(ior)),
        }
        Ok(())
    }

    fn number(&mut self, number: impl std::fmt::Display) {
        let _ = write!(self.text, "{number}");
    }

    /// JSON has no infinite numbers; `{:?}` keeps the exponent short.
    fn real(&mut self, number: f64) {
        match number {
            _ if number.is_finite() => self.text.push_str(&format!("{number:?}")),
            _ if number.is_nan() => self.string("NaN"),
            _ if number > 0.0 => self.string("Infinity"),
            _ => self.string("-Infinity"),
        }
    }

    fn string(&mut self, text: &str) {
        self.text.push_str(&quoted(text));
    }

    fn members<'v>(
        &mut self,
        members: impl IntoIterator<Item = (&'v str, &'v Value)>,
    ) -> Result<(), AnyError> {
        self.block(['{', '}'], true, members, |printed, (name, value)| {
            printed.string(name);
            printed.text.push_str(": ");
            printed.value(value)
        })
    }

    fn block<T>(
        &mut self,
        [open, close]: [char; 2],
        is_tall: bool,
        parts: impl IntoIterator<Item = T>,
        mut print: impl FnMut(&mut Self, T) -> Result<(), AnyError>,
    ) -> Result<(), AnyError> {
        let is_tall = is_tall && self.is_tall;
        self.text.push(open);
        self.depth += 1;
        let mut is_empty = true;
        for part in parts {
            match (is_empty, is_tall) {
                (true, _) => {}
                (false, true) => self.text.push(','),
                (false, false) => self.text.push_str(", "),
            }
            is_empty = false;
            self.line(is_tall);
            print(self, part)?;
        }
        self.depth -= 1;
        self.line(is_tall && !is_empty);
        self.text.push(close);
        Ok(())
    }

    fn line(&mut self, is_tall: bool) {
        if is_tall {
            self.text.push('\n');
            self.text.extend(std::iter::repeat_n("  ", self.depth));
        }
    }
}

/// Values without parts stay on one line.
fn has_parts(value: &Value) -> bool {
    matches!(
        value,
        Value::Struct(_)
            | Value::ValueType(_)
            | Value::Union(..)
            | Value::Sequence(_)
            | Value::Octets(_)
            | Value::Any(_)
    )
}

/// The digits of a `fixed`, with its point.
fn decimal(unscaled: i128, scale: i16) -> String {
    let places = usize::try_from(scale).unwrap_or_default();
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    let (sign, point) = (
        if unscaled < 0 { "-" } else { "" },
        if places > 0 { "." } else { "" },
    );
    format!("{sign}{whole}{point}{fraction}")
}
