use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use punctual_sched::dynamic::{ParameterKind, Scheduler, SchedulingParameters, Slot, Time};

use super::entry::Entry;
use crate::notice;

/// The scheduler in force, and what stands in for it when it fails.
///
/// It is code of somebody else's under our lock: a panic, or an answer that names threads which are not ready, names one twice, names
/// too many, or names none although nothing would ever change that, makes first come, first served take over.
pub(super) struct Choice {
    scheduler: Box<dyn Scheduler>,
    /// What failed; dropped where a scheduler is installed.
    failed: Option<Box<dyn Scheduler>>,
    kind: ParameterKind,
    /// How often a scheduler has failed.
    pub(super) failures: u64,
    /// Those to run, the most eligible first.
    pub(super) chosen: Vec<Slot>,
    /// When to choose again although nothing happens.
    pub(super) reconsider_at: Option<Time>,
    room: usize,
}

impl Choice {
    pub(super) fn new(scheduler: Box<dyn Scheduler>, room: usize) -> Self {
        let mut choice = Self {
            kind: scheduler.kind(),
            scheduler,
            failed: None,
            failures: 0,
            chosen: Vec::with_capacity(room),
            reconsider_at: None,
            room,
        };
        choice.scheduler.reserve(room);
        choice
    }

    /// The parameters it takes; those of the scheduler that was installed, also where it has failed.
    pub(super) fn kind(&self) -> ParameterKind {
        self.kind
    }

    pub(super) fn name(&self) -> &str {
        self.scheduler.name()
    }

    pub(super) fn ready(
        &mut self,
        entries: &[Entry],
        slot: Slot,
        parameters: &SchedulingParameters,
        received: Duration,
        now: Time,
    ) {
        self.guarded(entries, now, |scheduler| {
            scheduler.ready(slot, parameters, received, now);
        });
    }

    pub(super) fn update(
        &mut self,
        entries: &[Entry],
        slot: Slot,
        parameters: &SchedulingParameters,
        received: Duration,
        now: Time,
    ) {
        self.guarded(entries, now, |scheduler| {
            scheduler.update(slot, parameters, received, now);
        });
    }

    pub(super) fn remove(&mut self, entries: &[Entry], slot: Slot, now: Time) {
        self.guarded(entries, now, |scheduler| scheduler.remove(slot, now));
    }

    pub(super) fn fixed_eligibility(
        &mut self,
        entries: &[Entry],
        parameters: &SchedulingParameters,
        now: Time,
    ) -> Option<i64> {
        self.guarded(entries, now, |scheduler| scheduler.fixed_eligibility(parameters))
            .flatten()
    }

    /// Chooses, and checks the choice.
    pub(super) fn choose(&mut self, entries: &[Entry], ready: usize, processors: usize, now: Time) {
        let received = |slot: Slot| {
            let head = entries.get(slot.0 as usize).and_then(Entry::head);
            head.map_or(Duration::ZERO, super::entry::Head::received)
        };
        let mut chosen = std::mem::take(&mut self.chosen);
        chosen.clear();
        let reconsider_at = self.guarded(entries, now, |scheduler| {
            scheduler.choose(processors, now, &received, &mut chosen);
            scheduler.reconsider_at(now)
        });
        let sensible = reconsider_at
            .is_some_and(|again| is_sensible(&chosen, entries, ready, processors, again.is_some()));
        if sensible {
            self.reconsider_at = reconsider_at.flatten();
        } else {
            if reconsider_at.is_some() {
                self.fall_back(entries, now);
            }
            chosen.clear();
            self.scheduler.choose(processors, now, &received, &mut chosen);
            self.reconsider_at = None;
        }
        self.chosen = chosen;
    }

    /// Calls the scheduler; where it panics, it is replaced, and the one that takes over has been told everything.
    fn guarded<R>(
        &mut self,
        entries: &[Entry],
        now: Time,
        call: impl FnOnce(&mut dyn Scheduler) -> R,
    ) -> Option<R> {
        let scheduler = &mut *self.scheduler;
        let outcome = catch_unwind(AssertUnwindSafe(|| call(scheduler)));
        if outcome.is_err() {
            self.fall_back(entries, now);
        }
        outcome.ok()
    }

    #[cold]
    fn fall_back(&mut self, entries: &[Entry], now: Time) {
        self.failures += 1;
        notice::SCHEDULER_FAILED.say();
        let mut first_come = FirstComeFirstServed::new(self.kind, self.room);
        for (number, entry) in entries.iter().enumerate() {
            if entry.is_ready() {
                first_come.push(Slot(number as u32));
            }
        }
        let _ = now;
        let failed = std::mem::replace(&mut self.scheduler, Box::new(first_come));
        // It is not dropped here: that is code of its own, too, and this is no place for another panic.
        if let Some(before) = self.failed.replace(failed) {
            std::mem::forget(before);
        }
    }
}

impl Drop for Choice {
    fn drop(&mut self) {
        let failed = self.failed.take();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(failed)));
    }
}

fn is_sensible(
    chosen: &[Slot],
    entries: &[Entry],
    ready: usize,
    processors: usize,
    comes_again: bool,
) -> bool {
    if chosen.len() > processors || (chosen.is_empty() && ready > 0 && !comes_again) {
        return false;
    }
    let all_ready = chosen
        .iter()
        .all(|slot| entries.get(slot.0 as usize).is_some_and(Entry::is_ready));
    let none_twice = (1..chosen.len()).all(|at| !chosen[..at].contains(&chosen[at]));
    all_ready && none_twice
}

/// What takes over from a scheduler that has failed.
struct FirstComeFirstServed {
    kind: ParameterKind,
    ready: VecDeque<Slot>,
}

impl FirstComeFirstServed {
    fn new(kind: ParameterKind, room: usize) -> Self {
        Self {
            kind,
            ready: VecDeque::with_capacity(room),
        }
    }

    fn push(&mut self, thread: Slot) {
        if !self.ready.contains(&thread) {
            self.ready.push_back(thread);
        }
    }
}

impl Scheduler for FirstComeFirstServed {
    fn name(&self) -> &str {
        "FIFO"
    }

    fn kind(&self) -> ParameterKind {
        self.kind
    }

    fn reserve(&mut self, threads: usize) {
        self.ready.reserve(threads);
    }

    fn ready(&mut self, thread: Slot, _: &SchedulingParameters, _: Duration, _: Time) {
        self.push(thread);
    }

    fn update(&mut self, _: Slot, _: &SchedulingParameters, _: Duration, _: Time) {}

    fn remove(&mut self, thread: Slot, _: Time) {
        self.ready.retain(|ready| *ready != thread);
    }

    fn choose(&mut self, processors: usize, _: Time, _: &dyn Fn(Slot) -> Duration, chosen: &mut Vec<Slot>) {
        chosen.extend(self.ready.iter().take(processors));
    }

    fn fixed_eligibility(&self, _: &SchedulingParameters) -> Option<i64> {
        Some(0)
    }
}
