//! Everything under the dispatcher's lock: the threads, which of them run, and their resources.

mod installation;
mod limits;
mod rescheduling;
mod resources;

use std::{sync::Arc, time::Duration};

use punctual_os::Gate;
use punctual_sched::dynamic::{ParameterKind, Scheduler, Slot, Time, UserParameters};
use punctual_stub::ObjectRef;

use super::{
    decisions::{Decisions, Switch},
    head::{Head, Locus},
    installed_scheduler::InstalledScheduler,
    lane_limit::ReadyByLane,
    mechanism::Mechanism,
    native_control::NativeControl,
    resource_table::ResourceTable,
    scheduling_point::SchedulingPoint,
    settings::Settings,
    snapshot::ThreadSnapshot,
    thread_table::ThreadTable,
    wake_list::WakeList,
};
use crate::error::Interrupted;

/// State of the dispatcher.
pub(crate) struct State {
    pub(super) scheduler: InstalledScheduler,
    pub(super) threads: ThreadTable,
    pub(super) native: NativeControl,
    pub(super) resources: ResourceTable,
    pub(super) processors: usize,
    /// Threads that run; with mechanisms other than the ready queue, those that the scheduler would let run.
    running: Vec<Slot>,
    ready: ReadyByLane,
    decisions: Decisions,
    /// How long `rt-dispatch` sleeps; `None`: it is awake, or does not exist.
    pub(super) timer_until: Option<Time>,
    /// `rt-dispatch` is to end.
    pub(super) ends: bool,
}

impl State {
    pub(super) fn new(scheduler: Box<dyn Scheduler>, mechanism: Mechanism, settings: Settings) -> Self {
        let max_threads = settings.max_threads;
        let (processors, decisions) = (settings.processors, settings.decisions);
        Self {
            scheduler: InstalledScheduler::new(scheduler, max_threads),
            threads: ThreadTable::new(max_threads),
            native: NativeControl::new(mechanism, settings),
            resources: ResourceTable::new(max_threads),
            processors,
            running: Vec::with_capacity(max_threads),
            ready: ReadyByLane::new(),
            decisions: Decisions::new(decisions),
            timer_until: None,
            ends: false,
        }
    }

    /// Returns the number of distributable threads.
    pub(crate) fn thread_count(&self) -> usize {
        self.threads.len()
    }

    pub(crate) fn mechanism(&self) -> Mechanism {
        self.native.mechanism
    }

    pub(crate) fn scheduler_name(&self) -> &str {
        self.scheduler.name()
    }

    pub(crate) fn scheduler_failures(&self) -> u64 {
        self.scheduler.failures()
    }

    pub(crate) fn kind(&self) -> ParameterKind {
        self.scheduler.kind()
    }

    /// Parameters of the scheduler's own kind for a request.
    pub(crate) fn marshal(&mut self, parameters: &UserParameters, received: Duration) -> UserParameters {
        self.scheduler.marshal(parameters, received)
    }

    /// Parameters of the scheduler's own kind from a request; `None`: it refuses them.
    pub(crate) fn unmarshal(&mut self, parameters: &UserParameters) -> Option<UserParameters> {
        self.scheduler.unmarshal(parameters)
    }

    pub(crate) fn decisions(&mut self) -> &mut Decisions {
        &mut self.decisions
    }

    pub(crate) fn snapshot(&self) -> Vec<ThreadSnapshot> {
        self.threads.known().map(ThreadSnapshot::of).collect()
    }

    /// Why the activation must not continue, if so.
    pub(super) fn interruption(&mut self, point: SchedulingPoint, now: Time) -> Option<Interrupted> {
        self.threads[point.slot].locus_at(point, now).err()
    }

    /// Places the head at an activation of this host. Another activation that has the head loses it: its
    /// caller no longer waits for it.
    pub(super) fn place_head(&mut self, slot: Slot, locus: Locus, now: Time) -> WakeList {
        let mut wakes = WakeList::default();
        if let Some(other) = self.threads[slot].head.locus() {
            let (activation, handed) = (other.activation, other.handed);
            let gate = Arc::clone(&other.os_thread.gate);
            // The other one no longer waits for a resource, and does not own one that it has not seen.
            wakes.add(self.stop_waiting(slot, now));
            wakes.add(self.withdraw(slot, activation, now));
            if let Some(resource) = handed {
                wakes.add(self.release_resource(resource, slot, None, now));
            }
            wakes.push(&gate);
        }
        self.threads[slot].head = Head::Idle(locus);
        self.apply_limit(slot, None);
        wakes.add(self.rebase(slot, now));
        wakes
    }

    /// Makes an idle head ready.
    pub(super) fn admit(&mut self, slot: Slot, now: Time) -> Result<WakeList, Interrupted> {
        let head = &mut self.threads[slot].head;
        let Head::Idle(locus) = head else {
            return Ok(WakeList::default());
        };
        let parameters = self.scheduler.translate(locus.parameters(), now);
        let thread = &mut locus.os_thread;
        match self.native.mechanism {
            // A thread that was away or asleep keeps its reservation, unless its OS thread has served another
            // one meanwhile.
            Mechanism::KernelDeadline if thread.limit.is_limited() => {}
            Mechanism::KernelDeadline if !thread.has_reservation() => {
                thread.reserve(&parameters, now).map_err(Interrupted::Refused)?;
            }
            // An earlier mechanism may have changed the OS thread.
            Mechanism::ReadyQueue if !self.native.preempts() => thread.restore(),
            _ => {}
        }
        let received = head.received();
        self.ready.enter(head.level());
        match self.native.mechanism {
            Mechanism::ReadyQueue => head.set(Head::Ready),
            Mechanism::OsPriorities | Mechanism::KernelDeadline => {
                head.set(|locus| Head::Native(locus, None))
            }
        }
        self.scheduler.ready(slot, &parameters, received, now);
        self.assign_level(slot, &parameters, Some(slot));
        Ok(self.reschedule(Some(slot), now))
    }

    /// Makes the head at a scheduling point ready. Returns the gate where it has to wait for its turn;
    /// `None`: it continues.
    pub(super) fn take_turn(
        &mut self,
        point: SchedulingPoint,
        wakes: &mut WakeList,
        now: Time,
    ) -> Result<Option<Arc<Gate>>, Interrupted> {
        self.threads[point.slot].locus_at(point, now)?;
        wakes.add(self.admit(point.slot, now)?);
        Ok(self.threads[point.slot].head.park())
    }

    /// Schedules a ready head by its changed parameters. `caller`: the thread at a scheduling point.
    pub(super) fn update(
        &mut self,
        slot: Slot,
        caller: Option<Slot>,
        now: Time,
    ) -> Result<WakeList, Interrupted> {
        let head = &mut self.threads[slot].head;
        let Some(locus) = head.ready_locus() else {
            return Ok(WakeList::default());
        };
        let parameters = self.scheduler.translate(locus.parameters(), now);
        if self.native.mechanism == Mechanism::KernelDeadline && !locus.os_thread.limit.is_limited() {
            let reserved = locus.os_thread.reserve(&parameters, now);
            reserved.map_err(Interrupted::Refused)?;
        }
        let received = head.received();
        self.scheduler.update(slot, &parameters, received, now);
        self.assign_level(slot, &parameters, caller);
        Ok(self.reschedule(caller, now))
    }

    /// Makes a ready head idle: it waits here, or is about to leave.
    pub(super) fn suspend(&mut self, slot: Slot, now: Time) -> WakeList {
        let head = &mut self.threads[slot].head;
        if !head.is_ready() {
            return WakeList::default();
        }
        if let Head::Native(_, Some(level)) = head {
            self.native.levels.leave(*level);
        }
        self.ready.leave(head.level());
        head.set(Head::Idle);
        self.scheduler.remove(slot, now);
        if let Some(at) = self.running.iter().position(|running| *running == slot) {
            self.running.swap_remove(at);
            self.record(slot, Switch::Suspended, now);
        }
        if let Head::Idle(locus) = &mut self.threads[slot].head
            && locus.os_thread.is_changed()
            && self.native.preempts()
        {
            let blocked = self.native.priorities.blocked;
            self.native.set_priority(&mut locus.os_thread, blocked);
        }
        self.reschedule(None, now)
    }

    /// Lets a thread continue that has to end an operation whose deadline has passed. Where it is not its
    /// turn, it does not run above the chosen threads.
    pub(super) fn continue_late(&mut self, slot: Slot, now: Time) -> WakeList {
        // A refusal of the kernel is reported at the next scheduling point.
        let wakes = self.admit(slot, now).unwrap_or_default();
        let head = &mut self.threads[slot].head;
        if head.is_passed() {
            head.set(Head::Ready);
        }
        if let Head::Ready(locus) = head
            && self.native.preempts()
        {
            let inactive = self.native.priorities.inactive;
            self.native.set_priority(&mut locus.os_thread, inactive);
        }
        wakes
    }

    /// Takes the head away by a call to `target`.
    pub(super) fn send_head(
        &mut self,
        point: SchedulingPoint,
        target: ObjectRef,
        now: Time,
    ) -> Result<(Locus, WakeList), Interrupted> {
        self.threads[point.slot].locus_at(point, now)?;
        let wakes = self.suspend(point.slot, now);
        let entry = &mut self.threads[point.slot];
        let locus = entry.head.take().ok_or(Interrupted::Cancelled)?;
        entry.calls.push((point.activation, target));
        Ok((locus, wakes))
    }

    /// Takes the head from an activation that has it, and restores the scheduling of its OS thread.
    pub(super) fn withdraw(&mut self, slot: Slot, activation: u64, now: Time) -> WakeList {
        if self.threads[slot].locus_of(activation).is_none() {
            return WakeList::default();
        }
        let wakes = self.suspend(slot, now);
        if let Some(mut locus) = self.threads[slot].head.take() {
            locus.os_thread.restore();
        }
        wakes
    }

    /// Marks the thread as cancelled, and wakes it where it waits.
    pub(super) fn cancel(&mut self, slot: Slot) -> WakeList {
        let mut wakes = WakeList::default();
        let entry = &mut self.threads[slot];
        entry.cancelled = true;
        if let Some(locus) = entry.head.locus() {
            wakes.push(&locus.os_thread.gate);
        }
        wakes
    }

    /// Reschedules at a scheduling point without any other event: a thread that others pass, and that could
    /// not be preempted, stops here.
    pub(super) fn yield_to_others(&mut self, point: SchedulingPoint, now: Time) -> WakeList {
        let entry = &mut self.threads[point.slot];
        if entry.locus_of(point.activation).is_some() && entry.head.is_ready() && !self.native.preempts() {
            self.reschedule(Some(point.slot), now)
        } else {
            WakeList::default()
        }
    }

    /// Returns whether `rt-dispatch` sleeps for too long.
    pub(super) fn timer_is_late(&mut self) -> bool {
        let wanted = self.scheduler.reconsider_at.unwrap_or(Time::NEVER);
        let is_late = self.timer_until.is_some_and(|until| wanted < until);
        if is_late {
            self.timer_until = None;
        }
        is_late
    }
}
