use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;

use super::mapping::{Mapping, SegmentError, sealed_length};
use super::octets::Octets;
use super::ring::{Control, Corrupted, Reader, Writer};

/// The smallest size of a ring, in octets.
pub const MIN_RING_SIZE: usize = 4 << 10;
/// The largest size of a ring, in octets.
pub const MAX_RING_SIZE: usize = 16 << 20;

/// What the rings' control words take at the start of the memory.
const CONTROL: usize = 4 << 10;

/// One side's view of the memory of a connection: a ring to write to and a ring to read from.
///
/// One thread at a time reads, and one at a time writes; otherwise octets get mixed up, though nothing worse.
///
/// ```
/// # use punctual_os::shm::Segment;
/// let (server, memory) = Segment::create(4096)?;
/// let client = Segment::open(&memory)?;
/// let written = client.write(b"ping")?;
/// assert!(written.wake, "the other side has not read yet, so it may be waiting");
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

// SAFETY: the pointers lead into the mapping that the segment owns, which no thread is bound to, and what is behind them is
// touched by atomic operations only.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

/// What [`Segment::write`] did.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Written {
    /// How many octets found room.
    pub count: usize,
    /// The reader sleeps: ring for it.
    pub wake: bool,
}

/// What [`Segment::read`] did.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Read {
    /// How many octets were there.
    pub count: usize,
    /// The writer waits for the room that is there now: ring for it.
    pub wake: bool,
}

impl Segment {
    /// New memory with two rings of `ring_size` octets (a power of two from [`MIN_RING_SIZE`] to [`MAX_RING_SIZE`]), and the
    /// descriptor by which the peer [opens](Self::open) it. Its size is sealed, and all of it is resident from the start.
    ///
    /// # Errors
    /// `InvalidInput`: another size. Else the limit of open files (RLIMIT_NOFILE) or of memory is reached.
    pub fn create(ring_size: usize) -> io::Result<(Self, OwnedFd)> {
        if !ring_size.is_power_of_two() || !(MIN_RING_SIZE..=MAX_RING_SIZE).contains(&ring_size) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "a ring of {ring_size} octets: take a power of two from {MIN_RING_SIZE} to {MAX_RING_SIZE}"
                ),
            ));
        }
        let length = CONTROL + 2 * ring_size;
        let (mapping, memory) = Mapping::create(length)?;
        // The creator writes to the first ring.
        let segment = Self::of(mapping, ring_size, 0, 1);
        segment.outgoing.control().reset();
        segment.incoming.control().reset();
        Ok((segment, memory))
    }

    /// The peer's view of it.
    ///
    /// # Errors
    /// [`SegmentError`]: it is not what [`Self::create`] makes; nothing is mapped then.
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
        Ok(Self::of(mapping, ring_size, 1, 0))
    }

    fn of(mapping: Mapping, ring_size: usize, outgoing: usize, incoming: usize) -> Self {
        const { assert!(2 * size_of::<Control>() <= CONTROL) }
        let control = |index: usize| {
            // SAFETY: two of them fit, as asserted, into the mapping, whose start is aligned to a page.
            unsafe { mapping.start().cast::<Control>().add(index) }
        };
        let octets = |index: usize| {
            // SAFETY: that is the size of the mapping; a ring starts at a page. It lives as long as the segment, which owns it.
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

    /// Writes as much as there is room for; 0 where there is none. Never blocks.
    ///
    /// # Errors
    /// [`Corrupted`]: give the connection up.
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

    /// Takes back the last `count` octets that were written. `false`: the peer has read some of them.
    pub fn take_back(&self, count: usize) -> bool {
        let control = self.outgoing.control();
        self.outgoing.side.take_back(control, count as u64)
    }

    /// Says that this side waits for room: the peer rings when half of the ring is free. `true`: there is some by now.
    ///
    /// # Errors
    /// [`Corrupted`]: give the connection up.
    pub fn wait_for_room(&self) -> Result<bool, Corrupted> {
        self.outgoing.side.wait(self.outgoing.control())
    }

    /// Reads what is there, and says, where that leaves room in `buffer`, that this side will `sleep` if told to: then the peer
    /// rings when it writes next. 0 where nothing is there. Never blocks.
    ///
    /// # Errors
    /// [`Corrupted`]: give the connection up.
    pub fn read(&self, buffer: &mut [u8], sleep: bool) -> Result<Read, Corrupted> {
        let Direction { octets, side, .. } = &self.incoming;
        let control = self.incoming.control();
        let (mut count, mut wake) = (0, false);
        loop {
            let (position, available) = side.available(control)?;
            if available == 0 && !sleep {
                // Nothing to give back and nothing to say, so nothing to agree upon with the writer either.
                return Ok(Read { count, wake });
            }
            let part = (buffer.len() - count).min(available as usize);
            octets.copy_to(position, &mut buffer[count..count + part]);
            count += part;
            let sleep = sleep && count < buffer.len();
            let settled = side.settle(control, part as u64, sleep)?;
            wake |= settled.wake_writer;
            // What has come before the peer could see that this side sleeps is not rung for.
            if !sleep || settled.is_empty {
                return Ok(Read { count, wake });
            }
        }
    }

    /// Says that this side sleeps. `true`: something to read is there by now.
    ///
    /// # Errors
    /// [`Corrupted`]: give the connection up.
    pub fn sleep(&self) -> Result<bool, Corrupted> {
        let settled = self.incoming.side.settle(self.incoming.control(), 0, true)?;
        Ok(!settled.is_empty)
    }

    /// Whether there is something to read.
    ///
    /// # Errors
    /// [`Corrupted`]: give the connection up.
    pub fn is_readable(&self) -> Result<bool, Corrupted> {
        let (_, available) = self.incoming.side.available(self.incoming.control())?;
        Ok(available > 0)
    }

    /// Says that nothing more will be written.
    pub fn close(&self) {
        self.outgoing.control().close();
    }

    /// Whether the peer says so. What it wrote before may still be there to read.
    pub fn is_closed_by_peer(&self) -> bool {
        self.incoming.control().is_closed()
    }

    /// The size of each ring in octets.
    pub fn ring_size(&self) -> usize {
        (self.mapping.length() - CONTROL) / 2
    }
}

impl<Side> Direction<Side> {
    fn control(&self) -> &Control {
        // SAFETY: it lies in the mapping, which lives as long as the segment that this is part of, and consists of atomics, for
        // which every value is valid.
        unsafe { self.control.as_ref() }
    }
}

#[cfg(test)]
mod tests;
