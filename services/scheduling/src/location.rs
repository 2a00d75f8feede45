//! Files of tables: read, and where in the text something is wrong.

use std::{collections::HashSet, fmt};

use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};

use crate::ScheduleError;

/// Reads a text, and finds out whether it makes sense.
pub(crate) fn read<T: DeserializeOwned>(
    file: &str,
    text: &str,
    check: impl FnOnce(&T) -> Result<(), Problem>,
) -> Result<T, ScheduleError> {
    let read: T = toml::from_str(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        let key = key_at(text, offset);
        ScheduleError::at(file, text, offset, key, error.message().trim().to_owned())
    })?;
    check(&read).map_err(|Problem { key, text: problem }| {
        ScheduleError::at(file, text, offset_of(text, &key), key.to_string(), problem)
    })?;
    Ok(read)
}

/// What is wrong at a key.
pub(crate) struct Problem {
    pub(crate) key: Key,
    pub(crate) text: String,
}

/// The way to a key: names, each with the place in its list from 0 if it is one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Key(Vec<(&'static str, Option<usize>)>);

impl Key {
    pub(crate) fn item(&self, name: &'static str, place: usize) -> Self {
        self.with(name, Some(place))
    }

    pub(crate) fn name(&self, name: &'static str) -> Self {
        self.with(name, None)
    }

    fn with(&self, name: &'static str, place: Option<usize>) -> Self {
        let mut way = self.0.clone();
        way.push((name, place));
        Self(way)
    }

    pub(crate) fn problem<T>(self, text: impl Into<String>) -> Result<T, Problem> {
        Err(Problem {
            key: self,
            text: text.into(),
        })
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (name, place)) in self.0.iter().enumerate() {
            let dot = if number > 0 { "." } else { "" };
            write!(f, "{dot}{name}")?;
            if let Some(place) = place {
                write!(f, "[{}]", place + 1)?;
            }
        }
        Ok(())
    }
}

/// The octet at which a key's value stands, or what contains it where it is missing.
fn offset_of(text: &str, key: &Key) -> usize {
    let Ok(document) = DeTable::parse(text) else {
        return 0;
    };
    let mut table = document.get_ref();
    let mut offset = 0;
    for (name, place) in &key.0 {
        let Some(value) = table
            .iter()
            .find(|(key, _)| key.get_ref() == name)
            .map(|(_, value)| value)
        else {
            break;
        };
        let value = match (place, value.get_ref()) {
            (Some(place), DeValue::Array(items)) => match items.get(*place) {
                Some(item) => item,
                None => break,
            },
            _ => value,
        };
        offset = value.span().start;
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            _ => break,
        }
    }
    offset
}

/// The names on the way to what stands at an octet, without places in lists.
fn key_at(text: &str, offset: usize) -> String {
    fn find(table: &DeTable<'_>, offset: usize, way: &mut Vec<String>) -> bool {
        table.iter().any(|(key, value)| {
            way.push(key.get_ref().to_string());
            let inside = key.span().contains(&offset)
                || match value.get_ref() {
                    DeValue::Table(inner) => find(inner, offset, way),
                    DeValue::Array(items) => items.iter().any(|item| match item.get_ref() {
                        DeValue::Table(inner) => find(inner, offset, way) || item.span().contains(&offset),
                        _ => item.span().contains(&offset),
                    }),
                    _ => value.span().contains(&offset),
                };
            if !inside {
                way.pop();
            }
            inside
        })
    }
    let mut way = Vec::new();
    if let Ok(document) = DeTable::parse(text) {
        find(document.get_ref(), offset, &mut way);
    }
    way.join(".")
}

/// Names that are all there, and no two the same.
pub(crate) fn distinct<'a>(
    names: impl IntoIterator<Item = &'a String>,
    key: impl Fn(usize) -> Key,
) -> Result<(), Problem> {
    let mut seen = HashSet::new();
    for (place, name) in names.into_iter().enumerate() {
        if name.is_empty() {
            return key(place).problem("a name must not be empty");
        }
        if !seen.insert(name) {
            return key(place).problem(format!("`{name}` is there twice; names must differ"));
        }
    }
    Ok(())
}
