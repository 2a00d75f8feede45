use std::fmt;
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

#[cfg(loom)]
use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// What both sides of one direction say to each other. Positions count all octets since the beginning.
///
/// A line of the cache for each side, and one more because processors fetch them in pairs.
#[repr(C)]
pub(super) struct Control {
    of_writer: WriterSays,
    of_reader: ReaderSays,
}

#[repr(C, align(128))]
struct WriterSays {
    written: AtomicU64,
    /// Set by the writer before it waits for room, cleared by the reader that will ring for it.
    waits: AtomicU32,
    closed: AtomicU32,
}

#[repr(C, align(128))]
struct ReaderSays {
    read: AtomicU64,
    /// Set by the reader before it waits for octets, cleared by the writer that will ring for it.
    sleeps: AtomicU32,
}

impl Control {
    /// Nothing is written, and the reader sleeps.
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

/// The writing side's own state, out of the reader's reach.
///
/// Atomic so that two threads that write at once do no worse than mix up their octets.
pub(super) struct Writer {
    capacity: u64,
    position: AtomicU64,
    /// How far the reader was when last asked.
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

    /// Where to write next, and for how many octets there is room; looks again where it seems to be less than `wanted`.
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

    /// Lets the reader have the `count` octets that were put there. `true`: it sleeps, and is to be rung for.
    pub(super) fn publish(&self, control: &Control, count: u64) -> bool {
        let position = self.position.load(Ordering::Relaxed).wrapping_add(count);
        self.position.store(position, Ordering::Relaxed);
        control.of_writer.written.store(position, Ordering::Release);
        // Against `Reader::settle`: one of the two sees what the other has stored before.
        fence(Ordering::SeqCst);
        take_flag(&control.of_reader.sleeps)
    }

    /// Takes back the last `count` octets, unless the reader has had some of them.
    pub(super) fn take_back(&self, control: &Control, count: u64) -> bool {
        let position = self.position.load(Ordering::Relaxed).wrapping_sub(count);
        let unread = control.of_reader.read.load(Ordering::Acquire) <= position;
        if unread {
            self.position.store(position, Ordering::Relaxed);
            control.of_writer.written.store(position, Ordering::Release);
        }
        unread
    }

    /// Says that it waits for room. `true`: some is there by now.
    pub(super) fn wait(&self, control: &Control) -> Result<bool, Corrupted> {
        control.of_writer.waits.store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        Ok(self.room(control, self.capacity)?.1 > 0)
    }
}

/// The reading side's own state, out of the writer's reach; atomic as the writer's.
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

    /// From where to read next, and how many octets are there.
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

    /// Gives the writer back the room of the `count` octets that were taken, and says that the reader will `sleep`.
    pub(super) fn settle(&self, control: &Control, count: u64, sleep: bool) -> Result<Settled, Corrupted> {
        let position = self.position.load(Ordering::Relaxed).wrapping_add(count);
        self.position.store(position, Ordering::Relaxed);
        control.of_reader.read.store(position, Ordering::Release);
        if sleep {
            control.of_reader.sleeps.store(1, Ordering::Relaxed);
        }
        // Against `Writer::publish` and `Writer::wait`.
        fence(Ordering::SeqCst);
        let (_, available) = self.available(control)?;
        // Not for every little room: each ring costs both sides a system call. The reader goes on until it is empty.
        let roomy = available <= self.capacity / 2;
        Ok(Settled {
            is_empty: available == 0,
            wake_writer: roomy && take_flag(&control.of_writer.waits),
        })
    }
}

/// What [`Reader::settle`] saw.
pub(super) struct Settled {
    pub(super) is_empty: bool,
    /// The writer waits for room, and is to be rung for.
    pub(super) wake_writer: bool,
}

/// Clears a flag that is mostly not set.
fn take_flag(flag: &AtomicU32) -> bool {
    flag.load(Ordering::Relaxed) != 0 && flag.swap(0, Ordering::Relaxed) != 0
}

/// The peer has written to the segment what it cannot have reached: it is out of its mind, or hostile.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Corrupted {
    /// It says to have read what was not written.
    ReadPosition,
    /// It says to have written more than there was room for.
    WrittenPosition,
}

impl fmt::Display for Corrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ReadPosition => {
                "the peer says that it has read what was not written: the connection is given up"
            }
            Self::WrittenPosition => {
                "the peer says that it has written more than there is room for: the connection is given up"
            }
        })
    }
}

impl std::error::Error for Corrupted {}

#[cfg(all(test, loom))]
mod loom_tests;
