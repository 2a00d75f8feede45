//! State of a host: its scheduler, processors and resources.

use alloc::{boxed::Box, vec::Vec};
use core::time::Duration;

use crate::dynamic::{Claim, ParameterKind, Scheduler, SchedulingParameters, Slot, Time, nanoseconds};

use super::{Host, HostStatistics, Resource, host_resources::HostResources, thread::Thread};

/// State of a host.
pub(super) struct HostState {
    pub(super) scheduler: Box<dyn Scheduler>,
    pub(super) processors: Vec<Processor>,
    /// Thread of each slot of the scheduler.
    pub(super) slots: Vec<Option<usize>>,
    free: Vec<Slot>,
    /// Number of ready threads.
    pub(super) ready: usize,
    pub(super) resources: HostResources,
    /// Whether the state has changed since the last decision.
    pub(super) undecided: bool,
    /// It is in the list of hosts to reschedule at the present time.
    pub(super) listed: bool,
    pub(super) reconsider_at: Option<Time>,
    /// End of the cancellation of an operation, before which no thread is dispatched.
    pub(super) cancels_until: Time,
    /// The valid alarm; others are obsolete.
    pub(super) alarm: Option<Time>,
    pub(super) statistics: HostStatistics,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Processor {
    pub(super) thread: Option<usize>,
    /// Last thread, with its generation.
    last: Option<(usize, u32)>,
    /// Time up to which its thread's processor time is accounted for.
    since: Time,
    /// End of its present scheduling work.
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

    /// Assigns a slot to a thread that becomes ready.
    pub(super) fn assign_slot(&mut self, thread: usize) -> Slot {
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

    /// Frees the slot of a thread that is no longer ready.
    pub(super) fn free_slot(&mut self, slot: Slot) {
        self.ready -= 1;
        self.slots[slot.0 as usize] = None;
        self.free.push(slot);
    }

    /// Returns the claim by which a thread is scheduled here: with its effective parameters if it uses
    /// resources, else with its own.
    pub(super) fn claim(&self, thread: &Thread<'_>, index: usize, now: Time) -> Claim {
        let kind = self.scheduler.kind();
        let mut claim = thread.segment().claim(kind, now);
        if let ParameterKind::User(_) = kind {
            let adopted = self.scheduler.adopt(&thread.segment().left(), now);
            claim.parameters = adopted.map_or(claim.parameters, SchedulingParameters::User);
        }
        if let Some(effective) = self.resources.effective(index) {
            claim.parameters = *effective;
        }
        claim
    }

    /// Accounts for the processor time of the running threads until now.
    pub(super) fn account(&mut self, threads: &mut [Thread<'_>], now: Time) {
        for processor in &mut self.processors {
            if let Some(thread) = processor.thread {
                let had = now.since(processor.since.max(processor.overhead_until));
                threads[thread].progress(nanoseconds(had));
                self.statistics.busy += had;
            }
            processor.since = now;
        }
    }

    /// Lets the scheduler choose the threads that run. Ignores slots that are not ready, duplicates, and
    /// excess choices.
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
        let mut valid = 0;
        for index in 0..chosen.len() {
            let slot = chosen[index];
            let known = slots.get(slot.0 as usize).is_some_and(Option::is_some);
            if known && valid < self.processors.len() && !chosen[..valid].contains(&slot) {
                chosen[valid] = slot;
                valid += 1;
            }
        }
        chosen.truncate(valid);
        self.statistics.decisions += 1;
    }

    /// Returns the free processor that a thread used last, or another free one.
    pub(super) fn processor_for(&self, thread: usize, generation: u32) -> Option<usize> {
        let free = |processor: &Processor| processor.thread.is_none();
        let again = |processor: &Processor| free(processor) && processor.last == Some((thread, generation));
        let processors = || self.processors.iter();
        processors()
            .position(again)
            .or_else(|| processors().position(free))
    }

    /// Gives a processor to a thread.
    pub(super) fn dispatch(
        &mut self,
        processor: usize,
        thread: usize,
        generation: u32,
        now: Time,
        costs: Duration,
    ) {
        let given = &mut self.processors[processor];
        given.thread = Some(thread);
        given.since = now;
        if given.last.replace((thread, generation)) != Some((thread, generation)) {
            self.statistics.switches += 1;
            self.add_overhead(processor, now, costs);
        }
    }

    /// Adds scheduling work to a processor; returns the end of its scheduling work.
    pub(super) fn add_overhead(&mut self, processor: usize, now: Time, time: Duration) -> Time {
        let processor = &mut self.processors[processor];
        if !time.is_zero() {
            processor.overhead_until = processor.overhead_until.max(now) + time;
            self.statistics.overhead += time;
        }
        processor.overhead_until
    }

    /// Returns the thread of a processor if its computation is done and its next step is due.
    pub(super) fn at_step(&self, processor: usize, threads: &[Thread<'_>], now: Time) -> Option<usize> {
        let processor = &self.processors[processor];
        let thread = processor.thread?;
        (threads[thread].remaining == 0 && processor.overhead_until <= now).then_some(thread)
    }

    /// Returns the time at which something happens here without an event from elsewhere.
    pub(super) fn next(&self, threads: &[Thread<'_>], now: Time) -> Option<Time> {
        let ends = self.processors.iter().filter_map(|processor| {
            let left = threads[processor.thread?].remaining;
            Some(processor.overhead_until.max(now) + Duration::from_nanos(left))
        });
        // The scheduler assumes that the threads run meanwhile: its own work is added, or it would be the
        // only work done.
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
