//! Reconfigurable schedulers that programs show beside the lanes.

use std::time::Duration;

/// State of a scheduler of operations.
///
/// ```
/// # use punctual_inspect as punctual;
/// use punctual::{SchedulerState, SchedulerStatistics};
///
/// let state = SchedulerState {
///     scheduler: "flight".to_owned(),
///     strategy: "MUF".to_owned(),
///     statistics: SchedulerStatistics { operations: 70, running: 70, ..Default::default() },
/// };
/// assert_eq!(state.statistics.refused, 0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SchedulerState {
    /// Name of the scheduler.
    pub scheduler: String,
    /// Order of admission and dispatch, such as "MUF_FAIR".
    pub strategy: String,
    /// The schedule in force, and counters.
    pub statistics: SchedulerStatistics,
}

/// Contents of the schedule in force, and findings of all computations since the start.
///
/// ```
/// # use punctual_inspect as punctual;
/// use punctual::SchedulerStatistics;
///
/// let none = SchedulerStatistics::default();
/// assert_eq!((none.operations, none.computations), (0, 0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SchedulerStatistics {
    /// Number of enabled operations in the schedule in force.
    pub operations: u64,
    /// Number of these that run.
    pub running: u64,
    /// Number of its levels of dispatch.
    pub levels: u64,
    /// Share of the processor that it has admitted, 0 to 1.
    pub utilization: f64,
    /// Duration of the last computation.
    pub last_duration: Duration,
    /// Number of computations.
    pub computations: u64,
    /// Number of computations whose schedules were refused, so that the one in force stayed.
    pub refused: u64,
    /// Number of computations that found cyclic dependencies.
    pub cycles: u64,
    /// Number of operations without rates that depended on nothing, in all computations.
    pub unresolved: u64,
    /// Number of operations whose rate tuples contradicted each other, in all computations.
    pub contradictions: u64,
    /// Number of operations without room at any rate, in all computations.
    pub not_admitted: u64,
    /// Number of operations with room at a lower rate only, in all computations.
    pub lower_rates: u64,
}

/// A number of a scheduler as viewers get it: name, explanation and value.
pub(crate) type SchedulerMetric = (&'static str, &'static str, fn(&SchedulerStatistics) -> u64);

/// Numbers of the schedule in force.
pub(crate) const SCHEDULER_GAUGES: [SchedulerMetric; 3] = [
    (
        "operations",
        "Enabled operations of the schedule in force.",
        |own| own.operations,
    ),
    (
        "running",
        "Operations of the schedule in force that run.",
        |own| own.running,
    ),
    ("levels", "Levels of dispatch of the schedule in force.", |own| {
        own.levels
    }),
];

/// Numbers since the start.
pub(crate) const SCHEDULER_COUNTERS: [SchedulerMetric; 7] = [
    ("computations", "Computations of schedules.", |own| {
        own.computations
    }),
    ("refused", "Computed schedules that were refused.", |own| {
        own.refused
    }),
    ("cycles", "Computations that found cyclic dependencies.", |own| {
        own.cycles
    }),
    ("unresolved", "Operations that nothing ran.", |own| own.unresolved),
    (
        "contradictions",
        "Operations with contradictory rate tuples.",
        |own| own.contradictions,
    ),
    ("not_admitted", "Operations without room at any rate.", |own| {
        own.not_admitted
    }),
    (
        "lower_rates",
        "Operations with room at a lower rate only.",
        |own| own.lower_rates,
    ),
];
