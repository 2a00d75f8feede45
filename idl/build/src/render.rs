//! Renders diagnostics as text with source excerpts.

use std::fmt;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, Severity,
    SourceCode, SourceSpan, SpanContents,
};
use punctual_idl::{Diagnostic, SourceFile, Span};

use crate::excerpt::Excerpt;

/// Style of rendered diagnostics.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Style {
    /// Text with colours, for terminals.
    Coloured,
    /// Text without colours, for logs and files.
    Plain,
}

/// Renders diagnostics with their source lines. Their spans index `files`.
pub fn render(diagnostics: &[Diagnostic], files: &[SourceFile], style: Style) -> String {
    let theme = match style {
        Style::Coloured => GraphicalTheme::unicode(),
        Style::Plain => GraphicalTheme::unicode_nocolor(),
    };
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_links(false)
        .with_width(WIDTH);
    let mut text = String::new();
    for diagnostic in diagnostics {
        let sources = Sources::new(diagnostic, files);
        // Writing to a string cannot fail.
        let _ = handler.render_report(&mut text, &Report { diagnostic, sources });
    }
    text
}

const WIDTH: usize = 110;

/// Concatenation of the files to which one diagnostic refers: the renderer supports a single source.
struct Sources<'f> {
    parts: Vec<Part<'f>>,
}

/// A file in the concatenation.
struct Part<'f> {
    file: u32,
    /// Offset in the concatenation.
    start: usize,
    source: &'f SourceFile,
    excerpt: Excerpt,
}

impl<'f> Sources<'f> {
    fn new(diagnostic: &Diagnostic, files: &'f [SourceFile]) -> Self {
        let mut parts: Vec<Part<'_>> = Vec::new();
        let mut start = 0;
        for label in &diagnostic.labels {
            let file = label.span.file;
            if parts.iter().all(|present| present.file != file)
                && let Some(source) = files.get(file as usize)
            {
                let labels = diagnostic.labels.iter();
                let here = labels.filter(|label| label.span.file == file);
                let places = here.flat_map(|label| [label.span.start, label.span.end]);
                let places: Vec<usize> = places.map(|place| place as usize).collect();
                let excerpt = Excerpt::new(&source.text, &places);
                let length = excerpt.text.len();
                parts.push(Part {
                    file,
                    start,
                    source,
                    excerpt,
                });
                start += length + 1;
            }
        }
        Self { parts }
    }

    fn span(&self, span: Span) -> Option<SourceSpan> {
        let part = self.parts.iter().find(|part| part.file == span.file)?;
        let end = part.source.text.len();
        let first = (span.start as usize).min(end);
        let last = (span.end as usize).clamp(first, end);
        let [first, last] = [first, last].map(|place| part.excerpt.shown(place));
        Some((part.start + first, last - first).into())
    }
}

impl SourceCode for Sources<'_> {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        context_lines_before: usize,
        context_lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let part = self.parts.iter().rev().find(|part| part.start <= span.offset());
        let Part {
            start,
            source,
            excerpt,
            ..
        } = part.ok_or(MietteError::OutOfBounds)?;
        let local = SourceSpan::from((span.offset() - start, span.len()));
        let contents =
            excerpt
                .text
                .as_bytes()
                .read_span(&local, context_lines_before, context_lines_after)?;
        let found = contents.span();
        // Without lines before, the contents begin with the span: the header shows its column in the file.
        let column = if context_lines_before == 0 {
            let place = excerpt.original(found.offset());
            source.line_and_column(place as u32).1.saturating_sub(1)
        } else {
            contents.column()
        };
        Ok(Box::new(MietteSpanContents::new_named(
            source.name.clone(),
            contents.data(),
            (found.offset() + start, found.len()).into(),
            contents.line(),
            column,
            contents.line_count(),
        )))
    }
}

/// A diagnostic in the renderer's form.
struct Report<'d> {
    diagnostic: &'d Diagnostic,
    sources: Sources<'d>,
}

impl fmt::Debug for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.diagnostic, f)
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.diagnostic.message)
    }
}

impl std::error::Error for Report<'_> {}

impl miette::Diagnostic for Report<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.diagnostic.code))
    }

    fn severity(&self) -> Option<Severity> {
        Some(match self.diagnostic.severity {
            punctual_idl::Severity::Warning => Severity::Warning,
            punctual_idl::Severity::Error => Severity::Error,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.diagnostic
            .help
            .as_ref()
            .map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        (!self.sources.parts.is_empty()).then_some(&self.sources)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let labels = self.diagnostic.labels.iter().enumerate();
        Some(Box::new(labels.filter_map(|(position, label)| {
            let text = (!label.text.is_empty()).then(|| label.text.clone());
            let span = self.sources.span(label.span)?;
            // The header shows the place of the primary label.
            Some(match position {
                0 => LabeledSpan::new_primary_with_span(text, span),
                _ => LabeledSpan::new_with_span(text, span),
            })
        })))
    }
}
