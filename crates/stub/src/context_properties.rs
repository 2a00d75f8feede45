//! Context properties: names and values that calls of operations with a `context` clause send.
//!
//! Source: CORBA 3.3 part 1, 7.4.8 and 8.6; part 2, 9.4.2.

use std::sync::Arc;

use punctual_cdr::{CdrError, Encode as _, Encoder};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use crate::{ObjectRef, RequestOrigin, Upcall};

/// Names and values that calls of operations with a `context` clause send: the content of a `CORBA::Context`.
/// Clones share it.
///
/// ```
/// use punctual_stub::ContextProperties;
///
/// let properties: ContextProperties = [("user", "anna"), ("app.name", "radar")].into_iter().collect();
/// assert_eq!(properties.get("user"), Some("anna"));
/// assert_eq!(properties.iter().count(), 2);
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ContextProperties(Option<Arc<[(String, String)]>>);

impl ContextProperties {
    /// Returns the value of a property.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter()
            .find_map(|(own, value)| (own == name).then_some(value))
    }

    /// Iterates over names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let properties = self.0.iter().flat_map(|properties| &**properties);
        properties.map(|(name, value)| (&**name, &**value))
    }

    /// Encodes the properties that match one of the patterns, as a sequence of names and values.
    fn encode_matching(&self, patterns: &[&str], encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        let is_sent = |name: &str| patterns.iter().any(|pattern| matches(pattern, name));
        let sent = || self.iter().filter(|(name, _)| is_sent(name));
        encoder.length(2 * sent().count())?;
        for (name, value) in sent() {
            name.encode(encoder)?;
            value.encode(encoder)?;
        }
        Ok(())
    }
}

/// Properties with these names and values. Of several with one name, the last one counts.
impl<'p> FromIterator<(&'p str, &'p str)> for ContextProperties {
    fn from_iter<I: IntoIterator<Item = (&'p str, &'p str)>>(properties: I) -> Self {
        let mut own: Vec<(String, String)> = Vec::new();
        for (name, value) in properties {
            own.retain(|(other, _)| other != name);
            own.push((name.to_owned(), value.to_owned()));
        }
        Self((!own.is_empty()).then(|| own.into()))
    }
}

/// Returns whether a property with this name is one that the pattern of a `context` clause names.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    }
}

/// Encodes, after the arguments of a call, the context properties in force that match the `context` clause of
/// its operation.
pub fn encode_context(
    object: &ObjectRef,
    patterns: &[&str],
    encoder: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    object
        .target()
        .context_properties()
        .encode_matching(patterns, encoder)
}

/// Time for which a servant can read the context properties of its request: until this is dropped.
pub struct ContextScope<'m>(Option<&'m dyn RequestOrigin>);

impl Drop for ContextScope<'_> {
    fn drop(&mut self) {
        if let Some(origin) = self.0 {
            origin.set_context_properties(None);
        }
    }
}

impl<'m> Upcall<'m, '_> {
    /// Decodes the context properties, which follow the parameters of an operation with a `context` clause,
    /// and lets the servant read them until the result is dropped.
    ///
    /// # Errors
    /// MARSHAL or a similar exception, not completed, also for a name without a value.
    pub fn context(&mut self) -> Result<ContextScope<'m>, SystemException> {
        let list: &[&str] = self.argument()?;
        let (pairs, rest) = list.as_chunks();
        if !rest.is_empty() {
            let (kind, minor) = (SystemExceptionKind::Marshal, Minor::NONE);
            return Err(SystemException::new(kind, minor, Completion::No));
        }
        if pairs.is_empty() {
            return Ok(ContextScope(None));
        }
        let origin = self.origin();
        if let Some(origin) = origin {
            let properties = pairs.iter().map(|[name, value]| (*name, *value)).collect();
            origin.set_context_properties(Some(properties));
        }
        Ok(ContextScope(origin))
    }
}

#[cfg(test)]
mod tests {
    use punctual_cdr::{Decode as _, Decoder, Endian};

    use super::*;

    #[test]
    fn the_patterns_of_a_clause_select_properties() {
        let properties: ContextProperties = [
            ("user", "x"),
            ("app.name", "radar"),
            ("user", "anna"),
            ("app", ""),
        ]
        .into_iter()
        .collect();
        for (patterns, expected) in [
            (&["user"][..], &["user", "anna"][..]),
            (&["use", "users", "name"], &[]),
            (&["app*"], &["app.name", "radar", "app", ""]),
            (&["app.*", "app.name"], &["app.name", "radar"]),
            (&["app", "u*"], &["user", "anna", "app", ""]),
        ] {
            let mut octets = Vec::new();
            let mut encoder = Encoder::new(&mut octets, Endian::Little);
            properties.encode_matching(patterns, &mut encoder).unwrap();
            let list = Vec::<String>::decode(&mut Decoder::new(&octets, Endian::Little)).unwrap();
            assert_eq!(list, expected, "{patterns:?}");
        }
        assert_eq!(ContextProperties::from_iter([]), ContextProperties::default());
    }
}
