//! Value types: objects that are passed by value, with sharing, null, inheritance and truncation.
//!
//! Source: CORBA 3.3 part 2, 9.3.4 "Value Types". Values that refer to each other in a circle are counted as
//! one (`circle`): a peer could otherwise leave memory behind with each message.

mod abstract_interface;
pub(crate) mod circle;
mod copied_octets;
mod graph;
mod object;
mod outsiders;
mod shared;
mod state;
pub(crate) mod tags;

pub use abstract_interface::{Abstract, AbstractInterface};
pub use copied_octets::CopiedOctets;
pub use graph::{Reserved, ValueGraph};
pub use object::ValueObject;
pub use shared::{CustomMarshal, Inherits, Shared, ValueType};
pub use state::ValueState;

#[cfg(test)]
mod tests;
