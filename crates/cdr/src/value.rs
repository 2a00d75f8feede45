//! Value types: objects that are passed by value, with sharing, null, inheritance and truncation.
//!
//! Source: CORBA 3.3 part 2, 9.3.4 "Value Types". Values that refer to each other in a circle are refused: a
//! peer could otherwise leave memory behind with each message, because nothing would ever release them.

mod header;
mod received;
mod sent;
mod shared;

pub use header::{ValueHeader, ValueTag};
pub(crate) use received::Received;
pub(crate) use sent::Sent;
pub use shared::{Inherits, Shared, ValueFactory, ValueObject, ValueType};

#[cfg(test)]
mod tests;
