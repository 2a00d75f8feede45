//! What one measurement has to say, in reading order.

use crate::{Figure, Table};

/// A part of a report with its heading; goes to the terminal (its tables) and onto a page (all of it).
///
/// ```
/// use punctual_report::{Chapter, Page, Table};
/// let rows = [serde_json::json!({"threads": 2, "p50_us": 1.8})];
/// let chapter = Chapter::new("Thread switches")
///     .paper("[S3] figure 2", "the time of a switch does not depend on the number of threads", Some(true))
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
    /// Stands at the end.
    pub(crate) command: Option<String>,
}

/// A piece of a chapter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    Paragraph(String),
    Note(String),
    Paper(PaperClaim),
    Table(Table),
    Figure(Figure),
}

/// What a paper says, and whether it is so here.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PaperClaim {
    pub(crate) source: String,
    pub(crate) claim: String,
    /// `None`: this run cannot tell.
    pub(crate) holds: Option<bool>,
}

impl PaperClaim {
    /// Its verdict, as part of a sentence.
    pub(crate) fn verdict(&self) -> &'static str {
        match self.holds {
            Some(true) => "✓ it is so here",
            Some(false) => "✗ it is not so here",
            None => "this run cannot tell",
        }
    }
}

impl Chapter {
    /// A chapter with nothing in it yet.
    pub fn new(heading: impl Into<String>) -> Self {
        Self {
            heading: heading.into(),
            parts: Vec::new(),
            command: None,
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
    pub fn figure(self, figure: impl Into<Figure>) -> Self {
        self.with(Part::Figure(figure.into()))
    }

    /// What a paper claims, in one sentence without its full stop, and whether it holds here; `None` where this run cannot
    /// tell. `source` names the paper and its section.
    #[must_use]
    pub fn paper(self, source: impl Into<String>, claim: impl Into<String>, holds: Option<bool>) -> Self {
        self.with(Part::Paper(PaperClaim {
            source: source.into(),
            claim: claim.into(),
            holds,
        }))
    }

    /// The command that repeats what it tells, shown at the end. Again replaces it.
    #[must_use]
    pub fn command(self, command: impl Into<String>) -> Self {
        Self {
            command: Some(command.into()),
            ..self
        }
    }

    /// Something small to look up, such as how the measurement was set up.
    #[must_use]
    pub fn note(self, text: impl Into<String>) -> Self {
        self.with(Part::Note(text.into()))
    }

    /// Puts a name before its heading.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Self {
            heading: format!("{name}: {}", self.heading),
            ..self
        }
    }

    /// Its heading.
    pub fn heading(&self) -> &str {
        &self.heading
    }

    /// Its tables and the papers' claims, for the terminal.
    pub fn to_text(&self) -> String {
        let told = self.parts.iter().filter_map(|part| match part {
            Part::Table(table) => Some(table.to_text()),
            Part::Paper(paper) => Some(format!("{}: {}: {}", paper.source, paper.claim, paper.verdict())),
            Part::Paragraph(_) | Part::Note(_) | Part::Figure(_) => None,
        });
        told.collect::<Vec<_>>().join("\n\n")
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
    fn the_terminal_gets_tables_and_verdicts() {
        let chapter = Chapter::new("x")
            .paper("[S0] 3.1", "priorities are kept", Some(false))
            .paper("[S1]", "it is fast", None)
            .note("30 rounds")
            .command("punctual bench x")
            .command("punctual bench x --quick");
        assert_eq!(chapter.command.as_deref(), Some("punctual bench x --quick"));
        assert_eq!(
            chapter.to_text(),
            "[S0] 3.1: priorities are kept: ✗ it is not so here\n\n[S1]: it is fast: this run cannot tell"
        );
    }
}
