//! Servants of contexts and iterators, found for each request by the number in the object id.

mod context;
mod iterator;

pub(crate) use self::{context::ContextLocator, iterator::IteratorLocator};
