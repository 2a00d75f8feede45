//! A scheduler that is not an order of jobs.

use std::time::Duration;

use punctual::rtscheduling::{ParameterKind, Scheduler, SchedulingParameters, Slot, Time};

/// Customers take turns: the next job is one of the customer with the fewest turns so far. Running jobs are
/// not preempted.
///
/// This depends on previous decisions and is not an order of jobs, so it implements the whole trait. The
/// customer's number is the job's importance.
#[derive(Default)]
pub struct TakingTurns {
    /// Waiting jobs and their customers, in the order of arrival.
    waiting: Vec<(Slot, usize)>,
    running: Vec<Slot>,
    turns: [u64; Self::CUSTOMERS],
}

impl TakingTurns {
    /// Maximum number of customers; greater numbers count as the last one.
    pub const CUSTOMERS: usize = 8;

    fn customer(parameters: &SchedulingParameters) -> usize {
        let number = parameters.importance().unwrap_or(0);
        usize::try_from(number).map_or(0, |number| number.min(Self::CUSTOMERS - 1))
    }
}

impl Scheduler for TakingTurns {
    fn name(&self) -> &str {
        "taking turns"
    }

    fn kind(&self) -> ParameterKind {
        ParameterKind::Laxity
    }

    fn reserve(&mut self, threads: usize) {
        // Later calls must not allocate, because they are made under a lock.
        self.waiting.reserve(threads);
        self.running.reserve(threads);
    }

    fn ready(&mut self, thread: Slot, parameters: &SchedulingParameters, _: Duration, _: Time) {
        self.waiting.push((thread, Self::customer(parameters)));
    }

    fn update(&mut self, thread: Slot, parameters: &SchedulingParameters, _: Duration, _: Time) {
        if let Some(job) = self.waiting.iter_mut().find(|(slot, _)| *slot == thread) {
            job.1 = Self::customer(parameters);
        }
    }

    fn remove(&mut self, thread: Slot, _: Time) {
        self.waiting.retain(|(slot, _)| *slot != thread);
        self.running.retain(|slot| *slot != thread);
    }

    fn choose(&mut self, processors: usize, _: Time, _: &dyn Fn(Slot) -> Duration, chosen: &mut Vec<Slot>) {
        while self.running.len() < processors {
            // The first job of a customer with the fewest turns.
            let turns = |index: &usize| self.turns[self.waiting[*index].1];
            let Some(next) = (0..self.waiting.len()).min_by_key(turns) else {
                break;
            };
            let (thread, customer) = self.waiting.remove(next);
            self.turns[customer] += 1;
            self.running.push(thread);
        }
        chosen.extend(self.running.iter().take(processors));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_jobs_are_not_preempted() {
        let of_customer = |importance| SchedulingParameters::Laxity {
            deadline: Time::NEVER,
            execution_time: Duration::ZERO,
            importance,
        };
        let mut scheduler = TakingTurns::default();
        let runs = |scheduler: &mut TakingTurns| {
            let mut chosen = Vec::new();
            scheduler.choose(1, Time(0), &|_| Duration::ZERO, &mut chosen);
            chosen
        };
        for (slot, customer) in [(0, 1), (1, 1), (2, 2)] {
            scheduler.ready(Slot(slot), &of_customer(customer), Duration::ZERO, Time(0));
        }
        for slot in [0, 2, 1] {
            assert_eq!(runs(&mut scheduler), [Slot(slot)]);
            assert_eq!(runs(&mut scheduler), [Slot(slot)], "the choice is unchanged");
            scheduler.remove(Slot(slot), Time(0));
        }
        assert_eq!(runs(&mut scheduler), []);
    }
}
