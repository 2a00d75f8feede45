//! Columns of the tables of `top` and `events top`, on a screen and as text.

use punctual_report::{Table, terminal};
use ratatui::{
    layout::{Alignment, Constraint},
    style::{Modifier, Style},
    text::Line,
    widgets::{Cell, Row, Table as Widget},
};
use serde_json::{Value, json};

/// One column of a table of `T`, each with a change `C` since it was shown before.
pub struct Column<T, C> {
    pub heading: &'static str,
    width: u16,
    /// The columns with the highest number are dropped first on narrow terminals.
    dispensable: u8,
    cell: fn(&T, &C) -> String,
    /// On a screen, it is aligned left and takes the width that the others leave.
    is_text: bool,
}

/// Creates a column.
pub const fn column<T, C>(
    heading: &'static str,
    width: u16,
    dispensable: u8,
    cell: fn(&T, &C) -> String,
) -> Column<T, C> {
    Column {
        heading,
        width,
        dispensable,
        cell,
        is_text: false,
    }
}

/// Creates a column of text of any length, one in a table at most.
pub const fn text_column<T, C>(
    heading: &'static str,
    width: u16,
    dispensable: u8,
    cell: fn(&T, &C) -> String,
) -> Column<T, C> {
    Column {
        is_text: true,
        ..column(heading, width, dispensable, cell)
    }
}

/// The columns that fit on a screen, in their order.
pub fn columns_within<T, C>(columns: &[Column<T, C>], width: u16) -> Vec<&Column<T, C>> {
    let needed = |shown: &[&Column<T, C>]| shown.iter().map(|column| column.width + 1).sum::<u16>();
    reduced(columns, |shown| needed(shown) <= width + 1)
}

/// The columns, less dispensable ones until they fit.
fn reduced<T, C>(columns: &[Column<T, C>], fit: impl Fn(&[&Column<T, C>]) -> bool) -> Vec<&Column<T, C>> {
    let mut shown: Vec<_> = columns.iter().collect();
    while !fit(&shown) && shown.len() > 1 {
        let most = shown.iter().map(|column| column.dispensable).max();
        let last = shown.iter().rposition(|column| Some(column.dispensable) == most);
        last.map(|place| shown.remove(place));
    }
    shown
}

/// The table for a screen of this width; the first column and one of text are aligned left, the others right.
pub fn widget<'r, T: 'r, C: 'r>(
    columns: &[Column<T, C>],
    width: u16,
    rows: impl Iterator<Item = (&'r T, &'r C, Style)>,
) -> Widget<'static> {
    let columns = columns_within(columns, width);
    let aligned = |(place, text): (usize, String)| {
        let alignment = if place == 0 || columns[place].is_text {
            Alignment::Left
        } else {
            Alignment::Right
        };
        Cell::from(Line::from(text).alignment(alignment))
    };
    let rows: Vec<_> = rows
        .map(|(one, change, style)| {
            let cells = columns.iter().map(|column| (column.cell)(one, change));
            Row::new(cells.enumerate().map(aligned)).style(style)
        })
        .collect();
    let headings = columns.iter().map(|column| column.heading.to_owned());
    let header = Row::new(headings.enumerate().map(aligned));
    let header = header.style(Style::new().add_modifier(Modifier::REVERSED));
    let has_text = columns.iter().any(|column| column.is_text);
    let widths = columns.iter().map(|column| match has_text && !column.is_text {
        true => Constraint::Length(column.width),
        false => Constraint::Min(column.width),
    });
    Widget::new(rows, widths).header(header)
}

/// The table as text, with all columns; on a terminal, with those that fit.
pub fn to_text<'r, T: 'r, C: 'r>(
    columns: &[Column<T, C>],
    rows: impl Iterator<Item = (&'r T, &'r C)> + Clone,
) -> String {
    text_within(columns, rows, terminal::width())
}

fn text_within<'r, T: 'r, C: 'r>(
    columns: &[Column<T, C>],
    rows: impl Iterator<Item = (&'r T, &'r C)> + Clone,
    width: Option<usize>,
) -> String {
    let widest = |text: &str| text.lines().map(|line| line.chars().count()).max();
    let shown = reduced(columns, |shown| {
        width.is_none_or(|width| widest(&text(shown, rows.clone())).is_none_or(|widest| widest <= width))
    });
    text(&shown, rows)
}

fn text<'r, T: 'r, C: 'r>(columns: &[&Column<T, C>], rows: impl Iterator<Item = (&'r T, &'r C)>) -> String {
    let row = |(one, change): (&T, &C)| {
        let cells = columns.iter().map(|column| {
            let cell = (column.cell)(one, change);
            // Numbers are right-aligned.
            let value = cell
                .parse::<i64>()
                .map_or_else(|_| json!(cell), |number| json!(number));
            (column.heading.to_owned(), value)
        });
        cells.collect::<serde_json::Map<String, Value>>()
    };
    let rows: Vec<_> = rows.map(row).collect();
    let headings: Vec<_> = columns.iter().map(|one| (one.heading, one.heading)).collect();
    Table::of(&rows).columns(&headings).to_text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_for_a_terminal_has_the_columns_that_fit() {
        let columns = [
            column("name", 8, 0, |name: &&str, ()| (*name).to_owned()),
            column("calls", 8, 1, |_, ()| "1000000".to_owned()),
            column("max ever", 8, 2, |_, ()| "83".to_owned()),
        ];
        let headings = |width| {
            let text = text_within(&columns, [(&"radar", &())].into_iter(), width);
            assert!(width.is_none_or(|width| text.lines().all(|line| line.chars().count() <= width.max(8))));
            text.lines()
                .next()
                .unwrap()
                .split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(headings(None), ["name", "calls", "max", "ever"]);
        assert_eq!(headings(Some(80)), headings(None));
        assert_eq!(headings(Some(22)), ["name", "calls"]);
        assert_eq!(headings(Some(1)), ["name"]);
    }
}
