//! Dispatch: the choice of the threads that run on a host.

use core::mem;

use crate::dynamic::{SheddingPoint, Slot};

use super::{
    super::{EventKind, Observer},
    Occurrence, Simulation,
};

impl Simulation<'_> {
    /// Dispatches the threads of a host until nothing more happens there at the present time.
    pub(super) fn reschedule(&mut self, host: usize, observer: &mut dyn Observer) {
        let now = self.now;
        self.hosts[host].account(&mut self.threads, now);
        if self.hosts[host].reconsider_at.is_some_and(|at| at <= now) {
            self.hosts[host].undecided = true;
        }
        self.finish_computations(host, observer);
        while !self.is_exceeded() {
            // Threads that become ready during a cancellation are considered after it, and before the next
            // one.
            while self.hosts[host].undecided && self.hosts[host].cancels_until <= now && !self.is_exceeded() {
                self.count();
                self.decide(host, observer);
            }
            let mut processors = 0..self.hosts[host].processors.len();
            let at_step = |processor| self.hosts[host].at_step(processor, &self.threads, now);
            let Some(thread) = processors.find_map(at_step) else {
                break;
            };
            self.step(thread, observer);
        }
        let next = self.hosts[host].next(&self.threads, now);
        if let Some(next) = next
            && self.hosts[host].alarm != Some(next)
        {
            self.queue_at(next, Occurrence::Alarm { host });
        }
        self.hosts[host].alarm = next;
    }

    /// Takes threads whose computations end now to their next scheduling points, before anything else
    /// happens.
    fn finish_computations(&mut self, host: usize, observer: &mut dyn Observer) {
        let mut undecided = self.hosts[host].undecided;
        for processor in 0..self.hosts[host].processors.len() {
            self.hosts[host].undecided = false;
            while !self.hosts[host].undecided
                && !self.is_exceeded()
                && let Some(thread) = self.hosts[host].at_step(processor, &self.threads, self.now)
            {
                self.step(thread, observer);
            }
            undecided |= self.hosts[host].undecided;
        }
        self.hosts[host].undecided = undecided;
    }

    /// Dispatches the threads that the scheduler chooses, and suspends all others.
    fn decide(&mut self, host: usize, observer: &mut dyn Observer) {
        let now = self.now;
        let state = &mut self.hosts[host];
        state.undecided = false;
        if state.ready == 0 {
            state.reconsider_at = None;
            return;
        }
        let mut chosen = mem::take(&mut self.chosen);
        state.decide(&self.threads, now, &mut chosen);
        let costs = self.model.hosts[host].costs;
        self.hosts[host].add_overhead(0, now, costs.decision);
        self.suspend_others(host, &chosen, observer);
        for slot in &chosen {
            let Some(thread) = self.hosts[host].slots[slot.0 as usize] else {
                continue;
            };
            if self.threads[thread].processor.is_some() {
                continue;
            }
            let generation = self.threads[thread].generation;
            let Some(processor) = self.hosts[host].processor_for(thread, generation) else {
                break;
            };
            if self.is_examined(thread, SheddingPoint::Dispatch) {
                self.hosts[host].add_overhead(processor, now, costs.check);
                if let Some(depth) = self.shed_operation(thread, SheddingPoint::Dispatch) {
                    let until = self.hosts[host].add_overhead(processor, now, costs.cancellation);
                    self.hosts[host].cancels_until = until;
                    self.shed(thread, depth, observer);
                    // Another thread runs instead.
                    break;
                }
            }
            self.hosts[host].dispatch(processor, thread, generation, now, costs.hand_over);
            let thread_state = &mut self.threads[thread];
            thread_state.processor = Some(processor);
            thread_state.attempt.dispatched = true;
            let frame = thread_state.frame_mut();
            let processor = processor as u32;
            let kind = if mem::replace(&mut frame.started, true) {
                EventKind::Resumed { processor }
            } else {
                EventKind::Started { processor }
            };
            self.report(thread, kind, observer);
        }
        self.chosen = chosen;
        self.hosts[host].reconsider_at = self.hosts[host].scheduler.reconsider_at(now);
    }

    fn suspend_others(&mut self, host: usize, chosen: &[Slot], observer: &mut dyn Observer) {
        for processor in 0..self.hosts[host].processors.len() {
            let Some(thread) = self.hosts[host].processors[processor].thread else {
                continue;
            };
            if chosen.contains(&self.threads[thread].slot) {
                continue;
            }
            self.hosts[host].processors[processor].thread = None;
            self.hosts[host].statistics.preemptions += 1;
            self.threads[thread].processor = None;
            self.statistics.tasks[self.threads[thread].id.task as usize].preemptions += 1;
            self.report(thread, EventKind::Suspended, observer);
        }
    }

    /// Returns whether a thread is examined for its deadlines. A thread within a computation is not at a
    /// scheduling point.
    pub(super) fn is_examined(&self, thread: usize, at: SheddingPoint) -> bool {
        let state = &self.threads[thread];
        state.remaining == 0
            && state.unwinding.to.is_none()
            && state.is_examined(self.model.hosts[state.host].shedding, at)
    }

    /// Returns the operation of a thread that is cancelled.
    pub(super) fn shed_operation(&self, thread: usize, at: SheddingPoint) -> Option<usize> {
        let state = &self.threads[thread];
        state.shed_operation(self.model.hosts[state.host].shedding, self.now, at)
    }
}
