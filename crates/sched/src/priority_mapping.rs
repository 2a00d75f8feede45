use core::ops::RangeInclusive;

use punctual_types::{NativePriority, Priority};

/// How CORBA priorities become a host's native ones: `RTCORBA::PriorityMapping`.
///
/// Source: Real-time CORBA 1.2, `RTCORBA::PriorityMapping`.
///
/// ```
/// use punctual_sched::PriorityMapping;
/// use punctual_types::{NativePriority, Priority};
///
/// /// CORBA priorities are the native ones; all others are not allowed.
/// struct Direct;
///
/// impl PriorityMapping for Direct {
///     fn to_native(&self, priority: Priority) -> Option<NativePriority> {
///         (1..=99).contains(&priority.value()).then_some(NativePriority(priority.value()))
///     }
///
///     fn to_corba(&self, native: NativePriority) -> Option<Priority> {
///         Priority::new(native.0).ok()
///     }
/// }
/// assert_eq!(Direct.to_native(Priority::new(40)?), Some(NativePriority(40)));
/// assert_eq!(Direct.to_native(Priority::MAX), None);
/// # Ok::<(), punctual_types::OutOfRange>(())
/// ```
pub trait PriorityMapping: Send + Sync {
    /// The native priority for a CORBA one; `None` where it has none.
    fn to_native(&self, priority: Priority) -> Option<NativePriority>;

    /// The CORBA priority for a native one; `None` where it has none.
    fn to_corba(&self, native: NativePriority) -> Option<Priority>;
}

/// Spreads 0..=32767 evenly over the native priorities of a scheduling class, as TAO's `linear` mapping does.
///
/// On Linux SCHED_FIFO, 1..=99: 0 → 1, 10922 → 33, 21844 → 66, 32767 → 99.
///
/// ```
/// use punctual_sched::{LinearMapping, PriorityMapping};
/// use punctual_types::{NativePriority, Priority};
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
    /// A mapping onto `native`, the lowest priority first.
    ///
    /// Panics for an empty range.
    ///
    /// ```
    /// use punctual_sched::{LinearMapping, PriorityMapping};
    /// use punctual_types::{NativePriority, Priority};
    ///
    /// // Leaves the highest native priorities to the threads of the kernel.
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

    /// How many native priorities there are, less one.
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

    /// The least CORBA priority that maps to `native`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_mapping_is_the_papers() {
        let mapping = LinearMapping::new(1..=99);
        for (corba, native) in [(0, 1), (10_922, 33), (21_844, 66), (32_767, 99)] {
            assert_eq!(
                mapping.to_native(Priority::new(corba).unwrap()),
                Some(NativePriority(native))
            );
        }
    }

    #[test]
    fn every_native_priority_is_reached_by_the_corba_priority_it_maps_back_to() {
        for range in [1..=99, 1..=1, -20..=19, 0..=32] {
            let mapping = LinearMapping::new(range.clone());
            for native in range {
                let corba = mapping.to_corba(NativePriority(native)).unwrap();
                assert_eq!(mapping.to_native(corba), Some(NativePriority(native)));
            }
        }
        assert_eq!(LinearMapping::new(1..=99).to_corba(NativePriority(100)), None);
    }
}
