//! Tables of rows.

mod text;

use serde_json::{Map, Value};

/// Table whose columns are the fields of its rows.
///
/// ```
/// use punctual_report::Table;
/// let rows = [serde_json::json!({"pool": "lanes", "achieved_hz": 74.96, "note": null})];
/// let table = Table::of(rows.iter().filter_map(|row| row.as_object()))
///     .columns(&[("pool", "pool"), ("achieved_hz", "achieved (Hz)")]);
/// assert!(table.to_text().lines().any(|line| line.contains("lanes") && line.contains("74.96")));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    title: String,
    columns: Vec<Column>,
    /// One cell per column.
    rows: Vec<Vec<Value>>,
}

#[derive(Clone, Debug, PartialEq)]
struct Column {
    field: String,
    heading: String,
}

impl Table {
    /// Creates a table with all fields of all rows, in order of first appearance. Cells of missing fields are
    /// empty.
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a Map<String, Value>>) -> Self {
        let rows: Vec<_> = rows.into_iter().collect();
        let mut columns: Vec<Column> = Vec::new();
        for field in rows.iter().flat_map(|row| row.keys()) {
            if columns.iter().all(|column| column.field != *field) {
                let (field, heading) = (field.clone(), field.replace('_', " "));
                columns.push(Column { field, heading });
            }
        }
        let cells = |row: &&Map<String, Value>| {
            let cell = |column: &Column| row.get(&column.field).cloned().unwrap_or_default();
            columns.iter().map(cell).collect()
        };
        Self {
            title: String::new(),
            rows: rows.iter().map(cells).collect(),
            columns,
        }
    }

    /// Sets the title.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Keeps only these fields, in this order, with headings. A field that no row has becomes an empty
    /// column.
    #[must_use]
    pub fn columns(self, wanted: &[(&str, &str)]) -> Self {
        let place = |field: &str| self.columns.iter().position(|column| column.field == field);
        let places: Vec<_> = wanted.iter().map(|(field, _)| place(field)).collect();
        let cells = |row: &Vec<Value>| {
            let cell = |place: &Option<usize>| place.map_or(Value::Null, |place| row[place].clone());
            places.iter().map(cell).collect()
        };
        let column = |&(field, heading): &(&str, &str)| Column {
            field: field.into(),
            heading: heading.into(),
        };
        Self {
            rows: self.rows.iter().map(cells).collect(),
            columns: wanted.iter().map(column).collect(),
            title: self.title,
        }
    }

    /// Returns HTML for a page.
    pub(crate) fn to_html(&self) -> String {
        use crate::escape::escaped;
        let class = |place: usize| {
            if self.is_numeric(place) {
                " class=\"number\""
            } else {
                ""
            }
        };
        let mut html = String::from("<div class=\"wide\" tabindex=\"0\"><table>\n");
        if !self.title.is_empty() {
            html += &format!("<caption>{}</caption>\n", escaped(&self.title));
        }
        html += "<thead><tr>";
        for (place, column) in self.columns.iter().enumerate() {
            html += &format!(
                "<th scope=\"col\"{}>{}</th>",
                class(place),
                escaped(&column.heading)
            );
        }
        html += "</tr></thead>\n<tbody>\n";
        for row in &self.rows {
            html += "<tr>";
            for (place, cell) in row.iter().enumerate() {
                let text = shown(cell);
                let class = match text.as_str() {
                    "✓" => " class=\"good\"",
                    "✗" => " class=\"bad\"",
                    "≠" | "?" => " class=\"doubtful\"",
                    long if long.chars().count() > LONGEST_LINE => " class=\"long\"",
                    _ => class(place),
                };
                html += &format!("<td{class}>{}</td>", escaped(&text));
            }
            html += "</tr>\n";
        }
        html + "</tbody></table></div>\n"
    }

    fn is_numeric(&self, place: usize) -> bool {
        let mut cells = self
            .rows
            .iter()
            .map(|row| &row[place])
            .filter(|cell| !cell.is_null() && *cell != NO_VALUE)
            .peekable();
        cells.peek().is_some() && cells.all(Value::is_number)
    }
}

/// Text of a cell among numbers that has none, for a stated reason; other absent values are empty cells.
pub const NO_VALUE: &str = "–";

/// Cells with more characters are wrapped on a page.
const LONGEST_LINE: usize = 36;

/// Formats a value: numbers with four significant digits, large ones as integers.
pub fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) if number.is_f64() => rounded(number.as_f64().unwrap_or(f64::NAN)),
        other => other.to_string(),
    }
}

fn rounded(number: f64) -> String {
    let magnitude = number.abs();
    let decimals = match magnitude {
        0.0 => return "0".to_owned(),
        1000.0.. => 0,
        100.0.. => 1,
        10.0.. => 2,
        0.001.. => 3,
        _ => return format!("{number:.2e}"),
    };
    let text = format!("{number:.decimals$}");
    if decimals == 0 {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn table(rows: &[Value]) -> Table {
        Table::of(rows.iter().map(|row| row.as_object().unwrap()))
    }

    #[test]
    fn rows_may_have_different_fields() {
        let table = table(&[json!({"b": 1, "a_us": "x"}), json!({"c": 2.5, "b": 10})]);
        let text = table.title("Title").to_text();
        let lines: Vec<_> = text.lines().map(str::trim_end).collect();
        assert_eq!(
            lines,
            [
                "Title",
                "  b   a us     c",
                "─────────────────",
                "  1   x",
                " 10          2.5"
            ]
        );
    }

    #[test]
    fn columns_are_selected_and_renamed() {
        let table = table(&[json!({"a": 1, "b": 2})]).columns(&[("b", "B (µs)"), ("z", "Z")]);
        assert_eq!(table.to_text().lines().next().unwrap().trim(), "B (µs)   Z");
        assert!(table.to_html().contains("<td class=\"number\">2</td><td></td>"));
    }

    #[test]
    fn a_dash_leaves_a_column_of_numbers_what_it_is() {
        let text = table(&[json!({"bound": 82.25}), json!({"bound": NO_VALUE})]).to_text();
        assert_eq!(text.lines().last().unwrap().chars().last(), Some('–'), "{text}");
        assert!(
            text.lines().last().unwrap().starts_with("   "),
            "right-aligned: {text}"
        );
    }

    #[test]
    fn numbers_are_rounded() {
        for (number, text) in [
            (0.0, "0"),
            (18.503_21, "18.5"),
            (1.084_9, "1.085"),
            (149.96, "150"),
            (51_234.6, "51235"),
            (1000.0, "1000"),
            (0.000_012_3, "1.23e-5"),
            (-2.5, "-2.5"),
        ] {
            assert_eq!(shown(&json!(number)), text);
        }
        assert_eq!(shown(&json!(1_234_567)), "1234567");
        assert_eq!(shown(&json!(true)), "yes");
    }

    #[test]
    fn signs_are_coloured_and_long_texts_wrapped_on_a_page() {
        let html = table(&[json!({"a": "✓", "b": "✗", "c": "word ".repeat(20)})]).to_html();
        for cell in [
            "<td class=\"good\">✓",
            "<td class=\"bad\">✗",
            "<td class=\"long\">word",
        ] {
            assert!(html.contains(cell), "{cell} is missing in {html}");
        }
    }

    #[test]
    fn cells_are_escaped() {
        let html = table(&[json!({"<b>": "a & \"b\" <script>"})]).to_html();
        assert!(html.contains("<th scope=\"col\">&lt;b&gt;</th>"), "{html}");
        assert!(
            html.contains("<td>a &amp; &quot;b&quot; &lt;script&gt;</td>"),
            "{html}"
        );
    }
}
