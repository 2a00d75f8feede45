//! All independent errors of a text: after each one, the key that has it is left out, and the rest is read.

use std::{mem, ops::Range};

use serde::de::DeserializeOwned;
use toml::{
    Spanned,
    de::{DeArray, DeTable, DeValue, Deserializer, Error},
};

/// Most errors that one text has; further ones are rarely of use.
const MOST: usize = 20;

/// Returns the errors of a text, at least `first`, which reading it has raised.
pub(crate) fn all<T: DeserializeOwned>(text: &str, first: Error) -> Vec<Error> {
    let Ok(mut document) = DeTable::parse(text) else {
        return vec![first];
    };
    let whole = document.span();
    let (mut found, mut left_out) = (Vec::new(), Vec::new());
    let mut next = Some(first);
    while let Some(error) = next {
        let span = error.span();
        let missing = missing_field(error.message()).map(str::to_owned);
        let missing = span.clone().zip(missing);
        if missing.is_none_or(|missing| !left_out.contains(&missing)) {
            found.push(error);
        }
        let is_left_out = span.is_some_and(|span| {
            let search = &mut Search {
                span,
                left_out: &mut left_out,
            };
            search.leave_out(document.get_mut(), &whole)
        });
        if !is_left_out || found.len() == MOST {
            break;
        }
        next = T::deserialize(Deserializer::from(document.clone())).err();
    }
    found
}

/// Returns the key that is missing, if this is the message about it.
pub(crate) fn missing_field(message: &str) -> Option<&str> {
    message.trim().strip_prefix("missing field `")?.strip_suffix('`')
}

/// The span of a table begins with the brackets of its heading, that of its key after them.
pub(crate) fn behind_brackets(text: &str, offset: usize) -> usize {
    let brackets = text[offset..].bytes().take_while(|octet| *octet == b'[').count();
    let line = text[..offset].rsplit('\n').next().unwrap_or_default();
    match line.trim().is_empty() {
        true => offset + brackets,
        false => offset,
    }
}

/// A search for the key or value of which an error is.
struct Search<'s> {
    /// Where it is in the text.
    span: Range<usize>,
    /// The keys that have been left out, each with where its table is: that they are missing is no error.
    left_out: &'s mut Vec<(Range<usize>, String)>,
}

/// Result of a search.
#[derive(Eq, PartialEq)]
enum Found {
    Nothing,
    /// This value.
    Here,
    /// A part of it, which has been left out.
    LeftOut,
}

impl Search<'_> {
    /// Leaves the key out of this table or one in it; `false`: it is not there.
    fn leave_out(&mut self, table: &mut DeTable<'_>, place: &Range<usize>) -> bool {
        let mut found = None;
        for (key, value) in table.iter_mut() {
            let is_key = key.span() == self.span;
            match self.within(value) {
                Found::LeftOut => return true,
                Found::Nothing if !is_key => {}
                Found::Here | Found::Nothing => found = Some(key.get_ref().clone().into_owned()),
            }
        }
        let Some(found) = found else { return false };
        let all = mem::take(table);
        table.extend(all.into_iter().filter(|(key, _)| *key.get_ref() != found));
        self.left_out.push((place.clone(), found));
        true
    }

    fn within(&mut self, value: &mut Spanned<DeValue<'_>>) -> Found {
        let place = value.span();
        // Parts first: an array of tables is where its first table is.
        let is_left_out = match value.get_mut() {
            DeValue::Table(table) => self.leave_out(table, &place),
            DeValue::Array(items) => self.leave_out_item(items),
            _ => false,
        };
        match is_left_out {
            true => Found::LeftOut,
            false if place == self.span => Found::Here,
            false => Found::Nothing,
        }
    }

    fn leave_out_item(&mut self, items: &mut DeArray<'_>) -> bool {
        let mut is_left_out = false;
        let all = mem::replace(items, DeArray::new()).into_iter();
        let rest = all.filter_map(|mut item| match self.within(&mut item) {
            Found::Nothing => Some(item),
            Found::LeftOut => {
                is_left_out = true;
                Some(item)
            }
            Found::Here => {
                is_left_out = true;
                None
            }
        });
        *items = rest.collect();
        is_left_out
    }
}
