//! The dispatch configuration: `RtecScheduler::Config_Info`.

use std::{cmp::Reverse, time::Duration};

use super::{Assignment, Operation, Queue, Strategy, graph::Graph, strategy::Level};

/// Operations that are dispatched by threads of one priority.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DispatchLevel {
    /// Order of its operations.
    pub queue: Queue,
    /// Periods of its operations, ascending: timers are needed for these.
    pub periods: Vec<Duration>,
}

/// Levels of all operations that run.
#[derive(Clone, Debug, Default)]
pub(super) struct Levels {
    pub(super) levels: Vec<DispatchLevel>,
    uses: Vec<Use>,
    /// Number of operations that have moved in this computation.
    moved: usize,
    /// Number up to which moving each costs less than numbering all again.
    most_moved: usize,
    /// Whether a level has come or may have gone, so that all are to be numbered.
    is_outdated: bool,
}

/// Use of one level.
#[derive(Clone, Debug)]
struct Use {
    key: Level,
    /// Number of operations of each of its periods.
    operations: Vec<u32>,
}

impl Levels {
    /// Numbers the levels of all operations that run, and sets each operation's own.
    pub(super) fn new(strategy: Strategy, assignments: &mut [Assignment]) -> Self {
        let mut running = Vec::with_capacity(assignments.len());
        let key_and_period = |own: &Assignment| key(strategy, own).zip(own.period);
        running.extend(assignments.iter().filter_map(key_and_period));
        running.sort_unstable();
        let most_moved = 8 + assignments.len() / 64;
        let mut own = Self {
            most_moved,
            ..Self::default()
        };
        for level in running.chunk_by(|one, next| one.0 == next.0) {
            let (mut periods, mut operations) = (Vec::new(), Vec::new());
            for same in level.chunk_by(|one, next| one.1 == next.1) {
                periods.push(same[0].1);
                operations.push(same.len() as u32);
            }
            let key = level[0].0;
            own.uses.push(Use { key, operations });
            own.levels.push(DispatchLevel {
                queue: strategy.queue(key),
                periods,
            });
        }
        for assignment in assignments {
            assignment.level = key(strategy, assignment).and_then(|key| own.number(key));
        }
        own
    }

    /// Returns the number of a level.
    fn number(&self, key: Level) -> Option<u32> {
        let found = self.uses.binary_search_by_key(&key, |level| level.key);
        found.ok().map(|number| number as u32)
    }

    /// Moves an operation to its level after a change. [`Self::complete`] ends the changes.
    pub(super) fn change(&mut self, strategy: Strategy, before: &Assignment, now: &mut Assignment) {
        self.moved += 1;
        self.is_outdated |= self.moved > self.most_moved;
        if self.is_outdated {
            return;
        }
        // The level may become empty: often the operation stays in it.
        if let Some((level, period)) = before.level.zip(before.period) {
            self.leave(level, period);
        }
        now.level = None;
        if let Some((key, period)) = key(strategy, now).zip(now.period) {
            let same = before.level.filter(|level| self.uses[*level as usize].key == key);
            now.level = same.or_else(|| self.number(key));
            match now.level {
                Some(level) => self.enter(level, period),
                None => self.is_outdated = true,
            }
        }
    }

    fn leave(&mut self, level: u32, period: Duration) {
        let periods = &mut self.levels[level as usize].periods;
        let operations = &mut self.uses[level as usize].operations;
        let Ok(place) = periods.binary_search(&period) else {
            return;
        };
        operations[place] -= 1;
        if operations[place] == 0 {
            operations.remove(place);
            periods.remove(place);
        }
    }

    fn enter(&mut self, level: u32, period: Duration) {
        let periods = &mut self.levels[level as usize].periods;
        let operations = &mut self.uses[level as usize].operations;
        match periods.binary_search(&period) {
            Ok(place) => operations[place] += 1,
            Err(place) => {
                periods.insert(place, period);
                operations.insert(place, 1);
            }
        }
    }

    /// Numbers all levels again if one has come or gone, or if many operations have moved.
    pub(super) fn complete(&mut self, strategy: Strategy, assignments: &mut [Assignment]) {
        let is_empty = |level: &DispatchLevel| level.periods.is_empty();
        if self.moved > 0 && (self.is_outdated || self.levels.iter().any(is_empty)) {
            *self = Self::new(strategy, assignments);
        }
        self.moved = 0;
    }
}

/// Returns the level of an operation that runs.
fn key(strategy: Strategy, assignment: &Assignment) -> Option<Level> {
    let period = assignment.period?;
    Some(strategy.level(assignment.criticality, period))
}

/// Returns the operations of the topological order, the most important first.
pub(super) fn by_importance(operations: &[Operation], graph: &Graph) -> Vec<u32> {
    let mut order = graph.order.clone();
    // Stable, so that the topological order decides between equals.
    order.sort_by_key(|operation| Reverse(operations[*operation as usize].importance));
    order
}
