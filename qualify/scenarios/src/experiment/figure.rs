//! Figures of a page: curves and bars as selections of rows, published data, and curves of the experiment.

use punctual_harness::Row;
use punctual_report::Figure;
use serde::Deserialize;
use serde_json::Value;

use super::{selection::Selection, trial::Trial};

/// A figure. The axes are linear unless `log` names them.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FigureSpec {
    title: String,
    caption: String,
    x: String,
    y: String,
    /// `x`, `y` or `xy`.
    log: String,
    /// Whether the horizontal axis is one of percentiles.
    tail: bool,
    /// Group of the experiment's curves.
    curves: Option<String>,
    /// Group of the experiment's samples.
    samples: Option<String>,
    lines: Vec<Series>,
    /// The names below bars, and the column with their values.
    names: Option<Names>,
    bars: Vec<Series>,
    published: Vec<Published>,
    published_bars: Vec<PublishedBars>,
    limits: Vec<(String, f64)>,
}

/// Points of rows: one series, or one for each value of a column.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Series {
    /// Name in the legend; `{}` stands for the value of `each`.
    name: Option<String>,
    each: Option<String>,
    r#where: Selection,
    x: String,
    y: String,
    /// Length of the axis's unit in the unit of the rows.
    unit: Option<f64>,
}

/// Bars are those of rows whose column has these values, each with its name.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Names {
    /// Some values, each with its name.
    Some {
        column: String,
        values: Vec<(Value, String)>,
    },
    /// The columns of a single row for each series, each with its name.
    Columns { columns: Vec<(String, String)> },
    /// The values of all rows of the figure, in their order.
    All { column: String },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    name: String,
    points: Vec<(f64, f64)>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PublishedBars {
    name: String,
    /// `nan` where the paper states no number.
    values: Vec<f64>,
}

impl FigureSpec {
    /// Creates the figure.
    pub(super) fn of(&self, trial: &Trial<'_>) -> Figure {
        let mut figure = Figure::new(self.title.as_str()).caption(self.caption.as_str());
        if self.tail {
            figure = figure.tail();
        }
        if !self.x.is_empty() {
            figure = figure.x(self.x.as_str());
        }
        figure = figure.y(self.y.as_str());
        if self.log.contains('x') {
            figure = figure.x_log();
        }
        if self.log.contains('y') {
            figure = figure.y_log();
        }
        if let Some(names) = &self.names {
            figure = self.with_bars(figure, names, trial);
        }
        for (name, rows, series) in self.lines.iter().flat_map(|series| series.split(trial)) {
            let point = |row: &&Row| Some((row.number(&series.x)?, series.value(row, &series.y)?));
            figure = figure.line(name, rows.iter().filter_map(point));
        }
        for curve in &trial.curves {
            let is_selected = Some(curve.group) == self.curves.as_deref();
            if is_selected && curve.published {
                figure = figure.published(curve.name.as_str(), curve.points.iter().copied());
            } else if is_selected {
                figure = figure.line(curve.name.as_str(), curve.points.iter().copied());
            } else if Some(curve.group) == self.samples.as_deref() {
                figure = figure.samples(curve.name.as_str(), curve.points.iter().copied());
            }
        }
        for Published { name, points } in &self.published {
            figure = figure.published(name.as_str(), points.iter().copied());
        }
        for PublishedBars { name, values } in &self.published_bars {
            figure = figure.published_bars(name.as_str(), values.iter().copied());
        }
        let limits = self.limits.iter();
        limits.fold(figure, |figure, (text, at)| figure.limit(text.as_str(), *at))
    }

    fn with_bars(&self, figure: Figure, names: &Names, trial: &Trial<'_>) -> Figure {
        let all: Vec<_> = self.bars.iter().flat_map(|series| series.split(trial)).collect();
        let labels: Vec<String> = match names {
            Names::Columns { columns } => columns.iter().map(|(_, name)| name.clone()).collect(),
            Names::Some { values, .. } => values.iter().map(|(_, name)| name.clone()).collect(),
            Names::All { column } => {
                let of_first = all.first().map_or(&[][..], |(_, rows, _)| rows);
                of_first
                    .iter()
                    .filter_map(|row| row.get(column))
                    .map(text_of)
                    .collect()
            }
        };
        all.iter()
            .fold(figure.names(labels), |figure, (name, rows, series)| {
                let find = |column: &str, wanted: &Value| {
                    let row = rows.iter().find(|row| row.get(column) == Some(wanted))?;
                    series.value(row, &series.y)
                };
                let values: Vec<Option<f64>> = match names {
                    Names::All { .. } => rows.iter().map(|row| series.value(row, &series.y)).collect(),
                    Names::Some { column, values } => {
                        values.iter().map(|(value, _)| find(column, value)).collect()
                    }
                    Names::Columns { columns } => {
                        let value = |column: &str| series.value(rows.first()?, column);
                        columns.iter().map(|(column, _)| value(column)).collect()
                    }
                };
                if values.iter().all(Option::is_none) {
                    return figure;
                }
                figure.bars(
                    name.as_str(),
                    values.into_iter().map(|value| value.unwrap_or(f64::NAN)),
                )
            })
    }
}

impl Series {
    /// Returns the name and the rows of each of its series.
    fn split<'o>(&self, trial: &'o Trial<'_>) -> Vec<(String, Vec<&'o Row>, &Self)> {
        let rows: Vec<&Row> = self.r#where.of(&trial.outcome).collect();
        let Some(column) = &self.each else {
            return vec![(self.name.clone().unwrap_or_default(), rows, self)];
        };
        let mut series: Vec<(&Value, Vec<&Row>)> = Vec::new();
        for row in rows {
            let Some(value) = row.get(column) else { continue };
            match series.iter_mut().find(|(other, _)| *other == value) {
                Some((_, rows)) => rows.push(row),
                None => series.push((value, vec![row])),
            }
        }
        let named = series.into_iter().map(|(value, rows)| {
            let name = self
                .name
                .as_deref()
                .unwrap_or("{}")
                .replace("{}", &text_of(value));
            (name, rows, self)
        });
        named.collect()
    }

    fn value(&self, row: &Row, column: &str) -> Option<f64> {
        Some(row.number(column)? / self.unit.unwrap_or(1.0))
    }
}

pub(super) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_all_rows_of_some_or_of_columns() {
        let names = |text: &str| toml::from_str::<FigureSpec>(text).unwrap().names.unwrap();
        let all = names("names = { column = \"mutex\" }");
        assert!(matches!(all, Names::All { .. }), "{all:?}");
        let some = names("names = { column = \"burst\", values = [[1000, \"1,000\"]] }");
        assert!(
            matches!(&some, Names::Some { values, .. } if values[0].0 == 1000),
            "{some:?}"
        );
        let columns = names("names = { columns = [[\"mean_us\", \"mean\"]] }");
        assert!(matches!(columns, Names::Columns { .. }), "{columns:?}");
    }
}
