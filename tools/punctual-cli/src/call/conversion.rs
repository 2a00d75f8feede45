//! Conversion of literals to values of a type.

use punctual::{
    Ior, LongDouble, Orb,
    any::{Any, DynValue, Kind, TypeCode, TypeCodeView, Value},
};

use super::{binary128, literal::Literal};
use crate::tls;

/// Context in which literals are read.
pub struct Reading<'r> {
    /// Resolves references.
    pub orb: &'r Orb,
    /// Finds types by their names, for values of an `any`.
    pub types: &'r dyn Fn(&str) -> Option<TypeCode>,
}

impl Reading<'_> {
    /// Reads an argument of an operation. Text, characters, enumerators and references need no quotation
    /// marks there, which the shell would take away.
    ///
    /// # Errors
    /// Place at which the argument is not of the type, and the expected form.
    pub fn argument(&self, text: &str, of: &TypeCode) -> Result<Any, String> {
        let malformed = |error: punctual::any::AnyError| error.to_string();
        let code = of.view().resolved().map_err(|error| error.to_string())?;
        let is_bare = match code.kind() {
            Ok(Kind::String | Kind::WString | Kind::Char | Kind::WChar) => !text.starts_with(['"', '\'']),
            Ok(Kind::ObjRef | Kind::AbstractInterface) => !text.starts_with('"') && text != "null",
            _ => false,
        };
        let literal = if is_bare && !text.starts_with("L\"") {
            Literal::Text(text.to_owned())
        } else {
            Literal::parse(text)?
        };
        let value = self
            .value(&literal, &code)
            .map_err(|problem| problem.to_string())?;
        Any::from_value(of.clone(), &value).map_err(malformed)
    }

    fn value(&self, literal: &Literal, code: &TypeCodeView<'_>) -> Result<Value, Problem> {
        let code = &code.resolved()?;
        let kind = code.kind()?;
        let mismatch = || {
            let advice = match (kind, literal) {
                (Kind::String | Kind::WString | Kind::Char | Kind::WChar, Literal::Name(name)) => {
                    format!("; write it in quotes: \"{name}\"")
                }
                _ => String::new(),
            };
            let expected = expectation(code);
            Problem::at_value(format!("`{}` is not {expected}{advice}", short(literal)))
        };
        Ok(match (kind, literal) {
            (Kind::Boolean, Literal::Boolean(value)) => Value::Boolean(*value),
            (Kind::Octet, Literal::Number(text)) => Value::Octet(integer(text, kind)?),
            (Kind::Short, Literal::Number(text)) => Value::Short(integer(text, kind)?),
            (Kind::UShort, Literal::Number(text)) => Value::UShort(integer(text, kind)?),
            (Kind::Long, Literal::Number(text)) => Value::Long(integer(text, kind)?),
            (Kind::ULong, Literal::Number(text)) => Value::ULong(integer(text, kind)?),
            (Kind::LongLong, Literal::Number(text)) => Value::LongLong(integer(text, kind)?),
            (Kind::ULongLong, Literal::Number(text)) => Value::ULongLong(integer(text, kind)?),
            (Kind::Float | Kind::Double | Kind::LongDouble, _) => {
                let (Literal::Number(text) | Literal::Name(text) | Literal::Text(text)) = literal else {
                    return Err(mismatch());
                };
                let number: f64 = text.parse().map_err(|_| mismatch())?;
                match kind {
                    Kind::Float => Value::Float(text.parse().map_err(|_| mismatch())?),
                    Kind::Double => Value::Double(number),
                    _ => Value::LongDouble(LongDouble(binary128::from_f64(number))),
                }
            }
            (Kind::Fixed, Literal::Number(text) | Literal::Text(text)) => fixed(text, code)?,
            (Kind::Char, Literal::Text(text)) => Value::Char(character(text).ok_or_else(mismatch)?),
            (Kind::WChar, Literal::Text(text)) => Value::WChar(character(text).ok_or_else(mismatch)?),
            (Kind::String, Literal::Text(text)) => Value::String(text.clone()),
            (Kind::WString, Literal::Text(text)) => Value::WString(text.clone()),
            (Kind::Enum, Literal::Name(name) | Literal::Text(name)) => {
                enumerator(name, code)?.ok_or_else(mismatch)?
            }
            (Kind::Struct | Kind::Except, Literal::Record(members)) => {
                Value::Struct(self.record(members, &code.members()?.collect::<Result<Vec<_>, _>>()?, code)?)
            }
            (Kind::Struct | Kind::Except, Literal::List(values)) => Value::Struct(self.positional(
                values,
                &code.members()?.collect::<Result<Vec<_>, _>>()?,
                code,
            )?),
            (Kind::Value | Kind::ValueBox | Kind::Event, _) => self.object(literal, code)?,
            (Kind::Union, Literal::Record(members)) => self.union(members, code)?,
            (Kind::Sequence | Kind::Array, Literal::List(elements)) => self.elements(elements, code)?,
            (Kind::Sequence, Literal::Record(members)) if members.is_empty() => self.elements(&[], code)?,
            (Kind::Any, _) => Value::Any(self.any(literal)?),
            (Kind::TypeCode, Literal::Name(name) | Literal::Text(name)) => {
                Value::TypeCode((self.types)(name).ok_or_else(mismatch)?)
            }
            (Kind::ObjRef | Kind::AbstractInterface, _) => self.reference(literal, code)?,
            _ => return Err(mismatch()),
        })
    }

    /// A value of a value type, written as a struct with the members of all bases; `null`; or the content of
    /// a boxed one.
    fn object(&self, literal: &Literal, code: &TypeCodeView<'_>) -> Result<Value, Problem> {
        let state = code.state()?;
        let members = match (literal, &state[..]) {
            (Literal::Null, _) => return Ok(Value::None),
            (Literal::Record(given), _) if given.iter().all(|(name, _)| is_member(name, &state)) => {
                self.record(given, &state, code)?
            }
            (literal, [(name, content)]) if code.kind()? == Kind::ValueBox => {
                vec![((*name).to_owned(), self.value(literal, content)?)]
            }
            (Literal::Record(given), _) => self.record(given, &state, code)?,
            (Literal::List(values), _) => self.positional(values, &state, code)?,
            _ => {
                let expected = "null, or written {\"MEMBER\": VALUE, …}";
                return Err(Problem::at_value(format!(
                    "`{}` is not a {code}: {expected}",
                    short(literal)
                )));
            }
        };
        Ok(DynValue::new(members).into())
    }

    fn record(
        &self,
        given: &[(String, Literal)],
        members: &[(&str, TypeCodeView<'_>)],
        code: &TypeCodeView<'_>,
    ) -> Result<Vec<(String, Value)>, Problem> {
        if let Some((name, _)) = given.iter().find(|(name, _)| !is_member(name, members)) {
            return Err(Problem::at_value(format!("`{name}` is not a member of {code}")));
        }
        let values = members.iter().map(|(name, of)| {
            let literal = given.iter().find(|(given, _)| given == name);
            let missing = || Problem::at_value(format!("member `{name}` is missing in {code}"));
            let value = self.value(&literal.ok_or_else(missing)?.1, of);
            Ok(((*name).to_owned(), value.map_err(|problem| problem.inside(name))?))
        });
        values.collect()
    }

    /// The members in order, without names.
    fn positional(
        &self,
        given: &[Literal],
        members: &[(&str, TypeCodeView<'_>)],
        code: &TypeCodeView<'_>,
    ) -> Result<Vec<(String, Value)>, Problem> {
        if members.len() != given.len() {
            let counts = format!("{} members, not {}", members.len(), given.len());
            return Err(Problem::at_value(format!("{code} has {counts}")));
        }
        let values = members.iter().zip(given).map(|((name, of), literal)| {
            let value = self.value(literal, of).map_err(|problem| problem.inside(name))?;
            Ok(((*name).to_owned(), value))
        });
        values.collect()
    }

    /// `{"switch": DISCRIMINATOR, "MEMBER": VALUE}`; a member with a label needs no discriminator.
    fn union(&self, given: &[(String, Literal)], code: &TypeCodeView<'_>) -> Result<Value, Problem> {
        let form = || {
            Problem::at_value(format!(
                "{code} is written {{\"switch\": DISCRIMINATOR, \"MEMBER\": VALUE}}"
            ))
        };
        let switch = given.iter().find(|(name, _)| name == SWITCH);
        let member = given.iter().find(|(name, _)| name != SWITCH);
        let discriminator = match (switch, member) {
            (Some((_, literal)), _) => self
                .value(literal, &code.discriminator()?)
                .map_err(|problem| problem.inside(SWITCH))?,
            (None, Some((name, _))) => discriminator(name, code)?.ok_or_else(form)?,
            (None, None) => return Err(form()),
        };
        let mut value = Value::union(&code.to_owned()?, discriminator).map_err(|_| form())?;
        match (&mut value, member) {
            (Value::Union(_, None), None) if given.len() == 1 => Ok(value),
            (Value::Union(_, Some((chosen, content))), Some((name, literal))) if chosen == name => {
                let mut cases = code.cases()?;
                let case = cases.find(|case| case.as_ref().is_ok_and(|(_, case, _)| case == name));
                let (_, _, of) = case.ok_or_else(form)??;
                **content = self.value(literal, &of).map_err(|problem| problem.inside(name))?;
                Ok(value)
            }
            _ => Err(form()),
        }
    }

    fn elements(&self, given: &[Literal], code: &TypeCodeView<'_>) -> Result<Value, Problem> {
        let (length, count) = (code.length()?, given.len());
        let fits = match code.kind()? {
            Kind::Array => count == length as usize,
            _ => length == 0 || count <= length as usize,
        };
        if !fits {
            return Err(Problem::at_value(format!("{code} cannot have {count} elements")));
        }
        let of = code.content()?.resolved()?;
        let values = given.iter().enumerate().map(|(index, literal)| {
            self.value(literal, &of)
                .map_err(|problem| problem.inside(&index.to_string()))
        });
        let values = values.collect::<Result<Vec<_>, _>>()?;
        if of.kind()? != Kind::Octet {
            return Ok(Value::Sequence(values));
        }
        let octets = values.into_iter().filter_map(|value| match value {
            Value::Octet(octet) => Some(octet),
            _ => None,
        });
        Ok(Value::Octets(octets.collect()))
    }

    /// `{"type": NAME, "value": VALUE}`, or a boolean, text or number of the type that JSON suggests.
    fn any(&self, literal: &Literal) -> Result<Any, Problem> {
        let plain = |kind| TypeCode::basic(kind);
        let (of, literal) = match literal {
            Literal::Null => return Ok(Any::default()),
            Literal::Boolean(_) => (plain(Kind::Boolean), literal),
            Literal::Text(_) => (plain(Kind::String), literal),
            Literal::Number(text) if integer::<i32>(text, Kind::Long).is_ok() => (plain(Kind::Long), literal),
            Literal::Number(text) if integer::<i64>(text, Kind::LongLong).is_ok() => {
                (plain(Kind::LongLong), literal)
            }
            Literal::Number(_) => (plain(Kind::Double), literal),
            Literal::Record(members) => match &members[..] {
                [
                    (type_key, Literal::Text(name) | Literal::Name(name)),
                    (value_key, value),
                ] if type_key == "type" && value_key == "value" => {
                    let unknown = || {
                        Problem::at_value(format!(
                            "type `{name}` is unknown; write a basic type, or one of the --idl file with its scope"
                        ))
                    };
                    ((self.types)(name).ok_or_else(unknown)?, value)
                }
                _ => return Err(any_form()),
            },
            Literal::Name(_) | Literal::List(_) => return Err(any_form()),
        };
        let value = self
            .value(literal, &of.view())
            .map_err(|problem| problem.inside("value"))?;
        Any::from_value(of, &value).map_err(|error| Problem::at_value(error.to_string()))
    }

    fn reference(&self, literal: &Literal, code: &TypeCodeView<'_>) -> Result<Value, Problem> {
        match (literal, code.kind()?) {
            (Literal::Null, Kind::AbstractInterface) => Ok(Value::None),
            (Literal::Null, _) => Ok(Value::Reference(Ior::default())),
            (Literal::Text(text), _) if text == "nil" => Err(Problem::at_value(
                "the nil reference is written `null`".to_owned(),
            )),
            (Literal::Text(text), _) => match self.orb.resolve_object(text) {
                Ok(object) => Ok(Value::Reference(object.ior().clone())),
                Err(error) => Err(Problem::at_value(
                    tls::missing(&error).unwrap_or_else(|| error.to_string()),
                )),
            },
            _ => Err(Problem::at_value(format!(
                "`{}` is not a reference",
                short(literal)
            ))),
        }
    }
}

fn is_member(name: &str, members: &[(&str, TypeCodeView<'_>)]) -> bool {
    members.iter().any(|(member, _)| *member == name)
}

/// Key of a union's discriminator: a keyword of IDL, so that no member has the name.
pub const SWITCH: &str = "switch";

fn any_form() -> Problem {
    Problem::at_value("an `any` is written {\"type\": NAME, \"value\": VALUE}".into())
}

/// Why a literal is no value of its type, and in which part of it.
struct Problem {
    /// Names of members and indices of elements, innermost first.
    path: Vec<String>,
    text: String,
}

impl Problem {
    fn at_value(text: String) -> Self {
        let path = Vec::new();
        Self { path, text }
    }

    fn inside(mut self, part: &str) -> Self {
        self.path.push(part.to_owned());
        self
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.path.is_empty() {
            let path: Vec<_> = self.path.iter().rev().map(String::as_str).collect();
            write!(f, "in `{}`: ", path.join("."))?;
        }
        f.write_str(&self.text)
    }
}

/// A type code of another server can be malformed.
impl From<punctual::value::CdrError> for Problem {
    fn from(error: punctual::value::CdrError) -> Self {
        Self::at_value(error.to_string())
    }
}

/// A decimal number, or one of IDL: hexadecimal with `0x`, octal with `0`.
fn integer<T: TryFrom<i128>>(text: &str, kind: Kind) -> Result<T, Problem> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let magnitude = match (hexadecimal, digits.strip_prefix('0')) {
        (Some(digits), _) => i128::from_str_radix(digits, 16),
        (None, Some(octal)) if !octal.is_empty() => i128::from_str_radix(octal, 8),
        _ => digits.parse(),
    };
    let number = magnitude.map(|number| if is_negative { -number } else { number });
    let wrong = || {
        Problem::at_value(format!(
            "`{text}` is not a valid {}, or out of its range",
            kind.idl()
        ))
    };
    number
        .ok()
        .and_then(|number| number.try_into().ok())
        .ok_or_else(wrong)
}

/// All digits as one number; `d` of IDL may follow.
fn fixed(text: &str, code: &TypeCodeView<'_>) -> Result<Value, Problem> {
    let (digits, scale) = code.digits_and_scale()?;
    let wrong = || Problem::at_value(format!("`{text}` is not a fixed<{digits},{scale}>"));
    let number = text.strip_suffix(['d', 'D']).unwrap_or(text);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let places = usize::try_from(scale).map_err(|_| wrong())?;
    let is_plain = fraction.bytes().all(|digit| digit.is_ascii_digit());
    if fraction.len() > places || !is_plain || number.len() > 40 {
        return Err(wrong());
    }
    let unscaled = format!("{whole}{fraction:0<places$}");
    let unscaled: i128 = unscaled.parse().map_err(|_| wrong())?;
    Ok(Value::Fixed(unscaled, scale))
}

fn character(text: &str) -> Option<char> {
    let mut characters = text.chars();
    let first = characters.next()?;
    characters.next().is_none().then_some(first)
}

/// An enumerator by its name, with or without scope.
fn enumerator(name: &str, code: &TypeCodeView<'_>) -> Result<Option<Value>, Problem> {
    let name = name.rsplit("::").next().unwrap_or(name);
    for (ordinal, of_type) in (0..).zip(code.enumerators()?) {
        if of_type? == name {
            return Ok(Some(Value::Enum(ordinal, name.to_owned())));
        }
    }
    Ok(None)
}

/// The discriminator with the first label of a member.
fn discriminator(member: &str, code: &TypeCodeView<'_>) -> Result<Option<Value>, Problem> {
    for case in code.cases()? {
        let (label, name, _) = case?;
        if let (Some(label), true) = (label, name == member) {
            return of_label(label, &code.discriminator()?.resolved()?);
        }
    }
    Ok(None)
}

fn of_label(label: i128, code: &TypeCodeView<'_>) -> Result<Option<Value>, Problem> {
    let character = || u32::try_from(label).ok().and_then(char::from_u32);
    Ok(match code.kind()? {
        Kind::Boolean => Some(Value::Boolean(label != 0)),
        Kind::Char => character().map(Value::Char),
        Kind::WChar => character().map(Value::WChar),
        Kind::Octet => Some(Value::Octet(label as u8)),
        Kind::Short => Some(Value::Short(label as i16)),
        Kind::UShort => Some(Value::UShort(label as u16)),
        Kind::Long => Some(Value::Long(label as i32)),
        Kind::ULong => Some(Value::ULong(label as u32)),
        Kind::LongLong => Some(Value::LongLong(label as i64)),
        Kind::ULongLong => Some(Value::ULongLong(label as u64)),
        Kind::Enum => {
            let ordinal = label as u32;
            let name = code.enumerators()?.nth(ordinal as usize).transpose()?;
            name.map(|name| Value::Enum(ordinal, name.to_owned()))
        }
        _ => None,
    })
}

/// Form of a literal of this type.
fn expectation(code: &TypeCodeView<'_>) -> String {
    match code.kind() {
        Ok(Kind::Enum) => {
            let names = code
                .enumerators()
                .map(|names| names.flatten().collect::<Vec<_>>());
            format!("one of {}", names.unwrap_or_default().join(", "))
        }
        Ok(Kind::Struct) => format!("{code}, written {{\"MEMBER\": VALUE, …}}"),
        Ok(Kind::Sequence | Kind::Array) => format!("{code}, written [VALUE, …]"),
        Ok(Kind::Char | Kind::WChar) => "one character".to_owned(),
        Ok(Kind::Boolean) => "true or false".to_owned(),
        _ => format!("a {code}"),
    }
}

fn short(literal: &Literal) -> String {
    match literal {
        Literal::Null => "null".to_owned(),
        Literal::Boolean(value) => value.to_string(),
        Literal::Number(text) | Literal::Text(text) | Literal::Name(text) => text.chars().take(40).collect(),
        Literal::List(_) => "[…]".to_owned(),
        Literal::Record(_) => "{…}".to_owned(),
    }
}
