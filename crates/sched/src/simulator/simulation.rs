//! The simulation: a queue of events in virtual time, and the state of hosts and threads.

mod arrivals;
mod dispatch;
mod resources;
mod steps;
mod unwinding;

use alloc::{boxed::Box, collections::BinaryHeap, vec::Vec};
use core::{cmp::Reverse, mem};

use crate::dynamic::{Scheduler, Slot, Time};

use super::{
    Event, EventKind, Model, ModelError, Observer, Statistics, TaskStatistics,
    host::HostState,
    links::Links,
    thread::{State, Thread},
    usage::Usage,
};
use arrivals::Stream;

/// A model in virtual time.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, Time};
/// use punctual::rtscheduling::simulator::{Host, Model, Parameters, Simulation, Step, Task};
///
/// let second = Duration::from_secs(1);
/// let mut model = Model { hosts: vec![Host::new("here"), Host::new("there")], ..Model::default() };
/// for (name, importance) in [("minor", 1), ("major", 2)] {
///     let compute = Step::compute(second);
///     let mut task = Task::new(name);
///     task.parameters = Some(Parameters { importance, ..Parameters::default() });
///     task.steps = vec![compute.clone(), Step::call(1, [compute.clone()]), compute];
///     model.tasks.push(task);
/// }
///
/// let mut simulation = Simulation::new(&model, 1, |_| Box::new(MostImportantFirst::new()))?;
/// let mut events = Vec::new();
/// simulation.run_until(Time(10_000_000_000), &mut events)?;
/// let statistics = simulation.finish();
/// assert_eq!(statistics.tasks[1].response.max(), Some(3_000_000_000));
/// // The minor thread computes while the major one is on the other host, and vice versa.
/// assert_eq!(statistics.tasks[0].response.max(), Some(4_000_000_000));
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
pub struct Simulation<'m> {
    model: &'m Model,
    seed: u64,
    now: Time,
    queue: BinaryHeap<Reverse<(Time, u64, Occurrence)>>,
    sequence: u64,
    hosts: Vec<HostState>,
    links: Links,
    threads: Vec<Thread<'m>>,
    free: Vec<usize>,
    streams: Vec<Stream>,
    /// Number of threads of each task that other threads have started.
    started: Vec<u32>,
    /// Hosts to reschedule at the present time.
    listed: Vec<usize>,
    chosen: Vec<Slot>,
    used: Usage,
    statistics: Statistics,
}

/// Entry of the event queue. Simultaneous ones happen in the order in which they were queued.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Occurrence {
    /// The next arrival of a stream.
    Arrival { stream: usize },
    /// A computation ends on a host, or its scheduler reconsiders.
    Alarm { host: usize },
    /// A thread's head arrives with a request.
    Request { thread: usize, host: usize },
    /// A thread's head arrives with a reply.
    Reply { thread: usize },
    /// The request that starts a thread arrives.
    Start { thread: usize },
    /// The reply to an asynchronous request arrives.
    AsyncReply { thread: usize, generation: u32 },
    /// The pause of a thread ends.
    Wake { thread: usize, pauses: u32 },
    /// A cancellation from outside.
    Cancel { task: usize },
}

impl<'m> Simulation<'m> {
    /// Creates a simulation at time 0. `scheduler` creates the scheduler of each host, given the host's index
    /// in the model.
    ///
    /// # Errors
    /// [`Model::check`].
    pub fn new(
        model: &'m Model,
        seed: u64,
        scheduler: impl FnMut(usize) -> Box<dyn Scheduler>,
    ) -> Result<Self, ModelError> {
        model.check()?;
        let schedulers = (0..model.hosts.len()).map(scheduler);
        let hosts = model.hosts.iter().zip(schedulers);
        let mut simulation = Self {
            model,
            seed,
            now: Time(0),
            queue: BinaryHeap::new(),
            sequence: 0,
            hosts: hosts
                .map(|(host, scheduler)| HostState::new(host, &model.resources, scheduler))
                .collect(),
            links: Links::of(model),
            threads: Vec::new(),
            free: Vec::new(),
            streams: Vec::new(),
            started: alloc::vec![0; model.tasks.len()],
            listed: Vec::new(),
            chosen: Vec::new(),
            used: Usage::default(),
            statistics: Statistics {
                tasks: alloc::vec![TaskStatistics::default(); model.tasks.len()],
                ..Statistics::default()
            },
        };
        for cancellation in &model.cancellations {
            let task = cancellation.task;
            simulation.queue_at(cancellation.at, Occurrence::Cancel { task });
        }
        for task in 0..model.tasks.len() {
            simulation.create_streams(task);
        }
        Ok(simulation)
    }

    /// Returns the virtual time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Runs the simulation up to and including the time `until`.
    ///
    /// # Errors
    /// A limit of the model was reached: the number, the limit and the time. The simulation stops there.
    pub fn run_until(&mut self, until: Time, observer: &mut dyn Observer) -> Result<(), ModelError> {
        while let Some(Reverse((time, ..))) = self.queue.peek() {
            if *time > until {
                break;
            }
            self.now = *time;
            // All simultaneous occurrences are handled before any host is rescheduled.
            while !self.is_exceeded()
                && let Some(Reverse((_, _, occurrence))) = self.pop_due()
            {
                self.statistics.events += 1;
                self.count();
                self.handle(occurrence, observer);
            }
            let mut listed = mem::take(&mut self.listed);
            for host in listed.drain(..) {
                self.hosts[host].listed = false;
                self.reschedule(host, observer);
            }
            // Hosts affect one another only by messages, which are queued.
            listed.append(&mut self.listed);
            self.listed = listed;
            if let Some(error) = &self.used.exceeded {
                return Err(error.clone());
            }
        }
        self.now = self.now.max(until);
        for host in &mut self.hosts {
            host.account(&mut self.threads, self.now);
        }
        Ok(())
    }

    /// Returns whether a limit was reached, so that nothing more happens.
    fn is_exceeded(&self) -> bool {
        self.used.exceeded.is_some()
    }

    /// Counts an occurrence, a decision or a step.
    fn count(&mut self) {
        self.used.event(&self.model.limits, self.now);
    }

    /// Ends the simulation and returns its statistics.
    pub fn finish(mut self) -> Statistics {
        for thread in self.threads.iter().filter(|thread| thread.state != State::Free) {
            let task = &mut self.statistics.tasks[thread.id.task as usize];
            let overdue = thread.frames[0]
                .deadline
                .is_some_and(|deadline| deadline < self.now);
            if overdue {
                task.overdue += 1;
                task.dispatched_and_missed += u64::from(thread.attempt.dispatched);
            } else {
                task.unfinished += 1;
                // Utility that it would accrue later is not offered within the simulated time.
                let worth = thread.segments.first().map(|own| own.parameters.utility.value);
                task.utility_offered = task.utility_offered.saturating_sub(worth.unwrap_or(0).into());
            }
            task.processor_time += thread.processor_time();
        }
        self.statistics.hosts = self.hosts.iter().map(|host| host.statistics).collect();
        self.statistics.until = self.now;
        self.statistics
    }

    fn queue_at(&mut self, time: Time, occurrence: Occurrence) {
        self.sequence += 1;
        self.queue.push(Reverse((time, self.sequence, occurrence)));
        self.used.pending(&self.model.limits, self.queue.len(), self.now);
    }

    fn pop_due(&mut self) -> Option<Reverse<(Time, u64, Occurrence)>> {
        let Reverse((time, ..)) = self.queue.peek()?;
        if *time > self.now {
            return None;
        }
        self.queue.pop()
    }

    /// Lists a host to be rescheduled at the present time.
    fn list(&mut self, host: usize) {
        if !mem::replace(&mut self.hosts[host].listed, true) {
            self.listed.push(host);
        }
    }

    fn report(&self, thread: usize, kind: EventKind, observer: &mut dyn Observer) {
        let thread = &self.threads[thread];
        observer.event(Event {
            time: self.now,
            host: thread.host as u32,
            thread: thread.id,
            kind,
        });
    }

    fn handle(&mut self, occurrence: Occurrence, observer: &mut dyn Observer) {
        match occurrence {
            Occurrence::Arrival { stream } => self.arrive(stream, observer),
            Occurrence::Alarm { host } => {
                if self.hosts[host].alarm == Some(self.now) {
                    self.hosts[host].alarm = None;
                    self.list(host);
                }
            }
            Occurrence::Request { thread, host } => {
                self.threads[thread].host = host;
                self.report(thread, EventKind::Received, observer);
                self.arrive_on_host(thread, observer);
            }
            Occurrence::Reply { thread } => {
                let host = self.threads[thread].frame().host;
                self.threads[thread].host = host;
                self.report(thread, EventKind::Returned, observer);
                self.arrive_on_host(thread, observer);
            }
            Occurrence::Start { thread } => {
                self.report(thread, EventKind::Arrived, observer);
                self.make_ready(thread);
            }
            Occurrence::AsyncReply { thread, generation } => {
                self.receive_async_reply(thread, generation, observer);
            }
            Occurrence::Wake { thread, pauses } => {
                let asleep = &self.threads[thread];
                if asleep.state == State::Paused && asleep.pauses == pauses {
                    self.report(thread, EventKind::Woken, observer);
                    self.make_ready(thread);
                }
            }
            Occurrence::Cancel { task } => self.cancel(task, observer),
        }
    }

    /// Continues a thread whose head has arrived with a message, in another segment.
    fn arrive_on_host(&mut self, thread: usize, observer: &mut dyn Observer) {
        self.rebase(thread, observer);
        self.make_ready(thread);
    }

    /// Reports a thread to its host's scheduler as ready.
    fn make_ready(&mut self, index: usize) {
        let host = self.threads[index].host;
        let state = &mut self.hosts[host];
        let slot = state.assign_slot(index);
        let thread = &mut self.threads[index];
        (thread.state, thread.slot) = (State::Ready, slot);
        let claim = state.claim(thread, index, self.now);
        state
            .scheduler
            .ready(slot, &claim.parameters, claim.received, self.now);
        state.undecided = true;
        self.list(host);
    }

    /// Reports a thread to its host's scheduler as no longer ready, and takes away its processor.
    fn make_unready(&mut self, index: usize, state: State) {
        let thread = &mut self.threads[index];
        let host = &mut self.hosts[thread.host];
        debug_assert_eq!(thread.state, State::Ready);
        host.scheduler.remove(thread.slot, self.now);
        host.free_slot(thread.slot);
        host.undecided = true;
        if let Some(processor) = thread.processor.take() {
            host.processors[processor].thread = None;
        }
        thread.state = state;
    }

    /// Reports changed parameters of a thread to its host's scheduler if it is ready: a scheduling point.
    fn update(&mut self, index: usize) {
        let thread = &self.threads[index];
        if thread.state != State::Ready {
            return;
        }
        let host = &mut self.hosts[thread.host];
        let claim = host.claim(thread, index, self.now);
        host.scheduler
            .update(thread.slot, &claim.parameters, claim.received, self.now);
        host.undecided = true;
        let host = thread.host;
        self.list(host);
    }

    /// Frees the record of a thread that has ended.
    fn free(&mut self, index: usize) {
        let thread = &mut self.threads[index];
        self.statistics.tasks[thread.id.task as usize].processor_time += thread.processor_time();
        thread.state = State::Free;
        thread.frames.clear();
        thread.segments.clear();
        self.free.push(index);
    }
}
