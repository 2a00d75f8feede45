//! Carries out what the scheduler chooses: which threads run, and at which native priorities.

use std::mem;

use punctual_flight::{Event, Record, record};
use punctual_sched::dynamic::{SchedulingParameters, Slot, Time};

use super::State;
use crate::dispatcher::{
    decisions::{Decision, Switch},
    head::Head,
    mechanism::Mechanism,
    wake_list::WakeList,
};

impl State {
    /// Lets the scheduler choose, and carries that out. `caller`: the thread at a scheduling point.
    pub(in crate::dispatcher) fn reschedule(&mut self, caller: Option<Slot>, now: Time) -> WakeList {
        let mut wakes = WakeList::default();
        if self.native.mechanism != Mechanism::ReadyQueue && !self.decisions.are_recorded() {
            return wakes;
        }
        self.scheduler.choose(&self.threads, self.processors, now);
        self.let_higher_lanes_run(now);
        let mut at = 0;
        while let Some(&slot) = self.running.get(at) {
            if self.scheduler.chosen.contains(&slot) || !self.stop(slot, caller) {
                at += 1;
            } else {
                self.running.swap_remove(at);
                self.record(slot, Switch::Suspended, now);
            }
        }
        for at in 0..self.scheduler.chosen.len() {
            let slot = self.scheduler.chosen[at];
            if self.runs_beside(slot, &self.running) && !self.running.contains(&slot) {
                self.running.push(slot);
                self.record(slot, Switch::Resumed, now);
                self.resume(slot, caller, &mut wakes);
            }
        }
        wakes
    }

    /// Stops a running thread that is no longer chosen; returns `false` if it runs until its next scheduling
    /// point.
    fn stop(&mut self, slot: Slot, caller: Option<Slot>) -> bool {
        let head = &mut self.threads[slot].head;
        let Head::Running(locus) = head else {
            // The kernel decides when it runs.
            return true;
        };
        let inactive = self.native.priorities.inactive;
        let stopped = caller == Some(slot)
            || self.native.preempts() && self.native.set_priority(&mut locus.os_thread, inactive);
        if stopped {
            head.set(Head::Ready);
        }
        stopped
    }

    /// Lets a chosen thread run, where the kernel does not decide on that.
    fn resume(&mut self, slot: Slot, caller: Option<Slot>, wakes: &mut WakeList) {
        let head = &mut self.threads[slot].head;
        let is_parked = matches!(head, Head::Parked(..));
        let (Head::Ready(locus) | Head::Parked(locus, _)) = head else {
            return;
        };
        if self.native.preempts() {
            let active = self.native.priorities.active;
            self.native
                .move_to(&mut locus.os_thread, active, caller == Some(slot));
        }
        if is_parked {
            wakes.push(&locus.os_thread.gate);
        }
        head.set(Head::Running);
    }

    /// Moves a thread to the priority level of its parameters, where the mechanism has levels.
    pub(super) fn assign_level(
        &mut self,
        slot: Slot,
        parameters: &SchedulingParameters,
        caller: Option<Slot>,
    ) {
        if self.native.mechanism != Mechanism::OsPriorities {
            return;
        }
        let Head::Native(locus, level) = &mut self.threads[slot].head else {
            return;
        };
        let eligibility = self.scheduler.fixed_eligibility(parameters).unwrap_or(0);
        if let Some(level) = level.take() {
            self.native.levels.leave(level);
        }
        let placement = self.native.levels.enter(eligibility);
        *level = Some(placement.level);
        if !placement.respread {
            self.native
                .move_to(&mut locus.os_thread, placement.native, caller == Some(slot));
            return;
        }
        self.apply_levels(caller);
    }

    /// Gives all threads the priorities of their levels, as those have been spread anew.
    ///
    /// No thread passes a more eligible one in between: threads that rise do so from the top down, and then
    /// the others sink from the bottom up.
    fn apply_levels(&mut self, caller: Option<Slot>) {
        let mut moves = mem::take(&mut self.native.moves);
        moves.clear();
        for (slot, entry) in self.threads.iter_mut() {
            if let Head::Native(_, Some(level)) = &entry.head {
                moves.push((self.native.levels.native(*level), slot));
            }
        }
        moves.sort_unstable_by_key(|(priority, _)| *priority);
        for rises in [true, false] {
            for at in 0..moves.len() {
                let (priority, slot) = moves[if rises { moves.len() - 1 - at } else { at }];
                let Head::Native(locus, _) = &mut self.threads[slot].head else {
                    continue;
                };
                if !rises || locus.os_thread.priority() < priority {
                    self.native
                        .move_to(&mut locus.os_thread, priority, caller == Some(slot));
                }
            }
        }
        self.native.moves = moves;
    }

    pub(super) fn record(&mut self, slot: Slot, switch: Switch, now: Time) {
        let entry = &self.threads[slot];
        let decision = Decision {
            at: now,
            id: entry.id,
            switch,
            name: entry.name,
        };
        record(|| {
            let event = match switch {
                Switch::Resumed => Event::DistributableThreadResumed,
                Switch::Suspended => Event::DistributableThreadSuspended,
            };
            Record::new(event).detail(decision.id.0 as u64)
        });
        self.decisions.push(decision);
    }
}
