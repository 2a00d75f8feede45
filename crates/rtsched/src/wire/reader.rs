//! Reads service context 30.

use core::time::Duration;

use punctual_cdr::{CdrError, CdrErrorKind, Endian};

use super::{
    clocks::Clocks,
    context::{MAJOR, MARK, SchedulingContext},
    peer_layout::PeerLayout,
};

/// Settings for reading a received context.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
/// use std::time::Duration;
///
/// use punctual::rtscheduling::{Time, wire::{Clocks, PeerLayout, Reader, Reading, UtcTime}};
///
/// let clocks = Clocks { local: Time(0), utc: UtcTime(0) };
/// let reader = Reader {
///     max_clock_skew: Duration::from_millis(1),
///     ..Reader::new(clocks, PeerLayout::FixedPriority)
/// };
/// // From a 64-bit TAO.
/// assert!(matches!(reader.read(&[4, 0, 0, 0, 0, 0, 0, 0])?, Reading::Context(_)));
/// assert_eq!(reader.read(&[4, 0, 0])?, Reading::Foreign);
/// # Ok::<(), punctual_cdr::CdrError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    /// The present time.
    pub clocks: Clocks,
    /// Maximum difference between the calendars of two hosts: it moves no deadline forward by more than this.
    pub max_clock_skew: Duration,
    /// Contexts of other ORBs that are read as well.
    pub layout: PeerLayout,
    /// Byte order of the message, which the plain layouts of other ORBs follow.
    pub endian: Endian,
    /// Number that identifies the peer: ids of other ORBs are unique only in the process that creates them.
    pub peer: u64,
}

impl Reader {
    /// Default maximum difference between calendars: 10 ms.
    pub const DEFAULT_MAX_CLOCK_SKEW: Duration = Duration::from_millis(10);

    /// Creates a reader for messages in this machine's byte order, with the default skew and peer number
    /// zero.
    pub fn new(clocks: Clocks, layout: PeerLayout) -> Self {
        Self {
            clocks,
            max_clock_skew: Self::DEFAULT_MAX_CLOCK_SKEW,
            layout,
            endian: Endian::NATIVE,
            peer: 0,
        }
    }

    /// Reads the data of a service context 30.
    ///
    /// # Errors
    /// The context is ours, or in the layout of the peer, and malformed: refuse the request with
    /// [`CdrError::system_exception`].
    pub fn read(&self, data: &[u8]) -> Result<Reading, CdrError> {
        match data {
            [0 | 1, m1, m2, m3, major, ..] if [*m1, *m2, *m3] == MARK => match *major {
                MAJOR => {
                    SchedulingContext::decode(data, &self.clocks, self.max_clock_skew).map(Reading::Context)
                }
                major => Ok(Reading::UnknownMajor(major)),
            },
            // Too short for a version.
            [0 | 1, rest @ ..] if rest == MARK => Err(CdrError {
                kind: CdrErrorKind::Truncated,
                offset: data.len(),
            }),
            _ => Ok(self
                .read_peer_context(data)?
                .map_or(Reading::Foreign, Reading::Context)),
        }
    }
}

/// Result of reading a service context 30. Without a context in Punctual's format, the request is served
/// outside of all distributable threads.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
/// use punctual::rtscheduling::{Time, wire::{Clocks, PeerLayout, Reader, Reading, UtcTime}};
///
/// let clocks = Clocks { local: Time(0), utc: UtcTime(0) };
/// let reader = Reader::new(clocks, PeerLayout::OwnOnly);
/// // Another ORB uses the number of the context for data of its own.
/// assert_eq!(reader.read(b"\x01something else")?, Reading::Foreign);
/// # Ok::<(), punctual_cdr::CdrError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "on the stack, and mostly the large one")]
pub enum Reading {
    /// Context of a distributable thread.
    Context(SchedulingContext),
    /// Our format in an unknown major version.
    UnknownMajor(u8),
    /// Neither our format nor the layout of the peer.
    Foreign,
}
