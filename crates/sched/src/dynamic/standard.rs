use alloc::boxed::Box;

use super::*;

/// The names of the nine schedulers, in the order of the family they belong to.
pub const STANDARD: [&str; 9] = ["FP", "TP", "MIF", "RMS", "EDF", "MLF", "MUF", "RMS+MLF", "MAU"];

/// One of the [nine](STANDARD) by its name, with its default settings; MLF also by its other name LLF. `None` for other names.
///
/// ```
/// use punctual_sched::dynamic::standard;
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
