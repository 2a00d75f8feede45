//! The linear priority mapping.

use core::ops::RangeInclusive;

use punctual_types::{NativePriority, Priority};

use crate::PriorityMapping;

/// Spreads 0..=32767 evenly over the native priorities of a scheduling class, as TAO's `linear` mapping does.
///
/// For SCHED_FIFO of Linux, 1..=99: 0 → 1, 10922 → 33, 21844 → 66, 32767 → 99.
///
/// ```
/// # mod punctual { pub use {punctual_sched::*, punctual_types::*}; }
/// use punctual::{LinearMapping, NativePriority, Priority, PriorityMapping};
///
/// let mapping = LinearMapping::new(1..=99);
/// assert_eq!(mapping.to_native(Priority::MAX), Some(NativePriority(99)));
/// assert_eq!(mapping.to_corba(NativePriority(33)).map(Priority::value), Some(10_700));
/// assert_eq!(mapping.to_corba(NativePriority(100)), None);
/// ```
#[derive(Clone, Debug)]
pub struct LinearMapping {
    native: RangeInclusive<i16>,
}

impl LinearMapping {
    /// Creates a mapping onto the native priorities `native`.
    ///
    /// # Panics
    /// If the range is empty.
    ///
    /// ```
    /// # mod punctual { pub use {punctual_sched::*, punctual_types::*}; }
    /// use punctual::{LinearMapping, NativePriority, Priority, PriorityMapping};
    ///
    /// // Reserves the highest native priorities for kernel threads.
    /// let mapping = LinearMapping::new(1..=80);
    /// assert_eq!(mapping.to_native(Priority::MAX), Some(NativePriority(80)));
    /// ```
    pub fn new(native: RangeInclusive<i16>) -> Self {
        assert!(
            !native.is_empty(),
            "a priority mapping needs at least one native priority"
        );
        Self { native }
    }

    /// Returns the number of native priorities less one.
    fn steps(&self) -> i32 {
        i32::from(*self.native.end()) - i32::from(*self.native.start())
    }
}

const CORBA_RANGE: i32 = Priority::MAX.value() as i32;

impl PriorityMapping for LinearMapping {
    fn to_native(&self, priority: Priority) -> Option<NativePriority> {
        let step = self.steps() * i32::from(priority.value()) / CORBA_RANGE;
        i16::try_from(i32::from(*self.native.start()) + step)
            .ok()
            .map(NativePriority)
    }

    /// Returns the least CORBA priority that maps to `native`.
    fn to_corba(&self, native: NativePriority) -> Option<Priority> {
        if !self.native.contains(&native.0) {
            return None;
        }
        let step = i32::from(native.0) - i32::from(*self.native.start());
        let priority = match self.steps() {
            0 => 0,
            steps => (CORBA_RANGE * step + steps - 1) / steps,
        };
        i16::try_from(priority)
            .ok()
            .and_then(|priority| Priority::new(priority).ok())
    }
}
