//! The memory of a connection: one ring per direction.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;

use super::mapping::{Mapping, SegmentError, WITHOUT_HOLES, sealed_length};
use super::octets::Octets;
use super::ring::{Control, Corrupted, Reader, Writer};

/// Smallest size of a ring in octets.
pub const MIN_RING_SIZE: usize = 4 << 10;
/// Largest size of a ring in octets.
pub const MAX_RING_SIZE: usize = 16 << 20;

/// Size of the control words of both rings, at the start of the memory.
const CONTROL: usize = 4 << 10;

/// One side's view of a connection's memory: a ring to write to and a ring to read from.
///
/// Only one thread may read and only one may write at a time; otherwise octets get mixed, but nothing worse
/// happens.
///
/// ```
/// # use punctual_os::shm::Segment;
/// let (server, memory) = Segment::create(4096)?;
/// let client = Segment::open(&memory)?;
/// server.complete(&memory)?;
/// let written = client.write(b"ping")?;
/// assert!(written.wake, "the other side has not read yet, so it may be asleep");
/// let mut buffer = [0; 16];
/// assert_eq!(server.read(&mut buffer, true)?.count, 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Segment {
    mapping: Mapping,
    outgoing: Direction<Writer>,
    incoming: Direction<Reader>,
}

struct Direction<Side> {
    control: NonNull<Control>,
    octets: Octets,
    side: Side,
}

// SAFETY: the pointers are into the mapping that the segment owns, which is not bound to a thread; its
// contents are accessed by atomic operations only.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

/// Result of [`Segment::write`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Written {
    /// Number of octets written.
    pub count: usize,
    /// Whether the reader sleeps and must be rung.
    pub wake: bool,
}

/// Result of [`Segment::read`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Read {
    /// Number of octets read.
    pub count: usize,
    /// Whether the writer waits for the room that is now free and must be rung.
    pub wake: bool,
}

impl Segment {
    /// Creates memory with two rings of `ring_size` octets (a power of two from [`MIN_RING_SIZE`] to
    /// [`MAX_RING_SIZE`]), and the descriptor with which the peer [opens](Self::open) it. Its size is sealed;
    /// the rings are allocated by [`Self::complete`].
    ///
    /// # Errors
    /// `InvalidInput`: another size. Otherwise the limit of open files (RLIMIT_NOFILE) or of memory is
    /// reached.
    pub fn create(ring_size: usize) -> io::Result<(Self, OwnedFd)> {
        if !ring_size.is_power_of_two() || !(MIN_RING_SIZE..=MAX_RING_SIZE).contains(&ring_size) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "invalid ring size {ring_size}: use a power of two from {MIN_RING_SIZE} to {MAX_RING_SIZE}"
                ),
            ));
        }
        let length = CONTROL + 2 * ring_size;
        let (mapping, memory) = Mapping::reserve(length, CONTROL)?;
        // The creator writes to the first ring.
        let segment = Self::of(mapping, ring_size, 0, 1);
        segment.outgoing.control().reset();
        segment.incoming.control().reset();
        Ok((segment, memory))
    }

    /// Completes what the peer has opened: from now on no access fails or waits, regardless of what the peer
    /// does.
    ///
    /// # Errors
    /// [`SegmentError::Holes`]: the peer has not sealed it as [`Self::open`] does. [`SegmentError::Map`]: too
    /// little memory.
    pub fn complete(&self, memory: impl AsFd) -> Result<(), SegmentError> {
        let memory = memory.as_fd();
        if !rustix::fs::fcntl_get_seals(memory)?.contains(WITHOUT_HOLES) {
            return Err(SegmentError::Holes);
        }
        Ok(self.mapping.make_resident(memory)?)
    }

    /// Opens the peer's view, and seals the memory against holes: neither side can release a part of it, nor
    /// map it once more to write to it.
    ///
    /// # Errors
    /// [`SegmentError`]: the memory was not made by [`Self::create`]; nothing is mapped.
    pub fn open(memory: impl AsFd) -> Result<Self, SegmentError> {
        let memory = memory.as_fd();
        let length = sealed_length(memory)?;
        let ring_size = usize::try_from(length)
            .ok()
            .and_then(|length| length.checked_sub(CONTROL))
            .map(|rings| rings / 2)
            .filter(|size| size.is_power_of_two() && (MIN_RING_SIZE..=MAX_RING_SIZE).contains(size))
            .filter(|size| CONTROL + 2 * size == length as usize)
            .ok_or(SegmentError::Size(length))?;
        let mapping = Mapping::new(memory, length as usize)?;
        rustix::fs::fcntl_add_seals(memory, WITHOUT_HOLES).map_err(|_| SegmentError::Holes)?;
        // The peer may have made holes before.
        mapping.make_resident(memory)?;
        Ok(Self::of(mapping, ring_size, 1, 0))
    }

    fn of(mapping: Mapping, ring_size: usize, outgoing: usize, incoming: usize) -> Self {
        const { assert!(2 * size_of::<Control>() <= CONTROL) }
        let control = |index: usize| {
            // SAFETY: two of them fit into the mapping, as asserted, and its start is aligned to a page.
            unsafe { mapping.start().cast::<Control>().add(index) }
        };
        let octets = |index: usize| {
            // SAFETY: within the size of the mapping, and each ring starts at a page. The segment owns the
            // mapping.
            unsafe {
                let start = mapping.start().as_ptr().add(CONTROL + index * ring_size);
                Octets::new(start, ring_size)
            }
        };
        Self {
            outgoing: Direction {
                control: control(outgoing),
                octets: octets(outgoing),
                side: Writer::new(ring_size as u64),
            },
            incoming: Direction {
                control: control(incoming),
                octets: octets(incoming),
                side: Reader::new(ring_size as u64),
            },
            mapping,
        }
    }

    /// Writes as many octets as there is room for, perhaps none. Never blocks.
    ///
    /// # Errors
    /// [`Corrupted`]: close the connection.
    pub fn write(&self, octets: &[u8]) -> Result<Written, Corrupted> {
        let Direction {
            octets: ring, side, ..
        } = &self.outgoing;
        let control = self.outgoing.control();
        let (position, room) = side.room(control, octets.len() as u64)?;
        let count = octets.len().min(room as usize);
        if count == 0 {
            return Ok(Written {
                count: 0,
                wake: false,
            });
        }
        ring.copy_from(position, &octets[..count]);
        let wake = side.publish(control, count as u64);
        Ok(Written { count, wake })
    }

    /// Takes back the last `count` written octets. Returns `false` if the peer has read some of them.
    pub fn take_back(&self, count: usize) -> bool {
        let control = self.outgoing.control();
        self.outgoing.side.take_back(control, count as u64)
    }

    /// Announces that this side waits for room: the peer rings when half of the ring is free. Returns `true`
    /// if there is room by now.
    ///
    /// # Errors
    /// [`Corrupted`]: close the connection.
    pub fn wait_for_room(&self) -> Result<bool, Corrupted> {
        self.outgoing.side.wait(self.outgoing.control())
    }

    /// Reads the available octets, perhaps none. If `sleep` is set and `buffer` is not filled, announces that
    /// this side will sleep: the peer rings when it writes next. Never blocks.
    ///
    /// # Errors
    /// [`Corrupted`]: close the connection.
    pub fn read(&self, buffer: &mut [u8], sleep: bool) -> Result<Read, Corrupted> {
        let Direction { octets, side, .. } = &self.incoming;
        let control = self.incoming.control();
        let (mut count, mut wake) = (0, false);
        loop {
            let (position, available) = side.available(control)?;
            if available == 0 && !sleep {
                // Neither room nor a flag has changed, so the writer need not be synchronised with.
                return Ok(Read { count, wake });
            }
            let part = (buffer.len() - count).min(available as usize);
            octets.copy_to(position, &mut buffer[count..count + part]);
            count += part;
            let sleep = sleep && count < buffer.len();
            let settled = side.settle(control, part as u64, sleep)?;
            wake |= settled.wake_writer;
            // The peer does not ring for octets that it wrote before it could see that this side sleeps.
            if !sleep || settled.is_empty {
                return Ok(Read { count, wake });
            }
        }
    }

    /// Announces that this side sleeps. Returns `true` if octets are available by now.
    ///
    /// # Errors
    /// [`Corrupted`]: close the connection.
    pub fn sleep(&self) -> Result<bool, Corrupted> {
        let settled = self.incoming.side.settle(self.incoming.control(), 0, true)?;
        Ok(!settled.is_empty)
    }

    /// Returns whether octets are available.
    ///
    /// # Errors
    /// [`Corrupted`]: close the connection.
    pub fn is_readable(&self) -> Result<bool, Corrupted> {
        let (_, available) = self.incoming.side.available(self.incoming.control())?;
        Ok(available > 0)
    }

    /// Announces that this side will write nothing more.
    pub fn close(&self) {
        self.outgoing.control().close();
    }

    /// Returns whether the peer will write nothing more. Earlier octets may still be available.
    pub fn is_closed_by_peer(&self) -> bool {
        self.incoming.control().is_closed()
    }

    /// Returns the size of each ring in octets.
    pub fn ring_size(&self) -> usize {
        (self.mapping.length() - CONTROL) / 2
    }
}

impl<Side> Direction<Side> {
    fn control(&self) -> &Control {
        // SAFETY: it is in the mapping, which lives as long as the segment that `self` is part of, and
        // consists of atomics, for which every value is valid.
        unsafe { self.control.as_ref() }
    }
}

#[cfg(test)]
mod tests;
