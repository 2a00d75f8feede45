//! Positions and flags of one direction, and how writer and reader agree on them.

use std::fmt;
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

#[cfg(loom)]
use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// Shared control words of one direction. Positions count all octets since the start of the connection.
///
/// Each side has its own cache line, plus one because processors fetch lines in pairs.
#[repr(C)]
pub(super) struct Control {
    of_writer: WriterWords,
    of_reader: ReaderWords,
}

#[repr(C, align(128))]
struct WriterWords {
    written: AtomicU64,
    /// Set by the writer before it waits for room, cleared by the reader, which then rings.
    waits: AtomicU32,
    closed: AtomicU32,
}

#[repr(C, align(128))]
struct ReaderWords {
    read: AtomicU64,
    /// Set by the reader before it waits for octets, cleared by the writer, which then rings.
    sleeps: AtomicU32,
}

impl Control {
    /// Resets to an empty ring with a sleeping reader.
    pub(super) fn reset(&self) {
        self.of_writer.written.store(0, Ordering::Relaxed);
        self.of_writer.waits.store(0, Ordering::Relaxed);
        self.of_writer.closed.store(0, Ordering::Relaxed);
        self.of_reader.read.store(0, Ordering::Relaxed);
        self.of_reader.sleeps.store(1, Ordering::Release);
    }

    pub(super) fn close(&self) {
        self.of_writer.closed.store(1, Ordering::Release);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.of_writer.closed.load(Ordering::Acquire) != 0
    }
}

/// Private state of the writing side, which the peer cannot change.
///
/// Atomic, so that two threads writing at the same time can only mix their octets.
pub(super) struct Writer {
    capacity: u64,
    position: AtomicU64,
    /// The reader's position when last loaded.
    read: AtomicU64,
}

impl Writer {
    pub(super) fn new(capacity: u64) -> Self {
        Self {
            capacity,
            position: AtomicU64::new(0),
            read: AtomicU64::new(0),
        }
    }

    /// Returns the position to write to and the free room; reloads the reader's position if that seems less
    /// than `wanted`.
    pub(super) fn room(&self, control: &Control, wanted: u64) -> Result<(u64, u64), Corrupted> {
        let position = self.position.load(Ordering::Relaxed);
        let mut used = position.wrapping_sub(self.read.load(Ordering::Relaxed));
        if self.capacity.saturating_sub(used) < wanted {
            let read = control.of_reader.read.load(Ordering::Acquire);
            used = position.wrapping_sub(read);
            if used > self.capacity {
                return Err(Corrupted::ReadPosition);
            }
            self.read.store(read, Ordering::Relaxed);
        }
        Ok((position, self.capacity.saturating_sub(used)))
    }

    /// Publishes the last `count` octets to the reader. Returns `true` if the reader sleeps and must be rung.
    pub(super) fn publish(&self, control: &Control, count: u64) -> bool {
        let position = self.position.load(Ordering::Relaxed).wrapping_add(count);
        self.position.store(position, Ordering::Relaxed);
        control.of_writer.written.store(position, Ordering::Release);
        // Pairs with `Reader::settle`: at least one of the two sees the other's earlier store.
        fence(Ordering::SeqCst);
        take_flag(&control.of_reader.sleeps)
    }

    /// Takes back the last `count` octets, unless the reader has read some of them.
    pub(super) fn take_back(&self, control: &Control, count: u64) -> bool {
        let position = self.position.load(Ordering::Relaxed).wrapping_sub(count);
        let unread = control.of_reader.read.load(Ordering::Acquire) <= position;
        if unread {
            self.position.store(position, Ordering::Relaxed);
            control.of_writer.written.store(position, Ordering::Release);
        }
        unread
    }

    /// Announces that the writer waits for room. Returns `true` if there is room by now.
    pub(super) fn wait(&self, control: &Control) -> Result<bool, Corrupted> {
        control.of_writer.waits.store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        Ok(self.room(control, self.capacity)?.1 > 0)
    }
}

/// Private state of the reading side, which the peer cannot change; atomic like the writer's.
pub(super) struct Reader {
    capacity: u64,
    position: AtomicU64,
}

impl Reader {
    pub(super) fn new(capacity: u64) -> Self {
        Self {
            capacity,
            position: AtomicU64::new(0),
        }
    }

    /// Returns the position to read from and the number of available octets.
    pub(super) fn available(&self, control: &Control) -> Result<(u64, u64), Corrupted> {
        let position = self.position.load(Ordering::Relaxed);
        let available = control
            .of_writer
            .written
            .load(Ordering::Acquire)
            .wrapping_sub(position);
        if available > self.capacity {
            return Err(Corrupted::WrittenPosition);
        }
        Ok((position, available))
    }

    /// Frees the room of the `count` octets that were read, and announces whether the reader will `sleep`.
    pub(super) fn settle(&self, control: &Control, count: u64, sleep: bool) -> Result<Settled, Corrupted> {
        let position = self.position.load(Ordering::Relaxed).wrapping_add(count);
        self.position.store(position, Ordering::Relaxed);
        control.of_reader.read.store(position, Ordering::Release);
        if sleep {
            control.of_reader.sleeps.store(1, Ordering::Relaxed);
        }
        // Pairs with `Writer::publish` and `Writer::wait`.
        fence(Ordering::SeqCst);
        let (_, available) = self.available(control)?;
        // Not for little room: each ring costs both sides a system call, and the reader continues until it is
        // empty.
        let roomy = available <= self.capacity / 2;
        Ok(Settled {
            is_empty: available == 0,
            wake_writer: roomy && take_flag(&control.of_writer.waits),
        })
    }
}

/// Result of [`Reader::settle`].
pub(super) struct Settled {
    pub(super) is_empty: bool,
    /// Whether the writer waits for room and must be rung.
    pub(super) wake_writer: bool,
}

/// Clears a flag that is rarely set; returns whether it was.
fn take_flag(flag: &AtomicU32) -> bool {
    flag.load(Ordering::Relaxed) != 0 && flag.swap(0, Ordering::Relaxed) != 0
}

/// Error for an impossible position in the segment: the peer is faulty or hostile.
#[derive(Clone, Copy, Eq, PartialEq)]
pub enum Corrupted {
    /// It claims to have read octets that were not written.
    ReadPosition,
    /// It claims to have written more octets than there was room for.
    WrittenPosition,
}

punctual_types::debug_as_display!(Corrupted);

impl fmt::Display for Corrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ReadPosition => {
                "the peer claims to have read octets that were not written; the connection is closed"
            }
            Self::WrittenPosition => {
                "the peer claims to have written more octets than fit; the connection is closed"
            }
        })
    }
}

impl std::error::Error for Corrupted {}

#[cfg(all(test, loom))]
mod loom_tests;
