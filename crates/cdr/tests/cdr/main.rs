//! Tests of the public interface: what the fuzz targets check, over their corpora and mutations of them.

#[path = "../../../../fuzz/corpus.rs"]
mod corpus;
mod fuzzed_value_types;
mod fuzzed_values;
