//! Writes entries and an alarm, reads them back, and sets values of several types.

use punctual::prelude::*;
use punctual::{any::Any, value::Shared};

punctual::include_idl!("logbook");
use plant::{Alarm, Entry, Limits, LogbookRef};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let orb = Orb::builder().build()?;
    let book: LogbookRef = orb.resolve("corbaloc::localhost:2912/Logbook")?;

    let entry = |time, text: &str| Entry {
        time,
        text: text.into(),
    };
    let alarm = Alarm {
        base: entry(20, "too hot"),
        severity: 3,
    };
    book.add(Some(&Shared::new(entry(10, "started"))))?;
    book.add(Some(&Shared::new(alarm).widen()))?;
    for entry in book.all()?.into_iter().flatten() {
        // A value knows its type: an entry may be an alarm.
        match entry.narrow::<Alarm>() {
            Some(alarm) => println!("{}: {}, severity {}", entry.time, entry.text, alarm.severity),
            None => println!("{}: {}", entry.time, entry.text),
        }
    }

    book.configure(
        "limits",
        &Any::new(&Limits {
            low: 10.0,
            high: 80.0,
        })?,
    )?;
    let before = book.configure("limits", &Any::new("none")?)?;
    // A client that knows the type reads it as such; any other reads the value by its type code.
    if let Ok(limits) = before.get::<Limits>() {
        println!("limits were {} to {}", limits.low, limits.high);
    }
    let last = book.configure("limits", &Any::default())?;
    println!("limits were {:?}", last.value()?);
    Ok(())
}
