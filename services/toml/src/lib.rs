//! TOML files of Punctual's services: a reader whose errors name file, line, column and key, changes that
//! keep comments, time spans with units, and CORBA priorities as plain numbers.

mod edit;
mod error;
mod faults;
mod key;
pub mod optional_priority;
pub mod priority;
mod read;
mod span;
mod terms;

pub use edit::edited;
pub use error::FileError;
pub use key::{Key, Problem, distinct};
pub use read::{line_of, parse, read, read_with};
pub use span::{BadSpan, Span};
