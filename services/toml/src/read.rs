//! Reading a file, and the position of an error in its text.

use std::{fs, path::Path};

use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};

use crate::{FileError, Key, Problem, terms::in_terms_of_toml};

/// Reads and checks a file.
///
/// # Errors
/// [`FileError`].
pub fn read<T: DeserializeOwned>(
    file: impl AsRef<Path>,
    check: impl FnOnce(&T) -> Result<(), Problem>,
) -> Result<T, FileError> {
    let file = file.as_ref();
    let name = file.display().to_string();
    match fs::read_to_string(file) {
        Ok(text) => parse(&name, &text, check),
        Err(source) => Err(FileError::Read { file: name, source }),
    }
}

/// Parses and checks a text; `file` is its name in errors.
///
/// # Errors
/// [`FileError::Invalid`].
pub fn parse<T: DeserializeOwned>(
    file: &str,
    text: &str,
    check: impl FnOnce(&T) -> Result<(), Problem>,
) -> Result<T, FileError> {
    let parsed: T = toml::from_str(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        let key = key_at(text, offset);
        FileError::at(file, text, offset, key, in_terms_of_toml(error.message().trim()))
    })?;
    check(&parsed).map_err(|Problem { key, text: problem }| {
        FileError::at(file, text, offset_of(text, &key), key.to_string(), problem)
    })?;
    Ok(parsed)
}

/// Returns the offset of a key's value, or of its innermost existing parent.
fn offset_of(text: &str, key: &Key) -> usize {
    let Ok(document) = DeTable::parse(text) else {
        return 0;
    };
    let mut table = document.get_ref();
    let mut offset = 0;
    for (name, index) in key.path() {
        let Some(value) = table
            .iter()
            .find(|(key, _)| key.get_ref() == name)
            .map(|(_, value)| value)
        else {
            break;
        };
        let value = match (index, value.get_ref()) {
            (Some(index), DeValue::Array(items)) => match items.get(*index) {
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

/// Returns the path of names to an offset, without list indices.
fn key_at(text: &str, offset: usize) -> String {
    fn find(table: &DeTable<'_>, offset: usize, path: &mut Vec<String>) -> bool {
        table.iter().any(|(key, value)| {
            path.push(key.get_ref().to_string());
            let inside = key.span().contains(&offset)
                || match value.get_ref() {
                    DeValue::Table(inner) => find(inner, offset, path),
                    DeValue::Array(items) => items.iter().any(|item| match item.get_ref() {
                        DeValue::Table(inner) => find(inner, offset, path) || item.span().contains(&offset),
                        _ => item.span().contains(&offset),
                    }),
                    _ => value.span().contains(&offset),
                };
            if !inside {
                path.pop();
            }
            inside
        })
    }
    let mut path = Vec::new();
    // The span of a table begins with the brackets of its heading, that of its key after them.
    let brackets = text[offset..].bytes().take_while(|octet| *octet == b'[').count();
    let offset = offset + brackets;
    if let Ok(document) = DeTable::parse(text) {
        find(document.get_ref(), offset, &mut path);
    }
    path.join(".")
}
