//! Priority bands.

use core::fmt;

use crate::Priority;

/// A range of CORBA priorities that share a connection, both ends included: `RTCORBA::PriorityBand`.
///
/// ```
/// # use punctual_types as punctual;
/// use punctual::{Priority, PriorityBand};
///
/// let band = PriorityBand::new(Priority::MIN, Priority::new(10_922)?);
/// assert!(band.contains(Priority::MIN));
/// assert!(!band.contains(Priority::MAX));
/// # Ok::<(), punctual_types::OutOfRange>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct PriorityBand {
    /// The lowest priority of the band.
    pub low: Priority,
    /// The highest priority of the band. A band whose `low` exceeds its `high` is refused when it is used.
    pub high: Priority,
}

impl PriorityBand {
    /// Creates the band from `low` to `high`.
    pub const fn new(low: Priority, high: Priority) -> Self {
        Self { low, high }
    }

    /// Returns whether the band contains a priority.
    pub fn contains(self, priority: Priority) -> bool {
        (self.low..=self.high).contains(&priority)
    }
}

impl fmt::Display for PriorityBand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.low, self.high)
    }
}
