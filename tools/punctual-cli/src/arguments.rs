//! Values of arguments that several commands have.

use std::time::Duration;

use punctual_idl::{Code, UnknownCode};

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

/// Parses the external path of an IDL module, MODULE=PATH.
pub fn external_path(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((module, path)) if !module.is_empty() => Ok((module.to_owned(), path.to_owned())),
        _ => Err("write MODULE=PATH, as in Lab=::lab_types::lab".to_owned()),
    }
}

/// Parses the code of an error or warning of IDL.
pub fn code(text: &str) -> Result<Code, String> {
    text.parse().map_err(|error: UnknownCode| error.to_string())
}

/// Parses the code of an error that can be a warning.
pub fn warning(text: &str) -> Result<Code, String> {
    let code = code(text)?;
    if code.can_be_warning() {
        return Ok(code);
    }
    let codes = Code::ALL.iter().filter(|code| code.can_be_warning());
    let codes: Vec<String> = codes.map(ToString::to_string).collect();
    Err(format!("only these can be warnings: {}", codes.join(", ")))
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
