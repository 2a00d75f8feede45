//! Types of payloads, from IDL: what `tail` decodes.

use std::str::FromStr;

use punctual::{
    CharSet,
    any::{Any, AnyError, Codec, Kind, TypeCode},
};
use punctual_events::rtec::rtec_event_comm::EventView;
use punctual_idl::{Specification, did_you_mean};

use crate::call::{from_idl, printed};

/// An argument of `--payload`: the name of a type, for the events of one type or of all.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PayloadType {
    event_type: Option<i32>,
    name: String,
}

impl FromStr for PayloadType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (event_type, name) = match text.split_once('=') {
            Some((number, name)) => (Some(number), name),
            None => (None, text),
        };
        let event_type = event_type.map(str::parse).transpose();
        match event_type {
            Ok(event_type) if !name.is_empty() => Ok(Self {
                event_type,
                name: name.to_owned(),
            }),
            _ => {
                Err("expected the name of a type in the IDL, or an event's type with it: 16=Track".to_owned())
            }
        }
    }
}

/// Types of the payloads that can be decoded.
pub struct PayloadTypes(Vec<(Option<i32>, TypeCode)>);

impl PayloadTypes {
    /// Finds the types in the IDL.
    ///
    /// # Errors
    /// The IDL has no such type.
    pub fn find(idl: Option<&Specification>, payloads: &[PayloadType]) -> Result<Self, String> {
        let found = payloads.iter().map(|payload| {
            let code = idl.and_then(|idl| named(idl, &payload.name));
            let code = code.ok_or_else(|| unknown(idl, &payload.name));
            Ok((payload.event_type, code?))
        });
        found.collect::<Result<_, _>>().map(Self)
    }

    /// Returns the value of an event as JSON: that of the payload, or, if that is empty, of the `any`.
    /// `None`: the payload's type is not known, or there is neither. `Err`: it is no value of its type.
    pub fn value(&self, event: &EventView<'_>) -> Option<Result<String, String>> {
        let json = |any: &Any| printed::json(any, false).map_err(|error| error.to_string());
        if event.data.payload.is_empty() {
            let any = event.data.any_value.to_owned();
            return (any.type_code().kind() != Ok(Kind::Null)).then(|| json(&any));
        }
        let of_event =
            |(number, _): &&(Option<i32>, TypeCode)| number.is_none_or(|one| one == event.header.r#type);
        let (_, code) = self.0.iter().find(of_event)?;
        let decoded = Codec::with_char_set(CharSet::Utf8).decode_value(event.data.payload, code);
        let decoded = decoded.map_err(|error| match error {
            AnyError::Malformed(error) => format!("no {code}: {error}"),
            error => error.to_string(),
        });
        Some(decoded.and_then(|any| json(&any)))
    }
}

/// Returns the error for a name that is not that of exactly one type.
fn unknown(idl: Option<&Specification>, name: &str) -> String {
    let types = idl.into_iter().flat_map(|idl| {
        let names = idl
            .definitions
            .iter()
            .map(|definition| (definition.scoped_name.to_string(), definition.name.as_str()));
        names.filter(|(scoped, _)| from_idl::named_type(idl, scoped).is_some())
    });
    let types: Vec<(String, &str)> = types.collect();
    let same: Vec<&str> = types
        .iter()
        .filter_map(|(scoped, own)| (*own == name).then_some(scoped.as_str()))
        .collect();
    if !same.is_empty() {
        return format!(
            "the IDL has several types `{name}`; choose one: {}",
            same.join(", ")
        );
    }
    let candidates = types.iter().flat_map(|(scoped, own)| [own, scoped.as_str()]);
    let help = did_you_mean(name, candidates).unwrap_or_else(|| {
        let all: Vec<&str> = types.iter().map(|(scoped, _)| scoped.as_str()).collect();
        format!("it has {}", all.join(", "))
    });
    format!("the IDL has no type `{name}` whose values can be sent; {help}")
}

/// Returns the type of this name; without its scope, if it is the only one.
fn named(idl: &Specification, name: &str) -> Option<TypeCode> {
    from_idl::named_type(idl, name).or_else(|| {
        let mut same = idl
            .definitions
            .iter()
            .filter(|definition| definition.name == name);
        let only = same.next().filter(|_| same.next().is_none())?;
        from_idl::named_type(idl, &only.scoped_name.to_string())
    })
}
