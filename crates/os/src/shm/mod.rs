//! Connection between two processes through shared memory.
//!
//! | Part | Created and used by |
//! |---|---|
//! | [`Segment`]: one ring of octets per direction, in a sealed memfd | created by the server, mapped by both |
//! | [`DoorbellSender`] and [`DoorbellReceiver`]: the two ends of a pipe, one pipe per direction | created by the server; the client gets one end of each |
//! | [`Exchange`]: memory and futexes only | measurements, as the operating system's own cost |
//!
//! The peer is not trusted. The memory is read as numbers and octets, never through a Rust reference; data
//! are copied into private memory once, before they are examined. Impossible values cause [`Corrupted`],
//! which ends the connection. The server accepts no descriptors from clients, so none can block it.
//!
//! A bell is rung only if the peer sleeps or waits for room, which it announces in the segment beforehand.
//! Bells are pipes instead of eventfds because the two ends of a pipe are separate open files: a peer that
//! makes its end blocking, or fills the pipe, does not affect ours. An eventfd shares flags and counter, so a
//! hostile peer could block the ringing side forever. The kernel also reports the death of the process at
//! the other end of a pipe.

mod doorbell;
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

pub use doorbell::{DoorbellReceiver, DoorbellSender, Sleeper, doorbell};
#[cfg(not(loom))]
pub use exchange::Exchange;
#[cfg(not(loom))]
pub use mapping::SegmentError;
pub use ring::Corrupted;
#[cfg(not(loom))]
pub use segment::{MAX_RING_SIZE, MIN_RING_SIZE, Read, Segment, Written};
