//! Computation of rates and levels: for all operations, or for those that a change affects.

use std::{collections::BTreeSet, time::Duration};

use super::{
    Anomaly, Assignment, Criticality, Dependency, Operation,
    admission::{Admission, Decision},
    configuration::{self, Levels},
    graph::Graph,
    pending::Pending,
    system::System,
};

/// Result of a computation, from which a partial one continues.
#[derive(Clone, Debug)]
pub(super) struct Solution {
    pub(super) graph: Graph,
    pub(super) admission: Admission,
    pub(super) assignments: Vec<Assignment>,
    pub(super) levels: Levels,
    /// Operations whose tuples contradict each other.
    contradictory: BTreeSet<u32>,
    /// Operations whose rates or execution times have changed since the last computation; some may be listed
    /// several times.
    changed: Vec<u32>,
    pending: Pending,
}

impl Solution {
    /// Computes all rates and levels.
    pub(super) fn new(system: System<'_>, dependencies: &[Dependency]) -> Self {
        let operations = system.operations;
        let graph = Graph::of(operations, dependencies);
        let mut assignments = vec![Assignment::default(); operations.len()];
        let by_importance = configuration::by_importance(operations, &graph);
        for (operation, place) in by_importance.into_iter().zip(0..) {
            assignments[operation as usize].subpriority = place;
        }
        let contradicts = |index: &u32| operations[*index as usize].why_contradictory().is_some();
        let all = (0u32..).take(operations.len());
        let contradictory = all.filter(contradicts).collect();
        let mut admission = Admission::new(system, &contradictory, &graph.follow_up);
        admission.decide(|decision| {
            let own = &mut assignments[decision.operation as usize];
            (own.period, own.criticality) = decided(operations, &decision);
        });
        for &index in &graph.order {
            let operation = &operations[index as usize];
            if !operation.is_source() {
                let follows = graph.follows(operation, index, &assignments);
                let own = &mut assignments[index as usize];
                (own.period, own.criticality) = follows;
            }
        }
        Self {
            levels: Levels::new(system.strategy, &mut assignments),
            pending: Pending::new(graph.order.len()),
            changed: Vec::new(),
            graph,
            admission,
            assignments,
            contradictory,
        }
    }

    /// Notes that rates or execution times of an operation have changed.
    pub(super) fn note(&mut self, operation: u32) {
        // However often operations change before a computation, the list stays bounded.
        if self.changed.len() >= 2 * self.assignments.len() {
            self.changed.sort_unstable();
            self.changed.dedup();
        }
        self.changed.push(operation);
    }

    /// Continues where changed operations have other rates or execution times.
    pub(super) fn update(&mut self, system: System<'_>) {
        let System {
            strategy, operations, ..
        } = system;
        for changed in &self.changed {
            match operations[*changed as usize].why_contradictory() {
                Some(_) => self.contradictory.insert(*changed),
                None => self.contradictory.remove(changed),
            };
        }
        let Self {
            graph,
            assignments,
            levels,
            pending,
            ..
        } = self;
        graph.update_follow_up(operations, pending, &mut self.changed);
        self.admission
            .update(system, &self.contradictory, &graph.follow_up, &self.changed);
        self.changed.clear();
        // Only what follows from an operation with another period or criticality can have others.
        let mut assign = |index: u32, own: &mut Assignment, (period, criticality)| {
            let before = *own;
            (own.period, own.criticality) = (period, criticality);
            let differs = (before.period, before.criticality) != (period, criticality);
            if differs {
                levels.change(strategy, index, &before, own);
            }
            differs
        };
        self.admission.decide(|decision| {
            let index = decision.operation;
            if assign(
                index,
                &mut assignments[index as usize],
                decided(operations, &decision),
            ) {
                graph.mark_followers(index, pending);
            }
        });
        while let Some(place) = pending.take_first() {
            let index = graph.order[place];
            let follows = graph.follows(&operations[index as usize], index, assignments);
            if assign(index, &mut assignments[index as usize], follows) {
                graph.mark_followers(index, pending);
            }
        }
        levels.complete(strategy, assignments);
    }

    /// Finds all anomalies, the most severe first.
    pub(super) fn anomalies(&self, operations: &[Operation]) -> Vec<Anomaly> {
        let graph = &self.graph;
        let name = |index: u32| operations[index as usize].name.clone();
        let cycles = usize::from(!graph.cyclic.is_empty());
        let others = cycles + self.contradictory.len() + graph.unresolved.len();
        let mut anomalies: Vec<Anomaly> = Vec::with_capacity(self.admission.reduced() + others);
        if cycles > 0 {
            anomalies.push(Anomaly::Cycle(graph.cyclic.iter().copied().map(name).collect()));
        }
        let contradictory = self.contradictory.iter();
        anomalies.extend(contradictory.filter_map(|index| operations[*index as usize].contradiction()));
        let unresolved = |remote: bool| {
            let unresolved = graph.unresolved.iter().map(|index| &operations[*index as usize]);
            unresolved
                .filter(move |own| own.is_remote == remote)
                .map(Operation::unresolved)
        };
        anomalies.extend(unresolved(false));
        // A contradiction has been reported, whatever room there is.
        let sound = |index: &u32| operations[*index as usize].why_contradictory().is_none();
        let resting = self.admission.resting().filter(sound);
        anomalies.extend(resting.map(|index| Anomaly::NotAdmitted(name(index))));
        anomalies.extend(unresolved(true));
        let lower = self.admission.lower();
        anomalies.extend(lower.filter_map(|(index, wanted)| {
            let period = self.assignments[index as usize].period?;
            Some(Anomaly::LowerRate {
                name: name(index),
                period,
                wanted,
            })
        }));
        anomalies
    }
}

/// Returns period and criticality of a source.
fn decided(operations: &[Operation], decision: &Decision) -> (Option<Duration>, Criticality) {
    let operation = &operations[decision.operation as usize];
    let admitted = decision.admitted.map(|tuple| &operation.tuples[tuple as usize]);
    (admitted.map(|tuple| tuple.period), operation.criticality)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reconfigurable::Strategy;

    #[test]
    fn changes_before_a_computation_are_bounded() {
        let ms = Duration::from_millis;
        let operations = ["radar", "map", "display"]
            .map(|name| Operation::new(name, Criticality::Low).tuple(ms(10), ms(1)));
        let system = System {
            strategy: Strategy::Muf,
            thresholds: (1.0, 1.0),
            operations: &operations,
        };
        let mut solution = Solution::new(system, &[]);
        for operation in (0..3).cycle().take(1_000) {
            solution.note(operation);
            assert!(solution.changed.len() <= 6, "{:?}", solution.changed);
        }
        solution.changed.sort_unstable();
        solution.changed.dedup();
        assert_eq!(solution.changed, [0, 1, 2]);
    }
}
