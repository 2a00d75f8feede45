//! Changes of a file's text that keep its comments.

use toml_edit::{DocumentMut, Item, TableLike, Value};

/// Applies to a text what differs between two versions of its content, so that its comments, its order and
/// its spelling of everything else remain. The versions are TOML, too: the text's own content, however
/// written, and the new one.
///
/// Returns `None` if one of them is not TOML, or if the text does not have the structure of its content.
///
/// ```
/// let text = "# The pool of the radar.\npool = [{ name = 'a', threads = 1 }] # one thread\nhost = 'h'\n";
/// let edited = punctual_toml::edited(
///     text,
///     "host = 'h'\n[[pool]]\nname = 'a'\nthreads = 1\n",
///     "host = 'h'\n[[pool]]\nname = 'a'\nthreads = 2\n",
/// );
/// assert_eq!(edited.unwrap(), text.replace("threads = 1", "threads = 2"));
/// ```
pub fn edited(text: &str, before: &str, after: &str) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    let before: DocumentMut = before.parse().ok()?;
    let after: DocumentMut = after.parse().ok()?;
    merge(document.as_table_mut(), before.as_table(), after.as_table())?;
    Some(document.to_string())
}

/// Changes a table by the difference of its versions.
fn merge(table: &mut dyn TableLike, before: &dyn TableLike, after: &dyn TableLike) -> Option<()> {
    for (key, _) in before.iter().filter(|(key, _)| !after.contains_key(key)) {
        table.remove(key);
    }
    for (key, new) in after.iter() {
        let old = before.get(key).filter(|old| !old.is_none());
        match (table.get_mut(key), old) {
            (_, Some(old)) if old.to_string() == new.to_string() => {}
            (Some(present), Some(old)) => change(present, old, new)?,
            (_, None) | (None, Some(_)) => {
                table.insert(key, Item::Value(value_of(new)?));
            }
        }
    }
    Some(())
}

/// Changes an item that differs.
fn change(present: &mut Item, old: &Item, new: &Item) -> Option<()> {
    if let (Some(old), Some(new)) = (old.as_table_like(), new.as_table_like()) {
        return merge(present.as_table_like_mut()?, old, new);
    }
    let (olds, news) = (tables(old), tables(new));
    let presents = tables_mut(present);
    if !news.is_empty() && [olds.len(), presents.len()] == [news.len(); 2] {
        let mut changes = presents.into_iter().zip(olds.into_iter().zip(news));
        return changes.try_for_each(|(present, (old, new))| merge(present, old, new));
    }
    let mut value = value_of(new)?;
    if let Some(present) = present.as_value() {
        // A comment behind the value.
        *value.decor_mut() = present.decor().clone();
    }
    *present = Item::Value(value);
    Some(())
}

/// Returns the tables of an array, in either spelling; none for anything else.
fn tables(item: &Item) -> Vec<&dyn TableLike> {
    match item {
        Item::ArrayOfTables(tables) => tables.iter().map(|table| table as &dyn TableLike).collect(),
        Item::Value(Value::Array(values)) => {
            let tables = values.iter().filter_map(Value::as_inline_table);
            tables.map(|table| table as &dyn TableLike).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the same, to be changed.
fn tables_mut(item: &mut Item) -> Vec<&mut dyn TableLike> {
    match item {
        Item::ArrayOfTables(tables) => tables
            .iter_mut()
            .map(|table| table as &mut dyn TableLike)
            .collect(),
        Item::Value(Value::Array(values)) => {
            let tables = values.iter_mut().filter_map(Value::as_inline_table_mut);
            tables.map(|table| table as &mut dyn TableLike).collect()
        }
        _ => Vec::new(),
    }
}

fn value_of(item: &Item) -> Option<Value> {
    item.clone().into_value().ok()
}
