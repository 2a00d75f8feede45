//! Rows of results: flat objects.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Row of results with named columns, in the order in which they were added.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Row(Map<String, Value>);

impl Row {
    /// Creates a row without columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a column, or replaces its value. `None` and numbers that are not finite become null.
    ///
    /// # Panics
    /// If the value is a list or an object: rows are flat.
    #[must_use]
    pub fn with(mut self, column: impl Into<String>, value: impl Into<Value>) -> Self {
        let (column, value) = (column.into(), value.into());
        assert!(
            !value.is_array() && !value.is_object(),
            "column `{column}` of a flat row cannot be {value}"
        );
        self.0.insert(column, value);
        self
    }

    /// Adds all fields of a value that serialises as a flat object, such as [`crate::statistics::Summary`].
    ///
    /// # Panics
    /// If it serialises otherwise.
    #[must_use]
    pub fn with_fields(self, fields: &impl Serialize) -> Self {
        match serde_json::to_value(fields) {
            Ok(Value::Object(fields)) => fields
                .into_iter()
                .fold(self, |row, (column, value)| row.with(column, value)),
            other => panic!("the fields of a row must be an object, not {other:?}"),
        }
    }

    /// Returns the value of a column.
    pub fn get(&self, column: &str) -> Option<&Value> {
        self.0.get(column)
    }

    /// Returns the value of a numeric column.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.get(column)?.as_f64()
    }

    /// Returns the columns.
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.0
    }

    pub(super) fn with_first(self, column: &str, value: &str) -> Self {
        let rest = self.0.into_iter().filter(|(other, _)| other != column);
        Self(
            std::iter::once((column.to_owned(), value.into()))
                .chain(rest)
                .collect(),
        )
    }
}
