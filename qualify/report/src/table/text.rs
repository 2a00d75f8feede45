//! Tables as text for a terminal, no wider than it.

use std::collections::HashSet;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, TableStyle, Width};

use serde_json::Value;

use super::{Table, shown};
use crate::terminal;

impl Table {
    /// Returns text for the terminal, without colours, no wider than the terminal, where standard output is
    /// one: headings are broken at spaces, and columns that do not fit follow in a second table, with the
    /// first columns repeated.
    pub fn to_text(&self) -> String {
        self.to_text_within(terminal::width().unwrap_or(usize::MAX))
    }

    /// Returns text whose lines have at most this number of characters, if that is possible.
    pub fn to_text_within(&self, width: usize) -> String {
        let parts = self
            .parts(width)
            .into_iter()
            .map(|places| self.part(&places, width));
        let text = parts.collect::<Vec<_>>().join("\n\n");
        if self.title.is_empty() {
            text
        } else {
            format!("{}\n{text}", self.title)
        }
    }

    /// The columns of each part. Those at the left that identify a row are in every part: texts, and numbers
    /// as long as rows are the same without them.
    fn parts(&self, width: usize) -> Vec<Vec<usize>> {
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|place| self.least_width(place))
            .collect();
        if widths.iter().sum::<usize>() <= width {
            return vec![(0..self.columns.len()).collect()];
        }
        let texts = (0..self.columns.len()).take_while(|place| *place < 3 && !self.is_numeric(*place));
        let texts = texts.count();
        let fits = |number: &usize| widths[..*number].iter().sum::<usize>() <= width / 2;
        let number = { (texts..=self.columns.len()).take_while(fits) }
            .find(|number| self.identify(*number))
            .or_else(|| (0..=texts).rev().find(fits))
            .unwrap_or_default();
        let keys: Vec<usize> = (0..number).collect();
        let mut parts = vec![keys.clone()];
        for place in keys.len()..self.columns.len() {
            let last = parts.last().map_or(&[][..], Vec::as_slice);
            let used = last.iter().map(|place| widths[*place]).sum::<usize>();
            if last.len() > keys.len() && used + widths[place] > width {
                parts.push(keys.clone());
            }
            parts.last_mut().into_iter().for_each(|part| part.push(place));
        }
        parts
    }

    /// Whether no two rows have the same cells in this number of columns.
    fn identify(&self, number: usize) -> bool {
        let cells = |row: &Vec<Value>| row[..number].iter().map(shown).collect::<Vec<_>>();
        let distinct: HashSet<_> = self.rows.iter().map(cells).collect();
        distinct.len() == self.rows.len()
    }

    /// Characters of the longest cell or word of the heading, and of the gap. Longer texts are wrapped.
    fn least_width(&self, place: usize) -> usize {
        let words = self.columns[place]
            .heading
            .split_whitespace()
            .map(|word| word.chars().count());
        let cells = self.rows.iter().map(|row| shown(&row[place]).chars().count());
        words.chain(cells).max().unwrap_or_default().min(LONGEST) + GAP
    }

    fn part(&self, places: &[usize], width: usize) -> String {
        let mut table = comfy_table::Table::new();
        let line = LineStyle::none().fill('─').junction('─');
        table.load_style(TableStyle::new().header_separator(line));
        table.set_header(places.iter().map(|place| &self.columns[*place].heading));
        if let Ok(width) = u16::try_from(width) {
            table
                .set_content_arrangement(ContentArrangement::Dynamic)
                .set_width(width);
        }
        for row in &self.rows {
            table.add_row(places.iter().map(|place| shown(&row[*place])));
        }
        for (position, place) in places.iter().enumerate() {
            let Some(column) = table.column_mut(position) else {
                continue;
            };
            // The gap between two columns belongs to neither.
            let least = u16::try_from(self.least_width(*place) - 1).unwrap_or(u16::MAX);
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least)));
            if self.is_numeric(*place) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.trim_fmt()
    }
}

/// Spaces around a column, and between two.
const GAP: usize = 3;
/// Texts with more characters may be wrapped.
const LONGEST: usize = 36;

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    #[test]
    fn each_part_repeats_the_numbers_that_identify_a_row() {
        let row = |octets: u64| -> Map<_, _> {
            let key = [
                ("transport".to_owned(), json!("tcp")),
                ("octets".to_owned(), json!(octets)),
            ];
            let cells = (0..12).map(|number| (format!("percentile_{number}_us"), json!(1000 + number)));
            key.into_iter().chain(cells).collect()
        };
        let text = Table::of([&row(64), &row(256)]).to_text_within(80);
        assert!(text.matches("transport").count() > 1, "{text}");
        assert_eq!(
            text.matches("transport").count(),
            text.matches("octets").count(),
            "{text}"
        );
        assert_eq!(
            text.matches(" 256 ").count(),
            text.matches("octets").count(),
            "{text}"
        );
    }

    #[test]
    fn wide_tables_are_divided_and_lose_nothing() {
        let row: Map<_, _> = [("name".to_owned(), json!("priority-inversion"))]
            .into_iter()
            .chain((0..24).map(|number| (format!("99th_percentile_{number}_us"), json!(1000 + number))))
            .collect();
        let table = Table::of([&row, &row]).title("Title");
        for width in [80, 120, 200] {
            let text = table.to_text_within(width);
            for line in text.lines() {
                assert!(
                    line.trim_end().chars().count() <= width,
                    "{width}: {line}\n{text}"
                );
            }
            for number in 0..24 {
                let cell = format!(" {}", 1000 + number);
                assert_eq!(text.matches(&cell).count(), 2, "{text}");
            }
            let parts = text.matches("\n\n").count() + 1;
            assert_eq!(
                text.matches("priority-inversion").count(),
                2 * parts,
                "in each part:\n{text}"
            );
        }
        assert_eq!(table.to_text_within(usize::MAX).matches("\n\n").count(), 0);
    }

    #[test]
    fn headings_are_broken_before_tables_are_divided() {
        let row: Map<_, _> = [
            "lost_to_the_kernel",
            "deadlines_met_in_time",
            "requested_rate_of_calls",
        ]
        .map(|field| (field.to_owned(), json!(75)))
        .into_iter()
        .collect();
        let text = Table::of([&row]).to_text_within(40);
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
        assert!(!text.contains("\n\n"), "{text}");
    }
}
