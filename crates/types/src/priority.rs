//! CORBA priorities and native priorities.

use core::fmt;

/// A CORBA priority, `RTCORBA::Priority`: 0 (lowest) to 32767 (highest), the same on every host.
///
/// A priority mapping converts it to the [`NativePriority`] of the host on which a thread runs.
/// Source: RTCORBA 1.2, `RTCORBA::minPriority` and `maxPriority`.
///
/// ```
/// # use punctual_types as punctual;
/// use punctual::Priority;
/// let low = Priority::new(10_922)?;
/// assert!(low < Priority::MAX);
/// assert!(Priority::new(-1).is_err());
/// # Ok::<(), punctual_types::OutOfRange>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Priority(i16);

impl Priority {
    /// The lowest priority, 0.
    pub const MIN: Self = Self(0);
    /// The highest priority, 32767.
    pub const MAX: Self = Self(i16::MAX);

    /// Creates a priority; `value` must be in 0..=32767.
    ///
    /// ```
    /// # use punctual_types as punctual;
    /// use punctual::{OutOfRange, Priority};
    ///
    /// assert_eq!(Priority::new(0), Ok(Priority::MIN));
    /// assert_eq!(Priority::new(-1), Err(OutOfRange(-1)));
    /// ```
    pub const fn new(value: i16) -> Result<Self, OutOfRange> {
        if value < 0 {
            Err(OutOfRange(value))
        } else {
            Ok(Self(value))
        }
    }

    /// Returns the number, as on the wire.
    ///
    /// ```
    /// # use punctual_types::Priority;
    /// assert_eq!(Priority::MAX.value(), 32767);
    /// ```
    pub const fn value(self) -> i16 {
        self.0
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A priority in the scale of the host: 1 (lowest) to 99 (highest) under Linux SCHED_FIFO and SCHED_RR.
///
/// ```
/// # use punctual_types as punctual;
/// use punctual::NativePriority;
///
/// assert!(NativePriority(99) > NativePriority(1));
/// assert_eq!(NativePriority(40).to_string(), "40");
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NativePriority(pub i16);

impl fmt::Display for NativePriority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A number that is not a CORBA priority because it is negative.
///
/// ```
/// # use punctual_types as punctual;
/// use punctual::{OutOfRange, Priority};
///
/// let error: OutOfRange = Priority::new(-5).unwrap_err();
/// assert_eq!(error.to_string(), "-5 is not a CORBA priority; use 0 (lowest) to 32767 (highest)");
/// ```
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct OutOfRange(pub i16);

crate::debug_as_display!(OutOfRange);

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} is not a CORBA priority; use 0 (lowest) to 32767 (highest)",
            self.0
        )
    }
}

impl core::error::Error for OutOfRange {}
