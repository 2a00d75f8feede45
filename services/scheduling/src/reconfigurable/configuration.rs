//! The dispatch configuration: `RtecScheduler::Config_Info`.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{Operation, Queue, Solution, Strategy, graph::Graph, strategy::Level};

/// Operations that are dispatched by threads of one priority.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DispatchLevel {
    /// Order of its operations.
    pub queue: Queue,
    /// Periods of its operations, ascending: timers are needed for these.
    pub periods: Vec<Duration>,
}

/// Numbers the levels of all operations that run, and sets each operation's own.
pub(super) fn set_levels(strategy: Strategy, solution: &mut Solution) {
    let mut periods: BTreeMap<Level, BTreeSet<Duration>> = BTreeMap::new();
    let key = |criticality, period| strategy.level(criticality, period);
    for assignment in &solution.assignments {
        if let Some(period) = assignment.period {
            periods
                .entry(key(assignment.criticality, period))
                .or_default()
                .insert(period);
        }
    }
    let numbers: BTreeMap<_, u32> = periods.keys().copied().zip(0..).collect();
    for assignment in &mut solution.assignments {
        let level = |period| numbers.get(&key(assignment.criticality, period)).copied();
        assignment.level = assignment.period.and_then(level);
    }
    solution.levels = periods
        .into_iter()
        .map(|(key, periods)| DispatchLevel {
            queue: strategy.queue(key),
            periods: periods.into_iter().collect(),
        })
        .collect();
}

/// Returns the position of each operation: the most important first, then in topological order.
pub(super) fn subpriorities(operations: &[Operation], graph: &Graph) -> Vec<u32> {
    let mut order = graph.order.clone();
    // Stable, so that the topological order decides between equals.
    order.sort_by_key(|operation| Reverse(operations[*operation as usize].importance));
    let mut positions = vec![u32::MAX; operations.len()];
    order
        .iter()
        .zip(0..)
        .for_each(|(operation, place)| positions[*operation as usize] = place);
    positions
}
