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
    /// Operations whose levels have come in this computation, by level and period.
    new: Vec<(Level, Duration, u32)>,
    /// Level and period of the last operation that has moved. It is counted after the next has left, which
    /// often makes room for it in the same lists.
    arriving: Option<(u32, Duration)>,
    /// Whether a level may have gone.
    has_emptied: bool,
    /// Number of operations that may still move; if more do, all levels are found again, which costs less.
    may_move: usize,
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
        let mut own = Self {
            may_move: may_move(assignments),
            ..Self::default()
        };
        for level in running.chunk_by(|one, next| one.0 == next.0) {
            own.push(strategy, level.iter().copied());
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
    pub(super) fn change(
        &mut self,
        strategy: Strategy,
        index: u32,
        before: &Assignment,
        now: &mut Assignment,
    ) {
        self.may_move = self.may_move.saturating_sub(1);
        if self.may_move == 0 {
            return;
        }
        // The level may become empty: often the operation stays in it.
        if let Some((level, period)) = before.level.zip(before.period) {
            self.leave(level, period);
        }
        self.arrive();
        now.level = None;
        if let Some((key, period)) = key(strategy, now).zip(now.period) {
            let same = before.level.filter(|level| self.uses[*level as usize].key == key);
            now.level = same.or_else(|| self.number(key));
            self.arriving = now.level.map(|level| (level, period));
            if now.level.is_none() {
                self.new.push((key, period, index));
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
            self.has_emptied |= periods.is_empty();
        }
    }

    fn arrive(&mut self) {
        let Some((level, period)) = self.arriving.take() else {
            return;
        };
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

    /// Numbers the levels again if one has come or gone.
    pub(super) fn complete(&mut self, strategy: Strategy, assignments: &mut [Assignment]) {
        if self.may_move == 0 {
            *self = Self::new(strategy, assignments);
            return;
        }
        self.arrive();
        self.may_move = may_move(assignments);
        let has_emptied = std::mem::take(&mut self.has_emptied);
        let has_gone = has_emptied && self.levels.iter().any(|level| level.periods.is_empty());
        if !has_gone && self.new.is_empty() {
            return;
        }
        let mut new = std::mem::take(&mut self.new);
        new.sort_unstable();
        let numbers = self.renumber(strategy, &new);
        for level in assignments.iter_mut().filter_map(|own| own.level.as_mut()) {
            *level = numbers[*level as usize];
        }
        for (key, _, operation) in new {
            assignments[operation as usize].level = self.number(key);
        }
    }

    /// Adds new levels and removes empty ones; returns the numbers of the former ones.
    fn renumber(&mut self, strategy: Strategy, new: &[(Level, Duration, u32)]) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(self.levels.len());
        let most = self.levels.len() + new.len();
        let former_levels = std::mem::replace(&mut self.levels, Vec::with_capacity(most));
        let former_uses = std::mem::replace(&mut self.uses, Vec::with_capacity(most));
        let mut new = new.chunk_by(|one, next| one.0 == next.0).peekable();
        for (level, own) in former_levels.into_iter().zip(former_uses) {
            while let Some(first) = new.next_if(|first| first[0].0 < own.key) {
                self.push(strategy, first.iter().map(|(key, period, _)| (*key, *period)));
            }
            numbers.push(self.levels.len() as u32);
            if !level.periods.is_empty() {
                self.levels.push(level);
                self.uses.push(own);
            }
        }
        for last in new {
            self.push(strategy, last.iter().map(|(key, period, _)| (*key, *period)));
        }
        numbers
    }

    /// Appends the level of these operations, which are in the order of their periods.
    fn push(&mut self, strategy: Strategy, running: impl Iterator<Item = (Level, Duration)>) {
        let (mut periods, mut operations) = (Vec::new(), Vec::new());
        let mut level = None;
        for (key, period) in running {
            level = Some(key);
            match operations.last_mut().filter(|_| periods.last() == Some(&period)) {
                Some(same) => *same += 1,
                None => {
                    periods.push(period);
                    operations.push(1);
                }
            }
        }
        if let Some(key) = level {
            self.levels.push(DispatchLevel {
                queue: strategy.queue(key),
                periods,
            });
            self.uses.push(Use { key, operations });
        }
    }
}

/// Returns one more than the number of operations that may move one by one.
fn may_move(assignments: &[Assignment]) -> usize {
    8 + assignments.len() / 16
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
