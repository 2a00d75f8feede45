//! Fixtures that the tests share.

use punctual_idl::{Options, Outcome, Severity, Specification, compile_text};

/// Compiles a text with the default options.
pub fn outcome(text: &str) -> Outcome {
    compile_text("test.idl", text, &Options::default())
}

/// Compiles a text that has no error.
pub fn accepted(text: &str) -> Specification {
    let outcome = outcome(text);
    let findings = findings(&outcome);
    outcome
        .specification
        .unwrap_or_else(|| panic!("refused: {findings:?}\n{text}"))
}

/// The findings as `CODE line:column`, a warning with `!` behind its code.
pub fn findings(outcome: &Outcome) -> Vec<String> {
    outcome
        .diagnostics
        .iter()
        .map(|diagnostic| {
            let mark = if diagnostic.severity == Severity::Warning {
                "!"
            } else {
                ""
            };
            let place = diagnostic.labels.first().map_or(String::new(), |label| {
                let file = &outcome.files[label.span.file as usize];
                let (line, column) = file.line_and_column(label.span.start);
                let file = if label.span.file == 0 {
                    ""
                } else {
                    file.name.as_str()
                };
                format!(" {file}{}{line}:{column}", if file.is_empty() { "" } else { ":" })
            });
            format!("{}{mark}{place}", diagnostic.code)
        })
        .collect()
}

/// The repository id of a definition.
pub fn id_of(specification: &Specification, name: &str) -> String {
    specification
        .find(name)
        .unwrap_or_else(|| panic!("no `{name}`"))
        .repository_id
        .clone()
}
