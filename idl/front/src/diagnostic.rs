//! Diagnostics as plain data; callers render them.

use crate::codes::{Code, Severity};
use crate::source::Span;

/// Characters of a message, a remark or a suggested fix.
const LONGEST: usize = 1_000;

/// A diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Documented code of the diagnostic; displays like `IDL0012`.
    pub code: Code,
    /// Whether it is an error.
    pub severity: Severity,
    /// Problem, in one sentence.
    pub message: String,
    /// Places; the first label is the primary one. Empty only if no file could be read.
    pub labels: Vec<Label>,
    /// Suggested fix.
    pub help: Option<String>,
}

/// A place with a remark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Place in a source file.
    pub span: Span,
    /// Remark; may be empty.
    pub text: String,
}

impl Diagnostic {
    /// Creates a diagnostic with the severity of its code.
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

    /// Adds a remark to the primary place.
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

    /// Adds, for each place in a macro's expansion, the place at which the text is written.
    pub(crate) fn show_expansions(&mut self, written: &[Span]) {
        for at in 0..self.labels.len() {
            let number = self.labels[at].span.expansion as usize;
            let Some(&span) = number.checked_sub(1).and_then(|index| written.get(index)) else {
                continue;
            };
            if self.labels[at].text.is_empty() {
                self.labels[at].text = "this macro is used here".to_owned();
            }
            self.labels.push(Label {
                span,
                text: "written here".to_owned(),
            });
        }
    }

    /// Cuts long texts: the name of a macro can stand for a name of any length.
    pub(crate) fn shorten(&mut self) {
        let labels = self.labels.iter_mut().map(|label| &mut label.text);
        for text in labels.chain([&mut self.message]).chain(&mut self.help) {
            if let Some((end, _)) = text.char_indices().nth(LONGEST) {
                text.truncate(end);
                text.push('…');
            }
        }
    }

    /// Adds a suggested fix.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
