//! The direct priority mapping.

use core::ops::RangeInclusive;

use punctual_types::{NativePriority, Priority};

use crate::PriorityMapping;

/// Uses CORBA priorities as native ones, as TAO's `direct` mapping does. Values outside the scheduling class
/// are not mapped.
///
/// ```
/// # mod punctual { pub use {punctual_sched::*, punctual_types::*}; }
/// use punctual::{DirectMapping, NativePriority, Priority, PriorityMapping};
///
/// let mapping = DirectMapping::new(1..=99);
/// assert_eq!(mapping.to_native(Priority::new(40)?), Some(NativePriority(40)));
/// assert_eq!(mapping.to_corba(NativePriority(40)), Some(Priority::new(40)?));
/// assert_eq!(mapping.to_native(Priority::MAX), None);
/// # Ok::<(), punctual_types::OutOfRange>(())
/// ```
#[derive(Clone, Debug)]
pub struct DirectMapping {
    native: RangeInclusive<i16>,
}

impl DirectMapping {
    /// Creates a mapping onto the native priorities `native`.
    ///
    /// ```
    /// # mod punctual { pub use {punctual_sched::*, punctual_types::*}; }
    /// use punctual::{DirectMapping, Priority, PriorityMapping};
    ///
    /// // The lowest priority of SCHED_FIFO is 1.
    /// assert_eq!(DirectMapping::new(1..=99).to_native(Priority::MIN), None);
    /// ```
    pub fn new(native: RangeInclusive<i16>) -> Self {
        Self { native }
    }
}

impl PriorityMapping for DirectMapping {
    fn to_native(&self, priority: Priority) -> Option<NativePriority> {
        let native = priority.value();
        self.native.contains(&native).then_some(NativePriority(native))
    }

    fn to_corba(&self, native: NativePriority) -> Option<Priority> {
        let priority = Priority::new(native.0).ok()?;
        self.native.contains(&native.0).then_some(priority)
    }
}
