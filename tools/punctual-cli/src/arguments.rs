//! Values of arguments that several commands have.

use std::{convert::Infallible, ffi::OsString, time::Duration};

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

/// A character that no argument of a process contains: in front of a value that begins as an option.
const IS_VALUE: char = '\0';

/// Marks the negative numbers among the arguments of `punctual call` as values: clap takes `-2e-3` and
/// `-0xff` for options.
pub fn with_negative_numbers(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut all: Vec<OsString> = arguments.collect();
    if all.get(1).is_none_or(|command| command != "call") {
        return all;
    }
    let is_option = |text: &str| text.starts_with('-');
    // The value of an option has its own rules, and behind `--` there are only values.
    let mut may_be_value = false;
    for argument in &mut all[2..] {
        let Some(text) = argument.to_str() else { continue };
        let number = text.strip_prefix('-').map(|rest| rest.trim_start_matches('.'));
        let is_number = number.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
        if text == "--" {
            break;
        }
        if is_number && may_be_value {
            *argument = format!("{IS_VALUE}{text}").into();
        } else {
            may_be_value = !is_option(text);
        }
    }
    all
}

/// Returns a value of a type of IDL without the mark of [`with_negative_numbers`].
pub fn value(text: &str) -> Result<String, Infallible> {
    Ok(text.strip_prefix(IS_VALUE).unwrap_or(text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(line: &str) -> String {
        let arguments = line.split(' ').map(OsString::from);
        let marked = with_negative_numbers(arguments).into_iter();
        let marked: Vec<String> = marked.map(|argument| argument.into_string().unwrap()).collect();
        marked.join(" ").replace(IS_VALUE, "#")
    }

    #[test]
    fn negative_numbers_of_calls_are_values_and_nothing_else_is() {
        for (line, expected) in [
            (
                "punctual call IOR:0 move -5 -2e-3",
                "punctual call IOR:0 move #-5 #-2e-3",
            ),
            (
                "punctual call IOR:0 move -0xff -.5",
                "punctual call IOR:0 move #-0xff #-.5",
            ),
            (
                "punctual call IOR:0 move 1 --timeout -5",
                "punctual call IOR:0 move 1 --timeout -5",
            ),
            (
                "punctual call IOR:0 move -I dir -1",
                "punctual call IOR:0 move -I dir #-1",
            ),
            ("punctual call IOR:0 move -- -5", "punctual call IOR:0 move -- -5"),
            ("punctual events send -5", "punctual events send -5"),
        ] {
            assert_eq!(marked(line), expected);
        }
        assert_eq!(value("\0-5"), Ok("-5".to_owned()));
        assert_eq!(value("-5"), Ok("-5".to_owned()));
    }
}
