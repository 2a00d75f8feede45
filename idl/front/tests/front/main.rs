//! Tests of the front end through its public interface.

mod captures;
mod constants;
mod errors;
mod grammar;
mod hostile;
mod preprocessor;
mod repository_ids;
mod specification;
mod support;
