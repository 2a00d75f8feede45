//! A connection between two processes through memory that both have mapped.
//!
//! | What | Who makes it, who has it |
//! |---|---|
//! | [`Segment`]: one ring of octets for each direction, in a sealed memfd | made by the server, mapped by both |
//! | [`Ringer`] and [`Ear`]: the two ends of a pipe, one pipe for each direction | made by the server; the client gets one end of each |
//! | [`Exchange`]: nothing but memory and futexes | for measurements: what the operating system itself costs |
//!
//! The peer is not trusted. What it writes to the memory is read as numbers and octets, never as a Rust reference, copied once
//! into private memory before anything looks at it, and checked; whoever lies gets [`Corrupted`] and loses this connection. No
//! descriptor of a client's ever enters the server, so none can be of a kind that blocks whoever touches it.
//!
//! A bell is rung only where the peer sleeps, or waits for room, which it says in the segment before it does. The bells are
//! pipes and not eventfds because the two ends of a pipe are separate open files: a peer that makes its own end blocking, or
//! fills it, changes nothing for ours, whereas an eventfd's flags and counter are shared, so a hostile peer could make the
//! write that rings it block for ever. And the kernel tells one end when whoever holds the other one dies.

mod bell;
#[cfg(not(loom))]
mod exchange;
#[cfg(not(loom))]
mod mapping;
#[cfg(not(loom))]
mod octets;
#[cfg_attr(loom, expect(dead_code, reason = "the segment, its user, is not modelled"))]
mod ring;
#[cfg(not(loom))]
mod segment;

pub use bell::{Ear, Ringer, Sleeper, bell};
#[cfg(not(loom))]
pub use exchange::Exchange;
#[cfg(not(loom))]
pub use mapping::SegmentError;
pub use ring::Corrupted;
#[cfg(not(loom))]
pub use segment::{MAX_RING_SIZE, MIN_RING_SIZE, Read, Segment, Written};
