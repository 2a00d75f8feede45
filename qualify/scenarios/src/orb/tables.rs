//! Tables of rows of one kind.

use punctual_harness::{Outcome, Row};
use punctual_report::{Chapter, Table};

use crate::rows::is_kind;

/// Adds tables to a chapter.
pub(super) trait WithTable {
    /// Adds a table of the rows of this kind, if there are any.
    fn rows_of_kind(self, outcome: &Outcome, kind: &str, columns: &[(&str, &str)], title: &str) -> Self;
}

impl WithTable for Chapter {
    fn rows_of_kind(self, outcome: &Outcome, kind: &str, columns: &[(&str, &str)], title: &str) -> Self {
        let rows: Vec<_> = outcome
            .rows()
            .iter()
            .filter(|row| is_kind(row, kind))
            .map(Row::as_map)
            .collect();
        if rows.is_empty() {
            return self;
        }
        self.table(Table::of(rows).columns(columns).title(title))
    }
}
