//! Limits on claims: threads of lower lanes do not delay those of higher ones.

use std::mem;

use punctual_sched::dynamic::{Slot, Time, resource::ResourceId};

use super::State;
use crate::dispatcher::{
    head::Head,
    lane_limit::{LaneLevel, LaneLimit},
    wake_list::WakeList,
};

impl State {
    /// Adds the threads that would wait for threads of lower lanes to those that the scheduler has chosen:
    /// the kernel's priorities order them. Takes O(chosen threads + lanes) unless there is such a thread.
    pub(super) fn let_higher_lanes_run(&mut self, now: Time) {
        let level = |slot: &Slot| self.threads[*slot].head.level();
        let chosen = &self.scheduler.chosen;
        let Some(lowest) = chosen.iter().map(level).min() else {
            return;
        };
        if lowest == LaneLevel::HIGHEST {
            return;
        }
        let higher = chosen.iter().filter(|slot| level(slot) > lowest).count();
        if self.ready.above(lowest) > higher {
            self.choose_by_lane(now);
        }
    }

    /// Chooses each thread that fewer threads of the same or a higher lane precede than there are processors.
    /// Takes O(ready threads) steps.
    #[cold]
    fn choose_by_lane(&mut self, now: Time) {
        self.scheduler.choose(&self.threads, self.ready.total(), now);
        let mut by_lane = mem::take(&mut self.scheduler.by_lane);
        by_lane.clear();
        for slot in &self.scheduler.chosen {
            if self.runs_beside(*slot, &by_lane) {
                by_lane.push(*slot);
            }
        }
        // The scheduler has to know its own choice, and when it changes.
        self.scheduler.choose(&self.threads, self.processors, now);
        self.scheduler.by_lane = mem::replace(&mut self.scheduler.chosen, by_lane);
    }

    /// Returns whether a processor is left for the thread beside these, as far as they are not of lower
    /// lanes.
    pub(super) fn runs_beside(&self, slot: Slot, others: &[Slot]) -> bool {
        let level = |slot: Slot| self.threads[slot].head.level();
        let own = level(slot);
        let ahead = others.iter().filter(|other| level(**other) >= own);
        ahead.count() < self.processors
    }

    /// Lends the limit of a waiter to the owners along its chain of waits.
    pub(super) fn lend_limit(&mut self, waiter: Slot) {
        let Some(limit) = self.limit(waiter) else {
            return;
        };
        let mut waiter = waiter;
        while let Some(resource) = self.resources.resources.waits_for(waiter)
            && let Some(owner) = self.resources.resources.owner(resource)
        {
            self.raise_limit(owner, limit);
            waiter = owner;
        }
    }

    /// Gives the new owner of a resource the highest limit of the threads that still wait for it.
    pub(super) fn inherit_limit(&mut self, owner: Slot, resource: ResourceId) {
        let waiters = self.resources.resources.waiters(resource);
        let limits = waiters.filter_map(|waiter| self.limit(waiter));
        if let Some(limit) = limits.reduce(LaneLimit::or_higher) {
            self.raise_limit(owner, limit);
        }
    }

    /// Takes the limit that others have lent from a thread that neither owns nor waits for a resource.
    pub(super) fn return_limit(&mut self, slot: Slot, caller: Option<Slot>, now: Time) -> WakeList {
        let entry = &mut self.threads[slot];
        if self.resources.effective(slot).is_some() || entry.lent_limit.take().is_none() {
            return WakeList::default();
        }
        self.apply_limit(slot, caller);
        self.reschedule(caller, now)
    }

    fn limit(&self, slot: Slot) -> Option<LaneLimit> {
        let locus = self.threads[slot].head.locus()?;
        Some(locus.os_thread.limit)
    }

    fn raise_limit(&mut self, slot: Slot, limit: LaneLimit) {
        let lent = &mut self.threads[slot].lent_limit;
        *lent = Some(lent.map_or(limit, |lent| lent.or_higher(limit)));
        self.apply_limit(slot, None);
    }

    /// Applies the thread's own limit, and the one lent to it. `caller`: the thread at a scheduling point.
    pub(super) fn apply_limit(&mut self, slot: Slot, caller: Option<Slot>) {
        let entry = &mut self.threads[slot];
        let (lent, is_ready) = (entry.lent_limit, entry.head.is_ready());
        let Some(locus) = entry.head.locus_mut() else {
            return;
        };
        let limit = lent.map_or(locus.limit, |lent| locus.limit.or_higher(lent));
        let before = mem::replace(&mut locus.os_thread.limit, limit);
        if !is_ready || before.level == limit.level {
            return;
        }
        self.ready.leave(before.level);
        self.ready.enter(limit.level);
        let priorities = &self.native.priorities;
        let (locus, priority) = match &mut entry.head {
            Head::Running(locus) if self.native.preempts() => (locus, priorities.active),
            Head::Ready(locus) if self.native.preempts() => (locus, priorities.inactive),
            Head::Native(locus, Some(level)) => (locus, self.native.levels.native(*level)),
            _ => return,
        };
        let is_caller = caller == Some(slot);
        self.native.move_to(&mut locus.os_thread, priority, is_caller);
    }
}
