//! The path to a key, and problems there.

use std::{collections::HashSet, fmt};

/// A problem of the value at a key.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Path to the key.
    pub key: Key,
    /// The problem, and a valid alternative.
    pub text: String,
}

/// Path to a key: names, each with an index from 0 if its value is a list.
#[derive(Clone, Debug, Default)]
pub struct Key(Vec<(&'static str, Option<usize>)>);

impl Key {
    /// Returns the path to an item of the list `name`.
    pub fn item(&self, name: &'static str, index: usize) -> Self {
        self.with(name, Some(index))
    }

    /// Returns the path to `name`.
    pub fn name(&self, name: &'static str) -> Self {
        self.with(name, None)
    }

    fn with(&self, name: &'static str, index: Option<usize>) -> Self {
        let mut path = self.0.clone();
        path.push((name, index));
        Self(path)
    }

    /// Reports a problem of this key.
    ///
    /// # Errors
    /// Always.
    pub fn problem<T>(self, text: impl Into<String>) -> Result<T, Problem> {
        Err(Problem {
            key: self,
            text: text.into(),
        })
    }

    pub(crate) fn path(&self) -> &[(&'static str, Option<usize>)] {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (name, index)) in self.0.iter().enumerate() {
            let dot = if number > 0 { "." } else { "" };
            write!(f, "{dot}{name}")?;
            if let Some(index) = index {
                write!(f, "[{}]", index + 1)?;
            }
        }
        Ok(())
    }
}

/// Checks that names are not empty and differ.
///
/// # Errors
/// The problem of the first name that is empty or repeated.
pub fn distinct<'a>(
    names: impl IntoIterator<Item = &'a String>,
    key: impl Fn(usize) -> Key,
) -> Result<(), Problem> {
    let mut seen = HashSet::new();
    for (index, name) in names.into_iter().enumerate() {
        if name.is_empty() {
            return key(index).problem("a name must not be empty");
        }
        if !seen.insert(name) {
            return key(index).problem(format!("duplicate name `{name}`"));
        }
    }
    Ok(())
}
