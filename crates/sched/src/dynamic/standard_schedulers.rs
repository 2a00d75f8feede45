//! The standard schedulers by name.

use alloc::boxed::Box;

use super::*;

/// Names of the nine standard schedulers, ordered by family.
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use punctual::rtscheduling::{STANDARD, standard};
///
/// for name in STANDARD {
///     assert_eq!(standard(name).expect("it is one of them").name(), name);
/// }
/// ```
pub const STANDARD: [&str; 9] = ["FP", "TP", "MIF", "RMS", "EDF", "MLF", "MUF", "RMS+MLF", "MAU"];

/// Creates one of the [standard](STANDARD) schedulers by name, with default settings; MLF also by its other
/// name LLF. Returns `None` for other names.
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use punctual::rtscheduling::standard;
///
/// assert_eq!(standard("MUF").unwrap().name(), "MUF");
/// assert!(standard("FIFO").is_none());
/// ```
pub fn standard(name: &str) -> Option<Box<dyn Scheduler>> {
    Some(match name {
        "FP" => Box::new(FixedPriority::new()),
        "TP" => Box::new(ThreadPriority::new()),
        "MIF" => Box::new(MostImportantFirst::new()),
        "RMS" => Box::new(RateMonotonic::new()),
        "EDF" => Box::new(EarliestDeadlineFirst::new()),
        "MLF" | "LLF" => Box::new(MinimumLaxityFirst::new()),
        "MUF" => Box::new(MaximumUrgencyFirst::new()),
        "RMS+MLF" => Box::new(RateMonotonicOrLaxity::new()),
        "MAU" => Box::new(MaximumAccruedUtility::new()),
        _ => return None,
    })
}
