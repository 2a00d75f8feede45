use alloc::{boxed::Box, vec::Vec};
use core::time::Duration;

use crate::dynamic::{Claim, Scheduler, Slot, Time};

use super::{Host, HostStatistics, Resource, resources::HostResources, thread::Thread};

/// An endsystem at work.
pub(super) struct HostState {
    pub(super) scheduler: Box<dyn Scheduler>,
    pub(super) processors: Vec<Processor>,
    /// The thread of each slot of the scheduler.
    pub(super) slots: Vec<Option<usize>>,
    free: Vec<Slot>,
    pub(super) ready: usize,
    pub(super) resources: HostResources,
    /// Something has changed that the scheduler decides by.
    pub(super) undecided: bool,
    /// It is in the list of hosts that something happened on.
    pub(super) listed: bool,
    pub(super) reconsider_at: Option<Time>,
    /// Until when an operation is being cancelled, so that nobody is dispatched.
    pub(super) cancels_until: Time,
    /// The alarm that counts; others are late.
    pub(super) alarm: Option<Time>,
    pub(super) statistics: HostStatistics,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Processor {
    pub(super) thread: Option<usize>,
    /// Who ran last, with its life.
    last: Option<(usize, u32)>,
    /// Up to when its thread's time has been counted.
    since: Time,
    /// Until when it is busy with scheduling.
    overhead_until: Time,
}

impl HostState {
    pub(super) fn new(host: &Host, resources: &[Resource], scheduler: Box<dyn Scheduler>) -> Self {
        Self {
            scheduler,
            processors: (0..host.processors).map(|_| Processor::default()).collect(),
            slots: Vec::new(),
            free: Vec::new(),
            ready: 0,
            resources: HostResources::new(resources.iter().map(|resource| resource.protocol)),
            undecided: false,
            listed: false,
            reconsider_at: None,
            cancels_until: Time(0),
            alarm: None,
            statistics: HostStatistics::default(),
        }
    }

    /// A number for a thread that gets ready.
    pub(super) fn slot(&mut self, thread: usize) -> Slot {
        self.ready += 1;
        if let Some(slot) = self.free.pop() {
            self.slots[slot.0 as usize] = Some(thread);
            return slot;
        }
        let slot = Slot(u32::try_from(self.slots.len()).expect("fewer than 2^32 threads fit into memory"));
        if self.slots.len() == self.slots.capacity() {
            self.slots.reserve(self.slots.len().max(4));
            self.scheduler.reserve(self.slots.capacity());
        }
        self.slots.push(Some(thread));
        slot
    }

    pub(super) fn free(&mut self, slot: Slot) {
        self.ready -= 1;
        self.slots[slot.0 as usize] = None;
        self.free.push(slot);
    }

    /// Returns what a thread here is scheduled by: its effective parameters if it uses resources, else its own.
    pub(super) fn claim(&self, thread: &Thread<'_>, place: usize, now: Time) -> Claim {
        let mut claim = thread.segment().claim(self.scheduler.kind(), now);
        if let Some(effective) = self.resources.effective(place) {
            claim.parameters = *effective;
        }
        claim
    }

    /// Counts what the running threads have had until now.
    pub(super) fn count(&mut self, threads: &mut [Thread<'_>], now: Time) {
        for processor in &mut self.processors {
            if let Some(thread) = processor.thread {
                let had = now.since(processor.since.max(processor.overhead_until));
                threads[thread].progress(nanoseconds(had));
                self.statistics.busy += had;
            }
            processor.since = now;
        }
    }

    /// Asks who is to run. What a scheduler names that is not ready, or names twice, or too many, is left out.
    pub(super) fn decide(&mut self, threads: &[Thread<'_>], now: Time, chosen: &mut Vec<Slot>) {
        chosen.clear();
        let slots = &self.slots;
        let received = |slot: Slot| {
            let thread = slots.get(slot.0 as usize).copied().flatten();
            thread.map_or(Duration::ZERO, |thread| {
                Duration::from_nanos(threads[thread].segment().received)
            })
        };
        self.scheduler
            .choose(self.processors.len(), now, &received, chosen);
        let mut seen = 0;
        for place in 0..chosen.len() {
            let slot = chosen[place];
            let known = slots.get(slot.0 as usize).is_some_and(Option::is_some);
            if known && seen < self.processors.len() && !chosen[..seen].contains(&slot) {
                chosen[seen] = slot;
                seen += 1;
            }
        }
        chosen.truncate(seen);
        self.statistics.decisions += 1;
    }

    /// The free processor that a thread had last, or another one.
    pub(super) fn processor_for(&self, thread: usize, life: u32) -> Option<usize> {
        let free = |processor: &Processor| processor.thread.is_none();
        let again = |processor: &Processor| free(processor) && processor.last == Some((thread, life));
        let places = || self.processors.iter();
        places().position(again).or_else(|| places().position(free))
    }

    /// Lets a thread run.
    pub(super) fn dispatch(
        &mut self,
        processor: usize,
        thread: usize,
        life: u32,
        now: Time,
        costs: Duration,
    ) {
        let place = &mut self.processors[processor];
        place.thread = Some(thread);
        place.since = now;
        if place.last.replace((thread, life)) != Some((thread, life)) {
            self.statistics.switches += 1;
            self.overhead(processor, now, costs);
        }
    }

    /// A processor has to do so much for the scheduling before anything else. Says until when.
    pub(super) fn overhead(&mut self, processor: usize, now: Time, time: Duration) -> Time {
        let place = &mut self.processors[processor];
        if !time.is_zero() {
            place.overhead_until = place.overhead_until.max(now) + time;
            self.statistics.overhead += time;
        }
        place.overhead_until
    }

    /// The thread of a processor, if it has nothing to compute: it is about to do its next step.
    pub(super) fn at_step(&self, processor: usize, threads: &[Thread<'_>], now: Time) -> Option<usize> {
        let processor = &self.processors[processor];
        let thread = processor.thread?;
        (threads[thread].remaining == 0 && processor.overhead_until <= now).then_some(thread)
    }

    /// When something happens here if nothing comes from elsewhere.
    pub(super) fn next(&self, threads: &[Thread<'_>], now: Time) -> Option<Time> {
        let ends = self.processors.iter().filter_map(|processor| {
            let left = threads[processor.thread?].remaining;
            Some(processor.overhead_until.max(now) + Duration::from_nanos(left))
        });
        // It counts on the threads running meanwhile: what scheduling takes comes on top, or would be all that happens.
        let delays = self
            .processors
            .iter()
            .filter(|processor| processor.thread.is_some());
        let delays = delays.map(|processor| processor.overhead_until.since(now));
        let delay = delays.max().unwrap_or_default();
        let reconsidered = self
            .reconsider_at
            .map(|at| at.max(now + Duration::from_nanos(1)) + delay);
        let reconsidered = reconsidered.filter(|at| self.ready > 0 && *at != Time::NEVER);
        let cancelled = (self.undecided && self.cancels_until > now).then_some(self.cancels_until);
        ends.chain(reconsidered).chain(cancelled).min()
    }
}

pub(super) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
