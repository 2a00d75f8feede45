//! Reasons that keep a computed schedule from coming into force.

use super::{Anomaly, ReconfigurableScheduler, solution::Solution};

impl ReconfigurableScheduler {
    /// Returns why the computed schedule must not replace the one in force: a cycle, an operation that
    /// nothing runs, or critical work that would not run; the first of these that applies. `None`: it may,
    /// which is also the answer before [`Self::compute`].
    ///
    /// Non-critical operations without room, and operations that wait for another host, are no objection.
    ///
    /// ```
    /// use std::time::Duration;
    /// use punctual_scheduling::reconfigurable::*;
    ///
    /// let ms = Duration::from_millis;
    /// let mut scheduler = ReconfigurableScheduler::new(Strategy::Muf);
    /// scheduler.add(Operation::new("radar", Criticality::High).tuple(ms(10), ms(6)))?;
    /// scheduler.add(Operation::new("map", Criticality::Low).tuple(ms(10), ms(6)))?;
    /// scheduler.compute();
    /// assert_eq!(scheduler.objection(), None, "only the map has no room");
    /// scheduler.add(Operation::new("track", Criticality::High).tuple(ms(10), ms(6)))?;
    /// scheduler.compute();
    /// assert_eq!(scheduler.objection(), Some(Anomaly::NotAdmitted("track".into())));
    /// # Ok::<(), Anomaly>(())
    /// ```
    pub fn objection(&self) -> Option<Anomaly> {
        let solution = self.solution.as_ref()?;
        let is_remote = |index: &&u32| self.operations[**index as usize].is_remote;
        let graph = &solution.graph;
        if !graph.cyclic.is_empty() {
            return Some(Anomaly::Cycle(
                graph.cyclic.iter().map(|own| self.name(*own)).collect(),
            ));
        }
        if let Some(unresolved) = graph.unresolved.iter().find(|index| !is_remote(index)) {
            return Some(self.operations[*unresolved as usize].unresolved());
        }
        let remote: Vec<u32> = graph.unresolved.iter().filter(is_remote).copied().collect();
        let mut waits = vec![false; self.operations.len()];
        let following = graph.following(&remote).into_iter();
        following.for_each(|index| waits[index as usize] = true);
        let stops = |index: &&u32| {
            let is_critical = self.operations[**index as usize].criticality.is_critical();
            is_critical && solution.assignments[**index as usize].period.is_none()
        };
        // Sources come before what follows from them.
        let stopped = graph
            .order
            .iter()
            .filter(stops)
            .find(|index| !waits[**index as usize]);
        stopped.map(|index| self.why_stopped(solution, *index))
    }

    fn why_stopped(&self, solution: &Solution, index: u32) -> Anomaly {
        let mut cause = index;
        let rests = |before: &u32| solution.assignments[*before as usize].period.is_none();
        while let Some(before) = solution.graph.predecessors(cause).find(rests) {
            cause = before;
        }
        let operation = &self.operations[cause as usize];
        if !operation.is_source() {
            return operation.unresolved();
        }
        if cause != index {
            return Anomaly::Stopped {
                name: self.name(index),
                source: self.name(cause),
            };
        }
        operation
            .contradiction()
            .unwrap_or_else(|| Anomaly::NotAdmitted(self.name(index)))
    }
}
