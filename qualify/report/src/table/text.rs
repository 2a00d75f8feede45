//! Tables as text for a terminal, no wider than it.

use std::collections::HashSet;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, TableStyle, Width};

use serde_json::Value;

use super::{Table, shown};
use crate::terminal;

impl Table {
    /// Returns text for the terminal, without colours, no wider than the terminal, where standard output is
    /// one: headings are broken at spaces, and columns that do not fit follow in further tables, each of
    /// which repeats the columns that identify a row.
    pub fn to_text(&self) -> String {
        self.to_text_within(terminal::width().unwrap_or(usize::MAX))
    }

    /// Returns text whose lines have at most this number of characters, if that is possible.
    pub fn to_text_within(&self, width: usize) -> String {
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let (parts, longest) = if self.width_of(&all, LONGEST) <= width {
            (vec![all], LONGEST)
        } else {
            self.parts(width)
        };
        let parts = parts.iter().map(|places| self.part(places, width, longest));
        let text = parts.collect::<Vec<_>>().join("\n\n");
        if self.title.is_empty() {
            text
        } else {
            format!("{}\n{text}", terminal::fitted_within(&self.title, width))
        }
    }

    /// Returns the columns of each part, and the number of characters above which their cells are wrapped:
    /// few enough that every column fits beside those that identify a row.
    fn parts(&self, width: usize) -> (Vec<Vec<usize>>, usize) {
        let mut keys = self.keys();
        let others_than = |keys: &[usize]| -> Vec<usize> {
            let all = 0..self.columns.len();
            all.filter(|place| !keys.contains(place)).collect()
        };
        // On a narrow terminal, rows are identified as far as there is room for another column.
        let has_room = |keys: &[usize]| {
            let others = others_than(keys);
            let widest = others.iter().map(|other| self.least_width(*other, SHORTEST));
            self.width_of(keys, SHORTEST) + widest.max().unwrap_or(0) <= width
        };
        while keys.len() > 1 && !has_room(&keys) {
            keys.pop();
        }
        let others = others_than(&keys);
        let fits = |places: &[usize], longest| {
            self.width_of(&keys, longest) + self.width_of(places, longest) <= width
        };
        let longest = (SHORTEST..=LONGEST)
            .rev()
            .find(|longest| others.iter().all(|other| fits(&[*other], *longest)))
            .unwrap_or(SHORTEST);
        let mut parts: Vec<Vec<usize>> = vec![Vec::new()];
        for place in others {
            let is_full =
                |part: &Vec<usize>| !part.is_empty() && !fits(&[&part[..], &[place]].concat(), longest);
            if parts.last().is_some_and(is_full) {
                parts.push(Vec::new());
            }
            parts.last_mut().into_iter().for_each(|part| part.push(place));
        }
        for part in &mut parts {
            part.extend(&keys);
            part.sort_unstable();
        }
        (parts, longest)
    }

    /// Returns the columns that identify a row: the first one, and of those before the first measured value
    /// each that distinguishes further rows, until no two are the same. Rows that begin with a measured
    /// value, such as a time, are identified by their first text, too.
    fn keys(&self) -> Vec<usize> {
        let all = 0..self.columns.len();
        let is_measured = |place: &usize| self.rows.iter().any(|row| row[*place].is_f64());
        let text = all.clone().find(|place| !self.is_numeric(*place));
        let mut keys: Vec<usize> = all.clone().take(1).collect();
        keys.extend(text.filter(|text| *text > 0 && is_measured(&0)));
        for place in all.skip(1).take_while(|place| !is_measured(place)) {
            let further = [&keys[..], &[place]].concat();
            if self.distinct(&further) > self.distinct(&keys) {
                keys = further;
            }
        }
        keys
    }

    /// Returns the number of rows that differ in these columns.
    fn distinct(&self, places: &[usize]) -> usize {
        let cells = |row: &Vec<Value>| places.iter().map(|place| shown(&row[*place])).collect::<Vec<_>>();
        self.rows.iter().map(cells).collect::<HashSet<_>>().len()
    }

    /// Returns the least width of columns side by side.
    fn width_of(&self, places: &[usize], longest: usize) -> usize {
        let widths = places.iter().map(|place| self.least_width(*place, longest));
        widths.sum()
    }

    /// Returns the characters of the longest cell or word of the heading, and of the gap. Texts that are
    /// longer than `longest` are wrapped.
    fn least_width(&self, place: usize, longest: usize) -> usize {
        let words = self.columns[place]
            .heading
            .split_whitespace()
            .map(|word| word.chars().count());
        let cells = self.rows.iter().map(|row| shown(&row[place]).chars().count());
        words.chain(cells).max().unwrap_or_default().min(longest) + GAP
    }

    fn part(&self, places: &[usize], width: usize, longest: usize) -> String {
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
            let least = u16::try_from(self.least_width(*place, longest) - 1).unwrap_or(u16::MAX);
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
/// Texts with fewer characters are not wrapped, however narrow the terminal is.
const SHORTEST: usize = 8;

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
    fn each_part_repeats_the_texts_that_identify_a_row() {
        let operations = ["cube_void", "cube_octet", "cube_octet_sequence_4096"];
        let rows: Vec<Map<_, _>> = ["same-cpu", "split-cpu"]
            .iter()
            .flat_map(|placement| operations.map(|operation| (placement, operation)))
            .map(|(placement, operation)| {
                let texts = [
                    ("transport", "tcp"),
                    ("placement", *placement),
                    ("lane_waits", "blocking"),
                    ("operation", operation),
                ];
                let texts = texts.map(|(field, text)| (field.to_owned(), json!(text)));
                let values = (0..11).map(|number| (format!("value {number}"), json!(9.25)));
                texts.into_iter().chain(values).collect()
            })
            .collect();
        let text = Table::of(&rows).to_text_within(80);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let parts: Vec<&str> = text.split("\n\n").collect();
        assert!(parts.len() > 1, "{text}");
        for part in parts {
            for row in &rows {
                let is_row = |line: &&str| {
                    let words: Vec<&str> = line.split_whitespace().collect();
                    ["placement", "operation"]
                        .iter()
                        .all(|key| words.iter().any(|word| row[*key] == *word))
                };
                assert_eq!(part.lines().filter(is_row).count(), 1, "{row:?}:\n{text}");
            }
        }
        assert_eq!(
            text.matches("blocking").count(),
            rows.len(),
            "it identifies nothing:\n{text}"
        );
    }

    #[test]
    fn rows_that_begin_with_a_time_are_identified_by_their_first_text() {
        let row = |at: f64, thread: &str| -> Map<_, _> {
            let first = [
                ("at (s)".to_owned(), json!(at)),
                ("length (µs)".to_owned(), json!(120.5)),
                ("CPU".to_owned(), json!(1)),
                ("waited".to_owned(), json!(thread)),
            ];
            let rest = (0..9).map(|number| (format!("cause {number}"), json!("interrupts")));
            first.into_iter().chain(rest).collect()
        };
        let (long, short) = ("lane-32767 of the pool of tracks", "client");
        let text = Table::of([&row(0.25, long), &row(0.5, short)]).to_text_within(80);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        for part in text.split("\n\n") {
            for key in ["0.25", "0.5", "lane-32767 of the pool of tracks", short] {
                assert!(part.contains(key), "{key} is missing in a part of\n{text}");
            }
        }
    }

    #[test]
    fn long_texts_are_wrapped_rather_than_left_out() {
        let row = |thread: &str| -> Map<_, _> {
            let texts = [("waited", thread), ("for", "the same thing"), ("request", "x")];
            let texts = texts.map(|(field, text)| (field.to_owned(), json!(text.repeat(4))));
            texts.into_iter().collect()
        };
        let text = Table::of([&row("one thread "), &row("another thread ")]).to_text_within(50);
        assert!(text.lines().all(|line| line.chars().count() <= 50), "{text}");
        for part in text.split("\n\n") {
            assert!(part.contains("one") && part.contains("another"), "{text}");
        }
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

    /// Each column distinguishes one more row.
    #[test]
    fn texts_that_identify_a_row_leave_room_for_another_column() {
        let fields = ["source", "system", "suspension", "yielding", "synchronized"];
        let rows: Vec<Map<_, _>> = (0..6)
            .map(|row| {
                let cell = |(place, field): (usize, &&str)| {
                    let text = if place + 1 == row {
                        "1.78 (0.026)"
                    } else {
                        "0.97 (0.014)"
                    };
                    ((*field).to_owned(), json!(text))
                };
                fields.iter().enumerate().map(cell).collect()
            })
            .collect();
        let text = Table::of(&rows).to_text_within(40);
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
        for heading in fields {
            assert!(text.contains(heading), "{text}");
        }
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
