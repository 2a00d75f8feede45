//! `giop::connection` without I/O: pairs of connections joined by byte queues, one octet at a time and in
//! random chunks.

mod captured;
mod closing;
mod fragmented;
mod fuzzed;
mod limits;
mod outstanding;
pub mod pair;
mod receiving;
mod roles;
mod sending;
mod split;
