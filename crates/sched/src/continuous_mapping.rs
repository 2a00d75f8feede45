//! The continuous priority mapping.

use core::ops::RangeInclusive;

use punctual_types::{NativePriority, Priority};

use crate::PriorityMapping;

/// Maps CORBA priority n to the n-th native priority, counted from 0, as TAO's `continuous` mapping does.
/// Higher CORBA priorities have no native one.
///
/// ```
/// # mod punctual { pub use {punctual_sched::*, punctual_types::*}; }
/// use punctual::{ContinuousMapping, NativePriority, Priority, PriorityMapping};
///
/// let mapping = ContinuousMapping::new(1..=99);
/// assert_eq!(mapping.to_native(Priority::MIN), Some(NativePriority(1)));
/// assert_eq!(mapping.to_native(Priority::new(98)?), Some(NativePriority(99)));
/// assert_eq!(mapping.to_native(Priority::new(99)?), None);
/// assert_eq!(mapping.to_corba(NativePriority(1)), Some(Priority::MIN));
/// # Ok::<(), punctual_types::OutOfRange>(())
/// ```
#[derive(Clone, Debug)]
pub struct ContinuousMapping {
    native: RangeInclusive<i16>,
}

impl ContinuousMapping {
    /// Creates a mapping onto the native priorities `native`.
    ///
    /// ```
    /// # mod punctual { pub use {punctual_sched::*, punctual_types::*}; }
    /// use punctual::{ContinuousMapping, NativePriority, Priority, PriorityMapping};
    ///
    /// // Reserves the lowest native priorities for other threads.
    /// let mapping = ContinuousMapping::new(50..=80);
    /// assert_eq!(mapping.to_native(Priority::new(10)?), Some(NativePriority(60)));
    /// # Ok::<(), punctual_types::OutOfRange>(())
    /// ```
    pub fn new(native: RangeInclusive<i16>) -> Self {
        Self { native }
    }
}

impl PriorityMapping for ContinuousMapping {
    fn to_native(&self, priority: Priority) -> Option<NativePriority> {
        let native = self.native.start().checked_add(priority.value())?;
        self.native.contains(&native).then_some(NativePriority(native))
    }

    fn to_corba(&self, native: NativePriority) -> Option<Priority> {
        if !self.native.contains(&native.0) {
            return None;
        }
        let priority = native.0.checked_sub(*self.native.start())?;
        Priority::new(priority).ok()
    }
}
