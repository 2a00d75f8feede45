//! Reading a file, and the position of an error in its text.

use std::{fs, ops::Range, path::Path};

use serde::de::DeserializeOwned;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::{
    FileError, Key, Problem,
    faults::{self, behind_brackets, missing_field},
    terms::{duplicate, in_terms_of_toml},
};

/// Reads and checks a file.
///
/// # Errors
/// [`FileError`].
pub fn read<T: DeserializeOwned>(
    file: impl AsRef<Path>,
    check: impl FnOnce(&T) -> Result<(), Problem>,
) -> Result<T, FileError> {
    read_with(file, |name, text| parse(name, text, check))
}

/// Reads a file, and parses its text with a function that is given the file's name and the text.
///
/// # Errors
/// [`FileError`].
pub fn read_with<T>(
    file: impl AsRef<Path>,
    parse: impl FnOnce(&str, &str) -> Result<T, FileError>,
) -> Result<T, FileError> {
    let file = file.as_ref();
    let name = file.display().to_string();
    match fs::read_to_string(file) {
        Ok(text) => parse(&name, &text),
        Err(source) => Err(FileError::Read { file: name, source }),
    }
}

/// Returns the line, from 1, of a key's value in a text that has been parsed.
pub fn line_of(text: &str, key: &Key) -> usize {
    text[..offset_of(text, key)].matches('\n').count() + 1
}

/// Parses and checks a text; `file` is its name in errors.
///
/// All keys that are unknown, missing or have a wrong type are reported at once; `check` runs if there are
/// none.
///
/// # Errors
/// [`FileError::Invalid`], [`FileError::Several`].
pub fn parse<T: DeserializeOwned>(
    file: &str,
    text: &str,
    check: impl FnOnce(&T) -> Result<(), Problem>,
) -> Result<T, FileError> {
    let parsed: T = toml::from_str(text).map_err(|first| {
        let errors = faults::all::<T>(text, first);
        FileError::of_all(errors.iter().map(|error| described(file, text, error)).collect())
    })?;
    check(&parsed).map_err(|Problem { key, text: problem }| {
        FileError::at(file, text, offset_of(text, &key), key.to_string(), problem)
    })?;
    Ok(parsed)
}

fn described(file: &str, text: &str, error: &toml::de::Error) -> FileError {
    let span = error.span().unwrap_or_default();
    let problem = match error.message().trim() {
        "duplicate key" => duplicate(text, &span),
        message => in_terms_of_toml(message),
    };
    let key = match missing_field(error.message()) {
        Some(_) => path_to(text, &span),
        None => key_at(text, span.start),
    };
    FileError::at(file, text, span.start, key, problem)
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

/// Returns the path to the table with this span, as [`Key`] prints it; empty for the whole text.
fn path_to(text: &str, span: &Range<usize>) -> String {
    fn within(value: &Spanned<DeValue<'_>>, span: &Range<usize>) -> Option<String> {
        match value.get_ref() {
            DeValue::Table(table) => match value.span() == *span {
                true => Some(String::new()),
                false => in_table(table, span).map(|path| format!(".{path}")),
            },
            DeValue::Array(items) => items
                .iter()
                .zip(1..)
                .find_map(|(item, number)| Some(format!("[{number}]{}", within(item, span)?))),
            _ => None,
        }
    }
    fn in_table(table: &DeTable<'_>, span: &Range<usize>) -> Option<String> {
        table
            .iter()
            .find_map(|(key, value)| Some(format!("{}{}", key.get_ref(), within(value, span)?)))
    }
    let document = DeTable::parse(text)
        .ok()
        .filter(|document| document.span() != *span);
    document
        .and_then(|document| in_table(document.get_ref(), span))
        .unwrap_or_default()
}

/// Returns the path to an offset, as [`Key`] prints it; empty outside of all keys and values.
fn key_at(text: &str, offset: usize) -> String {
    let offset = behind_brackets(text, offset);
    let document = DeTable::parse(text).ok();
    document
        .and_then(|document| key_in(document.get_ref(), offset))
        .unwrap_or_default()
}

fn key_in(table: &DeTable<'_>, offset: usize) -> Option<String> {
    table.iter().find_map(|(key, value)| {
        let is_key = key.span().contains(&offset);
        let rest = if is_key {
            String::new()
        } else {
            place_in(value, offset)?
        };
        Some(format!("{}{rest}", key.get_ref()))
    })
}

/// Returns the rest of the path behind the key of this value.
fn place_in(value: &Spanned<DeValue<'_>>, offset: usize) -> Option<String> {
    let inner = match value.get_ref() {
        DeValue::Table(table) => key_in(table, offset).map(|key| format!(".{key}")),
        DeValue::Array(items) => items
            .iter()
            .zip(1..)
            .find_map(|(item, number)| Some(format!("[{number}]{}", place_in(item, offset)?))),
        _ => None,
    };
    inner.or_else(|| value.span().contains(&offset).then(String::new))
}
