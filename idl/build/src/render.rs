//! Renders diagnostics as text with source excerpts.

use std::fmt;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, Severity,
    SourceCode, SourceSpan, SpanContents,
};
use punctual_idl::{Diagnostic, SourceFile, Span};

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
    /// Files with their offsets in the text.
    parts: Vec<(u32, usize, &'f SourceFile)>,
}

impl<'f> Sources<'f> {
    fn new(diagnostic: &Diagnostic, files: &'f [SourceFile]) -> Self {
        let mut parts: Vec<(u32, usize, &SourceFile)> = Vec::new();
        let mut start = 0;
        for label in &diagnostic.labels {
            let file = label.span.file;
            if parts.iter().all(|(present, ..)| *present != file)
                && let Some(source) = files.get(file as usize)
            {
                parts.push((file, start, source));
                start += source.text.len() + 1;
            }
        }
        Self { parts }
    }

    fn span(&self, span: Span) -> Option<SourceSpan> {
        let (_, start, source) = self.parts.iter().find(|(file, ..)| *file == span.file)?;
        let end = source.text.len();
        let first = (span.start as usize).min(end);
        let last = (span.end as usize).clamp(first, end);
        Some((start + first, last - first).into())
    }
}

impl SourceCode for Sources<'_> {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        context_lines_before: usize,
        context_lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let part = self
            .parts
            .iter()
            .rev()
            .find(|(_, start, _)| *start <= span.offset());
        let (_, start, source) = part.ok_or(MietteError::OutOfBounds)?;
        let local = SourceSpan::from((span.offset() - start, span.len()));
        let contents = source
            .text
            .as_bytes()
            .read_span(&local, context_lines_before, context_lines_after)?;
        let found = contents.span();
        Ok(Box::new(MietteSpanContents::new_named(
            source.name.clone(),
            contents.data(),
            (found.offset() + start, found.len()).into(),
            contents.line(),
            contents.column(),
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
