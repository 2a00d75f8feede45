//! Rows of an outcome, selected by their kind.

use punctual_harness::Row;

/// Returns whether the row's column `kind` has this value.
pub(crate) fn is_kind(row: &Row, kind: &str) -> bool {
    row.get("kind").is_some_and(|value| value == kind)
}
