//! `punctual idl fmt`: formats files.

use std::{
    fs,
    io::{self, Read, Write},
    path::Path,
    process::ExitCode,
};

use punctual_report::terminal::complain;

use super::COULD_NOT_RUN;
use crate::cli::Fmt;

/// Runs the command.
pub(super) fn run(settings: &Fmt) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for file in &settings.files {
        match format(file, settings.check) {
            Ok(true) => {}
            Ok(false) => {
                println!("{} is not formatted", file.display());
                code = ExitCode::from(1);
            }
            Err(error) => {
                complain(&format_args!("{}: {error}", file.display()));
                return ExitCode::from(COULD_NOT_RUN);
            }
        }
    }
    code
}

/// Formats a file; with `check`, returns whether it is formatted already.
fn format(file: &Path, check: bool) -> Result<bool, Box<dyn std::error::Error>> {
    let is_standard_input = file == Path::new("-");
    let text = if is_standard_input {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text)?;
        text
    } else {
        fs::read_to_string(file)?
    };
    let formatted = punctual_idl::format(&text)?;
    if check {
        return Ok(formatted == text);
    }
    if is_standard_input {
        io::stdout().write_all(formatted.as_bytes())?;
    } else if formatted != text {
        fs::write(file, formatted)?;
    }
    Ok(true)
}
