//! Values of arguments that several commands have.

use std::time::Duration;

/// Parses the definition of a macro, NAME or NAME=VALUE.
pub fn macro_definition(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if is_name {
        Ok((name.to_owned(), value.to_owned()))
    } else {
        Err(format!("`{name}` is not a macro name; write NAME or NAME=VALUE"))
    }
}

/// Parses a duration.
pub fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.01..=1e6).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("expected 0.01 to 1000000 seconds, such as 2.5".to_owned()),
    }
}

/// Parses a CORBA priority.
pub fn priority(text: &str) -> Result<punctual::Priority, String> {
    let number = text.parse::<i16>().ok();
    let priority = number.and_then(|number| punctual::Priority::new(number).ok());
    priority.ok_or_else(|| "expected a CORBA priority from 0 to 32767".to_owned())
}
