//! What one measurement has to say, in reading order.

use crate::{LineFigure, Table};

/// A part of a report with its heading; goes to the terminal (its tables) and onto a page (all of it).
///
/// ```
/// use punctual_report::{Chapter, Page, Table};
/// let rows = [serde_json::json!({"threads": 2, "p50_us": 1.8})];
/// let chapter = Chapter::new("Thread switches")
///     .paragraph("Threads of one priority give the CPU to each other.")
///     .table(Table::of(rows.iter().filter_map(|row| row.as_object())).title("By number of threads"));
/// assert!(chapter.to_text().contains("By number of threads"));
/// let page = Page::new("Report").chapter(&chapter)?.to_html();
/// assert!(page.contains("give the CPU to each other"));
/// # Ok::<(), punctual_report::svg::FigureError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Chapter {
    pub(crate) heading: String,
    pub(crate) parts: Vec<Part>,
}

/// A piece of a chapter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    Paragraph(String),
    Table(Table),
    Figure(LineFigure),
}

impl Chapter {
    /// A chapter with nothing in it yet.
    pub fn new(heading: impl Into<String>) -> Self {
        Self {
            heading: heading.into(),
            parts: Vec::new(),
        }
    }

    /// Plain text.
    #[must_use]
    pub fn paragraph(self, text: impl Into<String>) -> Self {
        self.with(Part::Paragraph(text.into()))
    }

    /// A table, with its title.
    #[must_use]
    pub fn table(self, table: Table) -> Self {
        self.with(Part::Table(table))
    }

    /// A figure. One without a point is said to be missing, not drawn empty.
    #[must_use]
    pub fn figure(self, figure: LineFigure) -> Self {
        self.with(Part::Figure(figure))
    }

    /// Its tables, for the terminal.
    pub fn to_text(&self) -> String {
        let tables = self.parts.iter().filter_map(|part| match part {
            Part::Table(table) => Some(table.to_text()),
            Part::Paragraph(_) | Part::Figure(_) => None,
        });
        tables.collect::<Vec<_>>().join("\n\n")
    }

    fn with(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }
}
