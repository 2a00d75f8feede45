//! An operation as a dynamic call needs it.

use std::fmt;

use punctual::{
    ObjectRef,
    any::{Any, Kind, TypeCode},
    dynamic::Request,
};

use super::named::Named;

/// Name, types and exceptions of an operation. Attributes are `_get_name` and `_set_name`.
#[derive(Clone, Debug)]
pub struct Operation {
    pub name: String,
    pub is_oneway: bool,
    pub returns: TypeCode,
    pub parameters: Vec<Parameter>,
    pub raises: Vec<TypeCode>,
    /// Whether it has a `context` clause.
    pub has_context: bool,
}

#[derive(Clone, Debug)]
pub struct Parameter {
    pub name: String,
    pub mode: Mode,
    pub of: TypeCode,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mode {
    In,
    Out,
    InOut,
}

impl Operation {
    /// An operation without exceptions.
    pub fn simple(name: &str, returns: TypeCode, parameters: &[(&str, TypeCode)]) -> Self {
        let parameters = parameters.iter().map(|(name, of)| Parameter {
            name: (*name).to_owned(),
            mode: Mode::In,
            of: of.clone(),
        });
        Self {
            name: name.to_owned(),
            is_oneway: false,
            returns,
            parameters: parameters.collect(),
            raises: Vec::new(),
            has_context: false,
        }
    }

    /// The operation of `CORBA::Object` with this name.
    ///
    /// Source: CORBA 3.3 part 2, 9.4.2.2 (names on the wire).
    pub fn of_object(name: &str) -> Option<Self> {
        let string = TypeCode::basic(Kind::String);
        Some(match name {
            "_is_a" => Self::simple(
                name,
                TypeCode::basic(Kind::Boolean),
                &[("logical_type_id", string)],
            ),
            "_non_existent" => Self::simple(name, TypeCode::basic(Kind::Boolean), &[]),
            "_interface" | "_component" => Self::simple(name, TypeCode::basic(Kind::ObjRef), &[]),
            "_repository_id" => Self::simple(name, string, &[]),
            _ => return None,
        })
    }

    /// Parameters whose values the caller states.
    pub fn given(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters
            .iter()
            .filter(|parameter| parameter.mode != Mode::Out)
    }

    /// The request with these values of [`Self::given`].
    pub fn request(&self, object: &ObjectRef, values: Vec<Any>, context: &[(String, String)]) -> Request {
        let mut values = values.into_iter();
        let mut request = object.request(&self.name[..]).returns(self.returns.clone());
        for Parameter { name, mode, of } in &self.parameters {
            let mut value = || {
                values
                    .next()
                    .expect("a value for each `in` and `inout` parameter")
            };
            request = match mode {
                Mode::In => request.argument(name, value()),
                Mode::InOut => request.inout_argument(name, value()),
                Mode::Out => request.out_argument(name, of.clone()),
            };
        }
        if self.has_context {
            request = request.context(context.iter().map(|(name, value)| (&name[..], &value[..])));
        }
        self.raises
            .iter()
            .fold(request, |request, exception| request.raises(exception.clone()))
    }

    /// The declaration of the attribute that this operation reads.
    pub fn as_attribute(&self, name: &str, is_readonly: bool) -> String {
        let readonly = if is_readonly { "readonly " } else { "" };
        let raises = if is_readonly { "raises" } else { "getraises" };
        format!(
            "{readonly}attribute {} {name}{}",
            Named(self.returns.view()),
            clause(raises, &self.raises)
        )
    }
}

/// A clause with exceptions; nothing without exceptions.
fn clause(word: &str, exceptions: &[TypeCode]) -> String {
    let names: Vec<_> = exceptions
        .iter()
        .map(|exception| Named(exception.view()).to_string())
        .collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(" {word} ({})", names.join(", ")),
    }
}

/// Formats the operation as in IDL.
impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_oneway {
            f.write_str("oneway ")?;
        }
        write!(f, "{} {}(", Named(self.returns.view()), self.name)?;
        for (index, parameter) in self.parameters.iter().enumerate() {
            let mode = match parameter.mode {
                Mode::In => "in",
                Mode::Out => "out",
                Mode::InOut => "inout",
            };
            let comma = if index > 0 { ", " } else { "" };
            write!(
                f,
                "{comma}{mode} {} {}",
                Named(parameter.of.view()),
                parameter.name
            )?;
        }
        write!(f, "){}", clause("raises", &self.raises))
    }
}
