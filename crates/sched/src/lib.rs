//! Punctual: priority mappings and, later, dispatch disciplines and schedulability analysis.
