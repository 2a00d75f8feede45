//! Rows of an outcome, selected by the values of columns.

use std::collections::BTreeMap;

use punctual_harness::{Outcome, Row};
use serde::Deserialize;
use serde_json::Value;

/// Values that columns of a selected row have; `true` selects every row with this column, `false` those
/// without it, too.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Selection(BTreeMap<String, Value>);

impl Selection {
    /// Returns the selected rows.
    pub(super) fn of<'o>(&self, outcome: &'o Outcome) -> impl Iterator<Item = &'o Row> {
        let is_selected = |row: &&Row| {
            self.0.iter().all(|(column, wanted)| {
                let value = row.get(column);
                value == Some(wanted) || *wanted == Value::Bool(value.is_some())
            })
        };
        outcome.rows().iter().filter(is_selected)
    }
}

#[cfg(test)]
mod tests {
    use punctual_harness::MachineFacts;

    use super::*;

    #[test]
    fn rows_are_selected_by_values_and_by_columns() {
        let mut outcome = Outcome::new("x", MachineFacts::read(&punctual_os::CpuSet::single(0)));
        outcome.row(Row::new().with("kind", "a").with("threads", 2));
        outcome.row(Row::new().with("kind", "b").with("threads", 2).with("part", "p"));
        let count = |text: &str| toml::from_str::<Selection>(text).unwrap().of(&outcome).count();
        assert_eq!(count("kind = \"a\""), 1);
        assert_eq!(count("threads = 2"), 2);
        assert_eq!(count("kind = \"a\"\npart = false"), 1);
        assert_eq!(count("part = false"), 1);
        assert_eq!(count("part = true"), 1);
        assert_eq!(count("kind = \"a\"\npart = true"), 0);
    }
}
