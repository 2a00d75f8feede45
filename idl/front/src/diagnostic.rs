//! Diagnostics as plain data; rendering them is the caller's.

use crate::codes::Code;
use crate::source::Span;

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Which of the documented findings; displays as `IDL0012` and the like.
    pub code: Code,
    /// Whether it fails the compilation.
    pub severity: Severity,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Where; the first label is the primary place. Empty only if no file could be read.
    pub labels: Vec<Label>,
    /// What to try next.
    pub help: Option<String>,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The specification is accepted.
    Warning,
    /// The specification is refused.
    Error,
}

/// A place and what is to say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What is there; may be empty.
    pub text: String,
}

impl Diagnostic {
    /// With the severity that the code has in the table.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        let labels = vec![Label {
            span,
            text: String::new(),
        }];
        Self {
            code,
            severity: code.severity(),
            message: message.into(),
            labels,
            help: None,
        }
    }

    /// Says something about the primary place.
    #[must_use]
    pub fn here(mut self, text: impl Into<String>) -> Self {
        if let Some(first) = self.labels.first_mut() {
            first.text = text.into();
        }
        self
    }

    /// Adds a secondary place.
    #[must_use]
    pub fn with_label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label {
            span,
            text: text.into(),
        });
        self
    }

    /// Says what to try next.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
