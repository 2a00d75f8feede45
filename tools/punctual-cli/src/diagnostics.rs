//! Errors and warnings of IDL for people.

use std::{
    env,
    io::{self, IsTerminal},
};

use punctual_build::{Diagnostic, SourceFile, Style, render};

/// Returns errors and warnings with excerpts of the source, for standard error.
pub fn rendered(diagnostics: &[Diagnostic], files: &[SourceFile]) -> String {
    let is_disabled = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let style = if io::stderr().is_terminal() && !is_disabled {
        Style::Coloured
    } else {
        Style::Plain
    };
    render(diagnostics, files, style)
}
