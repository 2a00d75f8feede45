use core::mem;

use crate::dynamic::Slot;

use super::{EventKind, Observer, Shedding, Simulation, engine::What};

/// Who runs: what a host does at a time at which something happened on it.
impl Simulation<'_> {
    /// Lets the right threads of a host run until there is nothing more to do at this time.
    pub(super) fn look_at(&mut self, host: usize, observer: &mut dyn Observer) {
        let now = self.now;
        self.hosts[host].count(&mut self.threads, now);
        if self.hosts[host].reconsider_at.is_some_and(|at| at <= now) {
            self.hosts[host].undecided = true;
        }
        self.finish_computations(host, observer);
        loop {
            // Who comes while an operation is being cancelled is seen after that, and before the next one is.
            while self.hosts[host].undecided && self.hosts[host].cancels_until <= now {
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
            self.at(next, What::Alarm { host });
        }
        self.hosts[host].alarm = next;
    }

    /// What ends now has ended before anything else that happens now: its thread goes on to its next scheduling point.
    fn finish_computations(&mut self, host: usize, observer: &mut dyn Observer) {
        let mut undecided = self.hosts[host].undecided;
        for processor in 0..self.hosts[host].processors.len() {
            self.hosts[host].undecided = false;
            while !self.hosts[host].undecided
                && let Some(thread) = self.hosts[host].at_step(processor, &self.threads, self.now)
            {
                self.step(thread, observer);
            }
            undecided |= self.hosts[host].undecided;
        }
        self.hosts[host].undecided = undecided;
    }

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
        self.hosts[host].overhead(0, now, costs.decision);
        self.suspend_others(host, &chosen, observer);
        for slot in &chosen {
            let Some(thread) = self.hosts[host].slots[slot.0 as usize] else {
                continue;
            };
            if self.threads[thread].processor.is_some() {
                continue;
            }
            let life = self.threads[thread].life;
            let Some(processor) = self.hosts[host].processor_for(thread, life) else {
                break;
            };
            if self.is_checked(thread) {
                self.hosts[host].overhead(processor, now, costs.check);
                if let Some(depth) = self.sheds(thread) {
                    let until = self.hosts[host].overhead(processor, now, costs.cancellation);
                    self.hosts[host].cancels_until = until;
                    self.shed(thread, depth, observer);
                    // Somebody else is to run instead.
                    break;
                }
            }
            self.hosts[host].dispatch(processor, thread, life, now, costs.hand_over);
            let thread_state = &mut self.threads[thread];
            thread_state.processor = Some(processor);
            thread_state.dispatched = true;
            let frame = thread_state.frames.last_mut().expect("it is ready");
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

    /// Whether it is looked at if it can be in time before it is dispatched. What computes already is not at a scheduling point.
    fn is_checked(&self, thread: usize) -> bool {
        let state = &self.threads[thread];
        self.model.shedding != Shedding::None && state.remaining == 0 && state.unwinding_to.is_none()
    }

    /// The operation that is to be cancelled instead of being dispatched.
    fn sheds(&self, thread: usize) -> Option<usize> {
        let state = &self.threads[thread];
        match self.model.shedding {
            Shedding::None => None,
            Shedding::NonCritical if state.segment().parameters.is_critical() => None,
            Shedding::NonCritical | Shedding::All => state.hopeless(self.now),
        }
    }
}
