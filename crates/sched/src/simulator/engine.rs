use alloc::{boxed::Box, collections::BinaryHeap, vec::Vec};
use core::{cmp::Reverse, mem, time::Duration};

use crate::dynamic::{Scheduler, Slot, Time};

use super::{
    Event, EventKind, Model, ModelError, Observer, Statistics, TaskStatistics,
    arrivals::Stream,
    host::HostState,
    links::Links,
    thread::{State, Thread},
};

/// A model in virtual time.
///
/// ```
/// use core::time::Duration;
/// use punctual_sched::dynamic::{MostImportantFirst, Time};
/// use punctual_sched::simulator::{Host, Model, Parameters, Simulation, Step, Task};
///
/// let second = Duration::from_secs(1);
/// let mut model = Model { hosts: vec![Host::new("here"), Host::new("there")], ..Model::default() };
/// for (name, importance) in [("minor", 1), ("major", 2)] {
///     let mut task = Task::new(name);
///     task.parameters = Some(Parameters { importance, ..Parameters::default() });
///     task.steps = vec![Step::compute(second), Step::call(1, [Step::compute(second)]), Step::compute(second)];
///     model.tasks.push(task);
/// }
///
/// let mut simulation = Simulation::new(&model, 1, |_| Box::new(MostImportantFirst::new()))?;
/// let mut events = Vec::new();
/// simulation.run_until(Time(10_000_000_000), &mut events);
/// let statistics = simulation.finish();
/// assert_eq!(statistics.tasks[1].response.max(), Some(3_000_000_000));
/// // The minor one runs while the major one is away, and is away while that runs again.
/// assert_eq!(statistics.tasks[0].response.max(), Some(4_000_000_000));
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
pub struct Simulation<'m> {
    pub(super) model: &'m Model,
    pub(super) seed: u64,
    pub(super) now: Time,
    queue: BinaryHeap<Reverse<(Time, u64, What)>>,
    sequence: u64,
    pub(super) hosts: Vec<HostState>,
    pub(super) links: Links,
    pub(super) threads: Vec<Thread<'m>>,
    pub(super) free: Vec<usize>,
    pub(super) streams: Vec<Stream>,
    /// How many threads of each task others have started.
    pub(super) started: Vec<u32>,
    /// Hosts on which something happened at this time.
    listed: Vec<usize>,
    pub(super) chosen: Vec<Slot>,
    pub(super) statistics: Statistics,
}

/// What happens at a time. Of what happens at the same time, what was known first comes first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum What {
    /// The next one of a stream.
    Arrival { stream: usize },
    /// A host is to look again.
    Alarm { host: usize },
    /// A thread's head arrives with a request.
    Request { thread: usize, host: usize },
    /// Or with a reply.
    Reply { thread: usize },
    /// A thread that a message starts.
    Start { thread: usize },
    /// The reply to an asynchronous call.
    Answer { thread: usize, life: u32 },
    /// A thread has slept long enough.
    Wake { thread: usize, pauses: u32 },
    /// Somebody outside cancels.
    Cancel { task: usize },
}

impl<'m> Simulation<'m> {
    /// A model before anything has happened in it. `scheduler` makes each host's, which is named by its place in the model.
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
        let mut simulation = Self {
            model,
            seed,
            now: Time(0),
            queue: BinaryHeap::new(),
            sequence: 0,
            hosts: model
                .hosts
                .iter()
                .zip(schedulers)
                .map(|(host, scheduler)| HostState::new(host, &model.resources, scheduler))
                .collect(),
            links: Links::of(model),
            threads: Vec::new(),
            free: Vec::new(),
            streams: Vec::new(),
            started: alloc::vec![0; model.tasks.len()],
            listed: Vec::new(),
            chosen: Vec::new(),
            statistics: Statistics {
                tasks: alloc::vec![TaskStatistics::default(); model.tasks.len()],
                ..Statistics::default()
            },
        };
        for cancellation in &model.cancellations {
            simulation.at(
                cancellation.at,
                What::Cancel {
                    task: cancellation.task,
                },
            );
        }
        for task in 0..model.tasks.len() {
            simulation.streams_of(task);
        }
        Ok(simulation)
    }

    /// The virtual time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Lets happen what happens until then, that moment included.
    pub fn run_until(&mut self, until: Time, observer: &mut dyn Observer) {
        while let Some(Reverse((time, ..))) = self.queue.peek() {
            if *time > until {
                break;
            }
            self.now = *time;
            // Everything of one time happens before anybody is dispatched; that may make more of the same time.
            while let Some(Reverse((_, _, what))) = self.pop_now() {
                self.statistics.events += 1;
                self.happen(what, observer);
            }
            let mut listed = mem::take(&mut self.listed);
            for host in listed.drain(..) {
                self.hosts[host].listed = false;
                self.look_at(host, observer);
            }
            // Looking at one host lists others only for what travels, and that comes through the queue.
            listed.append(&mut self.listed);
            self.listed = listed;
        }
        self.now = self.now.max(until);
        for host in &mut self.hosts {
            host.count(&mut self.threads, self.now);
        }
    }

    /// What came of it until now.
    pub fn finish(mut self) -> Statistics {
        for thread in self.threads.iter().filter(|thread| thread.state != State::Free) {
            let task = &mut self.statistics.tasks[thread.id.task as usize];
            let overdue = thread.frames[0]
                .deadline
                .is_some_and(|deadline| deadline < self.now);
            if overdue {
                task.overdue += 1;
                task.dispatched_and_missed += u64::from(thread.dispatched);
            } else {
                task.unfinished += 1;
            }
            let had: u64 = thread.frames.iter().map(|frame| frame.received).sum();
            task.processor_time += Duration::from_nanos(had);
        }
        self.statistics.hosts = self.hosts.iter().map(|host| host.statistics).collect();
        self.statistics.until = self.now;
        self.statistics
    }

    pub(super) fn at(&mut self, time: Time, what: What) {
        self.sequence += 1;
        self.queue.push(Reverse((time, self.sequence, what)));
    }

    fn pop_now(&mut self) -> Option<Reverse<(Time, u64, What)>> {
        let Reverse((time, ..)) = self.queue.peek()?;
        if *time > self.now {
            return None;
        }
        self.queue.pop()
    }

    pub(super) fn list(&mut self, host: usize) {
        if !mem::replace(&mut self.hosts[host].listed, true) {
            self.listed.push(host);
        }
    }

    pub(super) fn report(&self, thread: usize, kind: EventKind, observer: &mut dyn Observer) {
        let thread = &self.threads[thread];
        observer.event(Event {
            time: self.now,
            host: thread.host as u32,
            thread: thread.id,
            kind,
        });
    }

    fn happen(&mut self, what: What, observer: &mut dyn Observer) {
        match what {
            What::Arrival { stream } => self.arrive(stream, observer),
            What::Alarm { host } => {
                if self.hosts[host].alarm == Some(self.now) {
                    self.hosts[host].alarm = None;
                    self.list(host);
                }
            }
            What::Request { thread, host } => {
                self.threads[thread].host = host;
                self.report(thread, EventKind::Received, observer);
                self.arrived(thread, observer);
            }
            What::Reply { thread } => {
                let host = self.threads[thread].frame().host;
                self.threads[thread].host = host;
                self.report(thread, EventKind::Returned, observer);
                self.arrived(thread, observer);
            }
            What::Start { thread } => {
                self.report(thread, EventKind::Arrived, observer);
                self.ready(thread);
            }
            What::Answer { thread, life } => self.answered(thread, life, observer),
            What::Wake { thread, pauses } => {
                let asleep = &self.threads[thread];
                if asleep.state == State::Paused && asleep.pauses == pauses {
                    self.report(thread, EventKind::Woken, observer);
                    self.ready(thread);
                }
            }
            What::Cancel { task } => self.cancel(task, observer),
        }
    }

    /// Its head is on another host than before, where it is in another segment.
    fn arrived(&mut self, thread: usize, observer: &mut dyn Observer) {
        self.rebase(thread, observer);
        self.ready(thread);
    }

    /// Tells its host's scheduler that it is ready.
    pub(super) fn ready(&mut self, place: usize) {
        let host = self.threads[place].host;
        let state = &mut self.hosts[host];
        let slot = state.slot(place);
        let thread = &mut self.threads[place];
        (thread.state, thread.slot) = (State::Ready, slot);
        let claim = state.claim(thread, place, self.now);
        state
            .scheduler
            .ready(slot, &claim.parameters, claim.received, self.now);
        state.undecided = true;
        self.list(host);
    }

    /// Tells its host's scheduler that it is not ready any more, and takes its processor.
    pub(super) fn leave(&mut self, place: usize, state: State) {
        let thread = &mut self.threads[place];
        let host = &mut self.hosts[thread.host];
        debug_assert_eq!(thread.state, State::Ready);
        host.scheduler.remove(thread.slot, self.now);
        host.free(thread.slot);
        host.undecided = true;
        if let Some(processor) = thread.processor.take() {
            host.processors[processor].thread = None;
        }
        thread.state = state;
    }

    /// Its parameters are others: a scheduling point.
    pub(super) fn update(&mut self, place: usize) {
        let thread = &self.threads[place];
        if thread.state != State::Ready {
            return;
        }
        let host = &mut self.hosts[thread.host];
        let claim = host.claim(thread, place, self.now);
        host.scheduler
            .update(thread.slot, &claim.parameters, claim.received, self.now);
        host.undecided = true;
        let host = thread.host;
        self.list(host);
    }

    pub(super) fn release(&mut self, place: usize) {
        let thread = &mut self.threads[place];
        let had: u64 = thread.frames.iter().map(|frame| frame.received).sum();
        self.statistics.tasks[thread.id.task as usize].processor_time += Duration::from_nanos(had);
        thread.state = State::Free;
        thread.frames.clear();
        thread.segments.clear();
        self.free.push(place);
    }
}
