//! The dispatch configuration: `RtecScheduler::Config_Info`.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{Assignment, Operation, Queue, Solution, Strategy, graph::Graph, strategy::Level};

/// Operations that are dispatched by threads of one priority.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DispatchLevel {
    /// Order of its operations.
    pub queue: Queue,
    /// Periods of its operations, ascending: timers are needed for these.
    pub periods: Vec<Duration>,
}

/// Periods of the operations that run, by level, each with the number of its operations.
pub(super) type Periods = BTreeMap<Level, BTreeMap<Duration, u32>>;

/// Numbers the levels of all operations that run, and sets each operation's own.
pub(super) fn set_levels(strategy: Strategy, solution: &mut Solution) {
    solution.periods.clear();
    for assignment in &solution.assignments {
        enter(strategy, &mut solution.periods, assignment);
    }
    number(strategy, solution);
}

/// Sets the levels of operations after a change; they come with their former assignments. The others keep
/// theirs unless a level has come or gone.
pub(super) fn update_levels(strategy: Strategy, solution: &mut Solution, moved: &[(u32, Assignment)]) {
    let mut renumbered = false;
    let mut touched = BTreeSet::new();
    for (operation, before) in moved {
        let now = &solution.assignments[*operation as usize];
        // In this order, a level whose only operation changes stays.
        renumbered |= enter(strategy, &mut solution.periods, now);
        renumbered |= leave(strategy, &mut solution.periods, before);
        touched.extend([before, now].iter().filter_map(|own| key(strategy, own)));
    }
    if renumbered {
        return number(strategy, solution);
    }
    let numbers: BTreeMap<_, u32> = solution.periods.keys().copied().zip(0..).collect();
    for (operation, _) in moved {
        let assignment = &mut solution.assignments[*operation as usize];
        assignment.level = key(strategy, assignment).and_then(|key| numbers.get(&key).copied());
    }
    for key in touched {
        let level = &mut solution.levels[numbers[&key] as usize];
        level.periods = solution.periods[&key].keys().copied().collect();
    }
}

fn number(strategy: Strategy, solution: &mut Solution) {
    let numbers: BTreeMap<_, u32> = solution.periods.keys().copied().zip(0..).collect();
    for assignment in &mut solution.assignments {
        assignment.level = key(strategy, assignment).and_then(|key| numbers.get(&key).copied());
    }
    let levels = solution.periods.iter().map(|(key, periods)| DispatchLevel {
        queue: strategy.queue(*key),
        periods: periods.keys().copied().collect(),
    });
    solution.levels = levels.collect();
}

/// Returns the level of an operation that runs.
fn key(strategy: Strategy, assignment: &Assignment) -> Option<Level> {
    let period = assignment.period?;
    Some(strategy.level(assignment.criticality, period))
}

/// Counts an operation; returns whether its level is new.
fn enter(strategy: Strategy, periods: &mut Periods, assignment: &Assignment) -> bool {
    let Some((key, period)) = key(strategy, assignment).zip(assignment.period) else {
        return false;
    };
    let level = periods.entry(key).or_default();
    let is_new = level.is_empty();
    *level.entry(period).or_default() += 1;
    is_new
}

/// Stops counting an operation; returns whether its level has gone.
fn leave(strategy: Strategy, periods: &mut Periods, assignment: &Assignment) -> bool {
    let Some((key, period)) = key(strategy, assignment).zip(assignment.period) else {
        return false;
    };
    let Some(level) = periods.get_mut(&key) else {
        return false;
    };
    if let Some(operations) = level.get_mut(&period) {
        *operations -= 1;
        if *operations == 0 {
            level.remove(&period);
        }
    }
    let is_empty = level.is_empty();
    if is_empty {
        periods.remove(&key);
    }
    is_empty
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
