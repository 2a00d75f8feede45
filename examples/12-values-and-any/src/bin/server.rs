//! Keeps entries and alarms, and settings of any type.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use punctual::prelude::*;
use punctual::{
    SystemException,
    any::{Any, AnyView},
    value::Shared,
};

punctual::include_idl!("logbook");
use plant::{Entries, Entry, Logbook, LogbookRef};

#[derive(Default)]
struct Book {
    entries: Mutex<Entries>,
    settings: Mutex<HashMap<String, Any>>,
}

impl Logbook for Book {
    fn add(&self, one: Option<Shared<Entry>>) -> Result<(), SystemException> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.push(one);
        Ok(())
    }

    fn all(&self) -> Result<Entries, SystemException> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(entries.clone())
    }

    // The view points into the request: an unused value is not decoded.
    fn configure(&self, name: &str, value: AnyView<'_>) -> Result<Any, SystemException> {
        let mut settings = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        let before = settings.insert(String::from(name), value.to_owned());
        Ok(before.unwrap_or_default())
    }
}

fn main() -> Result<(), OrbError> {
    let orb = Orb::builder().listen("iiop://localhost:2912").build()?;
    let book: LogbookRef = orb.root_poa().activate(Book::default())?;
    println!("Logbook at {}", orb.publish("Logbook", &book)?);
    orb.run();
    Ok(())
}
