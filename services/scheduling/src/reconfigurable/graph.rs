//! The graph of dependencies: topological order, cycles, and the work that follows from each operation.

use std::time::Duration;

use super::{Assignment, Criticality, Dependency, Firing, Operation, pending::Pending};

/// Neighbours of all operations, one list after the other.
#[derive(Clone, Debug, Default)]
struct Neighbours {
    /// Beginning of each operation's list, and the end of the last one.
    starts: Vec<u32>,
    /// Neighbour, and number of executions.
    list: Vec<(u32, u32)>,
}

impl Neighbours {
    fn of(count: usize, edges: impl Iterator<Item = (u32, u32, u32)> + Clone) -> Self {
        let mut starts = vec![0u32; count + 1];
        edges
            .clone()
            .for_each(|(from, _, _)| starts[from as usize + 1] += 1);
        for index in 0..count {
            starts[index + 1] += starts[index];
        }
        let mut next = starts.clone();
        let mut list = vec![(0, 0); edges.clone().count()];
        for (from, to, times) in edges {
            let place = &mut next[from as usize];
            list[*place as usize] = (to, times);
            *place += 1;
        }
        Self { starts, list }
    }

    fn of_operation(&self, operation: u32) -> &[(u32, u32)] {
        let index = operation as usize;
        &self.list[self.starts[index] as usize..self.starts[index + 1] as usize]
    }
}

/// Dependencies between enabled operations.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    followers: Neighbours,
    predecessors: Neighbours,
    /// Enabled operations that are not in or behind a cycle, each behind all on which it depends.
    pub(super) order: Vec<u32>,
    /// Position of each operation in `order`.
    places: Vec<u32>,
    /// Operations in a cycle, or behind one.
    pub(super) cyclic: Vec<u32>,
    /// Operations without rates that depend on nothing.
    pub(super) unresolved: Vec<u32>,
    /// Execution time, in nanoseconds, of everything that follows from one execution of each operation.
    pub(super) follow_up: Vec<f64>,
}

impl Graph {
    pub(super) fn of(operations: &[Operation], dependencies: &[Dependency]) -> Self {
        let count = operations.len();
        let enabled = |dependency: &&Dependency| {
            let ends = [dependency.operation, dependency.on];
            // A source has its own rates, regardless of its dependencies.
            ends.iter().all(|id| operations[id.index()].enabled)
                && !operations[dependency.operation.index()].is_source()
        };
        let edges = dependencies.iter().filter(enabled);
        let down = edges
            .clone()
            .map(|edge| (edge.on.0, edge.operation.0, edge.times));
        let up = edges.map(|edge| (edge.operation.0, edge.on.0, edge.times));
        let mut graph = Self {
            followers: Neighbours::of(count, down),
            predecessors: Neighbours::of(count, up),
            ..Self::default()
        };
        graph.sort(operations);
        graph.follow_up = vec![0.0; count];
        for index in (0..graph.order.len()).rev() {
            let operation = graph.order[index];
            graph.follow_up[operation as usize] = graph.follow_up(operations, operation);
        }
        graph
    }

    /// Kahn's algorithm; what it does not reach is in a cycle or behind one.
    fn sort(&mut self, operations: &[Operation]) {
        let count = operations.len();
        let all = || {
            (0u32..)
                .zip(operations)
                .filter(|(_, operation)| operation.enabled)
        };
        let mut missing: Vec<usize> = (0u32..)
            .take(count)
            .map(|index| self.predecessors.of_operation(index).len())
            .collect();
        self.order = all()
            .map(|(index, _)| index)
            .filter(|index| missing[*index as usize] == 0)
            .collect();
        let mut next = 0;
        while let Some(&operation) = self.order.get(next) {
            next += 1;
            for &(follower, _) in self.followers.of_operation(operation) {
                missing[follower as usize] -= 1;
                if missing[follower as usize] == 0 {
                    self.order.push(follower);
                }
            }
        }
        self.places = vec![u32::MAX; count];
        self.order
            .iter()
            .zip(0..)
            .for_each(|(operation, place)| self.places[*operation as usize] = place);
        let is_reached = |index: u32| self.places[index as usize] != u32::MAX;
        self.cyclic = all()
            .map(|(index, _)| index)
            .filter(|index| !is_reached(*index))
            .collect();
        let depends = |index: u32| !self.predecessors.of_operation(index).is_empty();
        let unresolved = all().filter(|(index, operation)| !operation.is_source() && !depends(*index));
        self.unresolved = unresolved.map(|(index, _)| index).collect();
    }

    /// Returns the execution time of what follows from an operation. What waits for several counts for each
    /// of them with an equal part: the lowest of their rates is at most their mean.
    fn follow_up(&self, operations: &[Operation], operation: u32) -> f64 {
        let followers = self.followers.of_operation(operation).iter();
        let following = followers.map(|&(follower, times)| {
            let own = &operations[follower as usize];
            let parts = match own.firing {
                Firing::Any => 1,
                Firing::All => self.predecessors.of_operation(follower).len(),
            };
            let time = nanoseconds(own.wcet()) + self.follow_up[follower as usize];
            time * f64::from(times) / parts as f64
        });
        following.sum()
    }

    /// Updates what follows from the operations on which changed ones depend, as long as it differs; adds the
    /// sources for which it does to the changed operations. What follows from these has not changed.
    pub(super) fn update_follow_up(
        &mut self,
        operations: &[Operation],
        pending: &mut Pending,
        changed: &mut Vec<u32>,
    ) {
        for operation in changed.iter() {
            self.mark_predecessors(*operation, pending);
        }
        // The latest in topological order first.
        while let Some(place) = pending.take_last() {
            let operation = self.order[place];
            let follow_up = self.follow_up(operations, operation);
            if self.follow_up[operation as usize] == follow_up {
                continue;
            }
            self.follow_up[operation as usize] = follow_up;
            self.mark_predecessors(operation, pending);
            if operations[operation as usize].is_source() {
                changed.push(operation);
            }
        }
    }

    fn mark_predecessors(&self, operation: u32, pending: &mut Pending) {
        let before = self.predecessors(operation);
        before.for_each(|before| pending.mark(self.places[before as usize]));
    }

    /// Marks the operations that directly follow from an operation.
    pub(super) fn mark_followers(&self, operation: u32, pending: &mut Pending) {
        let followers = self.followers.of_operation(operation).iter();
        followers.for_each(|(follower, _)| pending.mark(self.places[*follower as usize]));
    }

    /// Returns the operations on which an operation depends.
    pub(super) fn predecessors(&self, operation: u32) -> impl Iterator<Item = u32> + '_ {
        let before = self.predecessors.of_operation(operation).iter();
        before.map(|(before, _)| *before)
    }

    /// Returns these operations and all that follow from them, in topological order.
    pub(super) fn following(&self, operations: &[u32]) -> Vec<u32> {
        let mut pending = Pending::new(self.order.len());
        let places = operations
            .iter()
            .map(|operation| self.places[*operation as usize]);
        places.for_each(|place| pending.mark(place));
        let mut found = Vec::new();
        while let Some(place) = pending.take_first() {
            found.push(self.order[place]);
            self.mark_followers(self.order[place], &mut pending);
        }
        found
    }

    /// Returns period and criticality of an operation that follows others.
    pub(super) fn follows(
        &self,
        operation: &Operation,
        number: u32,
        assignments: &[Assignment],
    ) -> (Option<Duration>, Criticality) {
        let mut criticality = operation.criticality;
        let (mut sum, mut least, mut resting) = (0.0, f64::INFINITY, false);
        for &(before, times) in self.predecessors.of_operation(number) {
            let before = &assignments[before as usize];
            let Some(period) = before.period else {
                resting = true;
                continue;
            };
            criticality = criticality.max(before.criticality);
            let rate = f64::from(times) / period.as_secs_f64();
            sum += rate;
            least = rate.min(least);
        }
        let rate: f64 = match operation.firing {
            Firing::Any => sum,
            Firing::All if resting => 0.0,
            Firing::All => least,
        };
        let period = (rate > 0.0 && rate.is_finite()).then(|| Duration::from_secs_f64(1.0 / rate));
        (period, criticality)
    }
}

/// Returns a duration in nanoseconds.
pub(super) fn nanoseconds(duration: Duration) -> f64 {
    duration.as_secs() as f64 * 1e9 + f64::from(duration.subsec_nanos())
}
