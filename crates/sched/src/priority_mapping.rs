//! The interface of priority mappings.

use punctual_types::{NativePriority, Priority};

/// Mapping between CORBA and native priorities of a host: RTCORBA 1.2, `RTCORBA::PriorityMapping`.
///
/// A higher CORBA priority must never map to a lower native one. Several threads call it on the path of
/// requests: it must not block or allocate.
///
/// ```
/// # mod punctual { pub use {punctual_sched::*, punctual_types::*}; }
/// use punctual::{NativePriority, Priority, PriorityMapping};
///
/// /// A mapping of three levels.
/// struct Levels;
///
/// const LEVELS: [(i16, i16); 3] = [(0, 20), (100, 50), (200, 80)];
///
/// impl PriorityMapping for Levels {
///     fn to_native(&self, priority: Priority) -> Option<NativePriority> {
///         let level = LEVELS.iter().find(|(corba, _)| *corba == priority.value())?;
///         Some(NativePriority(level.1))
///     }
///
///     fn to_corba(&self, native: NativePriority) -> Option<Priority> {
///         let level = LEVELS.iter().find(|(_, found)| *found == native.0)?;
///         Priority::new(level.0).ok()
///     }
/// }
/// assert_eq!(Levels.to_native(Priority::new(100)?), Some(NativePriority(50)));
/// assert_eq!(Levels.to_native(Priority::MAX), None);
/// # Ok::<(), punctual_types::OutOfRange>(())
/// ```
pub trait PriorityMapping: Send + Sync {
    /// Returns the native priority of a CORBA priority; `None` if it has none.
    fn to_native(&self, priority: Priority) -> Option<NativePriority>;

    /// Returns the CORBA priority of a native priority; `None` if it has none.
    fn to_corba(&self, native: NativePriority) -> Option<Priority>;
}
