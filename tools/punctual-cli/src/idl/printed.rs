//! Diagnostics for editors and other tools.

use punctual_build::{Diagnostic, SourceFile};
use punctual_idl::{Label, Span};
use serde_json::{Value, json};

/// Returns `FILE:LINE:COLUMN: SEVERITY[CODE]: MESSAGE` for each diagnostic, with its help in parentheses.
pub(super) fn lines(diagnostics: &[Diagnostic], files: &[SourceFile]) -> String {
    let line = |diagnostic: &Diagnostic| {
        let place = diagnostic
            .labels
            .first()
            .and_then(|label| place(label.span, files));
        let place = place.map_or_else(String::new, |(file, line, column)| {
            format!("{file}:{line}:{column}: ")
        });
        let help = diagnostic
            .help
            .as_ref()
            .map_or_else(String::new, |help| format!(" ({help})"));
        let (severity, code) = (diagnostic.severity, diagnostic.code);
        let text = format!("{place}{severity}[{code}]: {}{help}", diagnostic.message);
        text.replace('\n', " ") + "\n"
    };
    diagnostics.iter().map(line).collect()
}

/// Returns a JSON object for each diagnostic, on a line of its own. Lines and columns count from 1, columns
/// in characters; the first of `places` is that of the diagnostic.
pub(super) fn json(diagnostics: &[Diagnostic], files: &[SourceFile]) -> String {
    let object = |diagnostic: &Diagnostic| {
        let places = diagnostic.labels.iter().map(|label| place_of(label, files));
        let object = json!({
            "code": diagnostic.code.to_string(),
            "severity": diagnostic.severity.to_string(),
            "message": diagnostic.message,
            "places": places.collect::<Vec<_>>(),
            "help": diagnostic.help,
        });
        format!("{object}\n")
    };
    diagnostics.iter().map(object).collect()
}

/// Returns the object of a failure that no diagnostic describes, such as a file that cannot be written.
pub(super) fn json_failure(text: &str) -> String {
    let object = json!({
        "code": Value::Null,
        "severity": "error",
        "message": text,
        "places": [],
        "help": Value::Null,
    });
    format!("{object}\n")
}

fn place_of(label: &Label, files: &[SourceFile]) -> Value {
    let Some((file, line, column)) = place(label.span, files) else {
        return Value::Null;
    };
    let end = files
        .get(label.span.file as usize)
        .map(|file| file.line_and_column(label.span.end));
    json!({
        "file": file,
        "line": line,
        "column": column,
        "end_line": end.map(|(line, _)| line),
        "end_column": end.map(|(_, column)| column),
        "text": label.text,
    })
}

fn place(span: Span, files: &[SourceFile]) -> Option<(&str, usize, usize)> {
    let file = files.get(span.file as usize)?;
    let (line, column) = file.line_and_column(span.start);
    Some((&file.name, line, column))
}
