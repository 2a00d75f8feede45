//! Tests of the front end through its public interface.

mod captures;
mod constants;
mod errors;
mod grammar;
mod hostile;
mod idl4;
mod preprocessor;
mod repository_ids;
mod specification;
mod support;
