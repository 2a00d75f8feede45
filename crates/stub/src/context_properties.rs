//! Context properties: names and values that calls of operations with a `context` clause send.
//!
//! Source: CORBA 3.3 part 1, 7.4.8 and 8.6.

use std::sync::Arc;

/// Names and values that calls of operations with a `context` clause send: the content of a `CORBA::Context`.
/// Clones share it.
///
/// ```
/// # use punctual_stub as punctual;
/// use punctual::ContextProperties;
///
/// let properties = [("user", "anna"), ("user", "bert"), ("app", ""), ("app.name", "radar")];
/// let properties: ContextProperties = properties.into_iter().collect();
/// assert_eq!(properties.get("user"), Some("bert"), "the last one counts");
/// assert_eq!(properties.get("use"), None);
/// assert_eq!(properties.iter().count(), 3);
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

    /// Iterates over names and values that a `context` clause of these patterns names: each is a name, or the
    /// beginning of names before a `*`.
    ///
    /// ```
    /// # use punctual_stub as punctual;
    /// use punctual::ContextProperties;
    ///
    /// let properties: ContextProperties = [("app", "1"), ("app.name", "2")].into_iter().collect();
    /// let values = |patterns: &[&str]| -> String {
    ///     properties.matching(patterns).map(|(_, value)| value).collect()
    /// };
    /// assert_eq!(values(&["app"]), "1");
    /// assert_eq!(values(&["app.*", "app.name"]), "2");
    /// assert_eq!(values(&["user", "a*"]), "12");
    /// assert_eq!(values(&["ap", "name", "apple*"]), "");
    /// ```
    pub fn matching(&self, patterns: &[&str]) -> impl Iterator<Item = (&str, &str)> {
        let is_named = |name: &str| patterns.iter().any(|pattern| matches(pattern, name));
        self.iter().filter(move |(name, _)| is_named(name))
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

/// Returns whether a pattern of a `context` clause names the property with this name.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    }
}
