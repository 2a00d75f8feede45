//! Another scheduler for all distributable threads at once.

use std::mem;

use punctual_sched::dynamic::{Slot, Time};

use super::State;
use crate::dispatcher::{
    decisions::Switch, head::Head, installed_scheduler::InstalledScheduler, mechanism::Mechanism,
    wake_list::WakeList,
};

impl State {
    /// Installs another scheduler. Returns the one before, to be dropped after the lock has been released.
    pub(in crate::dispatcher) fn install(
        &mut self,
        scheduler: InstalledScheduler,
        mechanism: Mechanism,
        now: Time,
    ) -> (InstalledScheduler, WakeList) {
        let before = mem::replace(&mut self.scheduler, scheduler);
        self.scheduler.add_failures(before.failures());
        self.native.install(mechanism);
        self.translate_resources(now);
        let mut wakes = WakeList::default();
        for slot in self.threads.slots() {
            self.transfer(slot, &mut wakes, now);
        }
        wakes.add(self.reschedule(None, now));
        self.assign_queue_priorities();
        (before, wakes)
    }

    /// Makes a ready thread known to the new scheduler.
    fn transfer(&mut self, slot: Slot, wakes: &mut WakeList, now: Time) {
        let mechanism = self.native.mechanism;
        let head = &mut self.threads[slot].head;
        let Some(locus) = head.ready_locus() else {
            return;
        };
        let parameters = self.scheduler.translate(locus.parameters(), now);
        if mechanism == Mechanism::KernelDeadline && !locus.os_thread.limit.is_limited() {
            // A thread that is not admitted runs on unchanged until its next segment, which reports that.
            let _ = locus.os_thread.reserve(&parameters, now);
        } else if !self.native.preempts() {
            locus.os_thread.restore();
        }
        let received = head.received();
        match (mechanism, &*head) {
            (Mechanism::ReadyQueue, Head::Native(..)) => head.set(Head::Running),
            (Mechanism::ReadyQueue, _) => {}
            (Mechanism::OsPriorities | Mechanism::KernelDeadline, _) => {
                if let Head::Parked(locus, _) = head {
                    wakes.push(&locus.os_thread.gate);
                }
                head.set(|locus| Head::Native(locus, None));
            }
        }
        let runs = matches!(head, Head::Running(_) | Head::Native(..));
        self.scheduler.ready(slot, &parameters, received, now);
        self.assign_level(slot, &parameters, None);
        if runs && !self.running.contains(&slot) {
            self.running.push(slot);
            self.record(slot, Switch::Resumed, now);
        }
    }

    /// Gives running threads the priorities of the ready queue, where that preempts.
    fn assign_queue_priorities(&mut self) {
        if !self.native.preempts() {
            return;
        }
        let (active, inactive) = (self.native.priorities.active, self.native.priorities.inactive);
        for (_, entry) in self.threads.iter_mut() {
            let (locus, priority) = match &mut entry.head {
                Head::Running(locus) => (locus, active),
                // Passed while it ran, by this scheduler or the one before.
                Head::Ready(locus) => (locus, inactive),
                Head::Away | Head::Idle(_) | Head::Parked(..) | Head::Native(..) => continue,
            };
            self.native.set_priority(&mut locus.os_thread, priority);
        }
    }
}
