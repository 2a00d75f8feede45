//! Tests of the front end through its public interface.

mod advice;
mod captures;
mod constants;
#[path = "../../../../fuzz/corpus.rs"]
mod corpus;
mod errors;
mod fuzzed;
mod grammar;
mod hostile;
mod idl4;
mod many;
mod orb_types;
mod preprocessor;
mod repository_ids;
mod specification;
mod support;
