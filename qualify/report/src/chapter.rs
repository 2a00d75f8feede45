//! Chapter of a report: the results of one measurement in reading order.

use crate::{Figure, Picture, Table};

/// Chapter of a report. The terminal shows its tables, a page all of it.
///
/// ```
/// use punctual_report::{Chapter, Page, Table};
/// let rows = [serde_json::json!({"threads": 2, "p50_us": 1.8})];
/// let chapter = Chapter::new("Thread switches")
///     .paragraph("Threads of one priority give the CPU to each other.")
///     .command("punctual bench os.thread-switch")
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
    /// Answer in some sentences; `None`: tables and figures speak for themselves.
    pub(crate) conclusion: Option<String>,
    /// Command shown at the end.
    pub(crate) command: Option<String>,
}

/// Part of a chapter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    Paragraph(String),
    Note(String),
    Table(Table),
    Figure(Figure),
    Picture(Picture),
}

impl Chapter {
    /// Creates an empty chapter.
    pub fn new(heading: impl Into<String>) -> Self {
        Self {
            heading: heading.into(),
            parts: Vec::new(),
            conclusion: None,
            command: None,
        }
    }

    /// Adds a paragraph of plain text.
    #[must_use]
    pub fn paragraph(self, text: impl Into<String>) -> Self {
        self.with(Part::Paragraph(text.into()))
    }

    /// Adds a table.
    #[must_use]
    pub fn table(self, table: Table) -> Self {
        self.with(Part::Table(table))
    }

    /// Adds a figure. A page reports a figure without points as missing instead of drawing it.
    #[must_use]
    pub fn figure(self, figure: Figure) -> Self {
        self.with(Part::Figure(figure))
    }

    /// Adds a picture. A page reports a picture without pixels as an error.
    #[must_use]
    pub fn picture(self, picture: Picture) -> Self {
        self.with(Part::Picture(picture))
    }

    /// Sets the answer in some sentences. A page shows it below the heading, a terminal below the tables.
    #[must_use]
    pub fn concluded(self, text: impl Into<String>) -> Self {
        Self {
            conclusion: Some(text.into()),
            ..self
        }
    }

    /// Sets the command that repeats the measurement, shown at the end.
    #[must_use]
    pub fn command(self, command: impl Into<String>) -> Self {
        Self {
            command: Some(command.into()),
            ..self
        }
    }

    /// Adds a note in small print, such as the configuration of the measurement.
    #[must_use]
    pub fn note(self, text: impl Into<String>) -> Self {
        self.with(Part::Note(text.into()))
    }

    /// Prefixes the heading with a name.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Self {
            heading: format!("{name}: {}", self.heading),
            ..self
        }
    }

    /// Puts a table before everything else.
    #[must_use]
    pub fn led_by(mut self, table: Table) -> Self {
        self.parts.insert(0, Part::Table(table));
        self
    }

    /// Returns its figures.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.parts.iter().filter_map(|part| match part {
            Part::Figure(figure) => Some(figure),
            _ => None,
        })
    }

    /// Returns the heading.
    pub fn heading(&self) -> &str {
        &self.heading
    }

    /// Returns the answer in some sentences, if there is one.
    pub fn conclusion(&self) -> Option<&str> {
        self.conclusion.as_deref()
    }

    /// Returns its tables, for the terminal.
    pub fn to_text(&self) -> String {
        let parts = self.parts.iter().filter_map(|part| match part {
            Part::Table(table) => Some(table.to_text()),
            Part::Paragraph(_) | Part::Note(_) | Part::Figure(_) | Part::Picture(_) => None,
        });
        parts.collect::<Vec<_>>().join("\n\n")
    }

    fn with(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_begins_with_the_conclusion() {
        let chapter = Chapter::new("x").paragraph("how").concluded("It takes 8 µs.");
        assert_eq!(chapter.conclusion(), Some("It takes 8 µs."));
        let page = crate::Page::new("y").chapter(&chapter).unwrap().to_html();
        let place = |text: &str| {
            page.find(text)
                .unwrap_or_else(|| panic!("{text} is not in {page}"))
        };
        assert!(place("<p>It takes 8 µs.</p>") < place("<p>how</p>"));
    }

    #[test]
    fn the_terminal_shows_tables_only() {
        let rows = [serde_json::json!({"threads": 2})];
        let chapter = Chapter::new("x")
            .paragraph("a text")
            .table(Table::of(rows.iter().filter_map(|row| row.as_object())))
            .note("30 rounds")
            .command("punctual bench x")
            .command("punctual bench x --quick");
        assert_eq!(chapter.command.as_deref(), Some("punctual bench x --quick"));
        let text = chapter.to_text();
        assert!(
            text.contains("threads") && !text.contains("a text") && !text.contains("rounds"),
            "{text}"
        );
    }
}
