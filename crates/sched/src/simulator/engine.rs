use alloc::{boxed::Box, collections::BinaryHeap, vec::Vec};
use core::{cmp::Reverse, mem, time::Duration};

use crate::dynamic::{Scheduler, Slot, Time};

use super::{
    Arrival, Event, EventKind, Model, ModelError, Observer, Overrun, Shedding, Statistics, TaskStatistics, ThreadId,
    host::{HostState, nanoseconds},
    links::Links,
    random::Random,
    thread::{Frame, Parent, Segment, State, Thread},
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
/// // While the major one is away the minor one runs, and then waits for it.
/// assert_eq!(statistics.tasks[0].response.max(), Some(5_000_000_000));
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
pub struct Simulation<'m> {
    pub(super) model: &'m Model,
    seed: u64,
    pub(super) now: Time,
    queue: BinaryHeap<Reverse<(Time, u64, What)>>,
    sequence: u64,
    pub(super) hosts: Vec<HostState>,
    pub(super) links: Links,
    pub(super) threads: Vec<Thread<'m>>,
    free: Vec<usize>,
    streams: Vec<Stream>,
    /// How many threads of each task others have started.
    started: Vec<u32>,
    /// Hosts on which something happened at this time.
    listed: Vec<usize>,
    chosen: Vec<Slot>,
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

/// Arrivals of a task on a host.
#[derive(Debug)]
struct Stream {
    task: usize,
    number: u32,
    host: usize,
    jobs: u32,
    /// The nominal time of the next arrival.
    next: Time,
    random: Random,
    /// The last one's thread with its life.
    last: Option<(usize, u32)>,
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
                .map(|(host, scheduler)| HostState::new(host, scheduler))
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
            simulation.at(cancellation.at, What::Cancel { task: cancellation.task });
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
            let overdue = thread.frames[0].deadline.is_some_and(|deadline| deadline < self.now);
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

    pub(super) fn say(&self, thread: usize, kind: EventKind, observer: &mut dyn Observer) {
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
                self.say(thread, EventKind::Received, observer);
                self.ready(thread);
            }
            What::Reply { thread } => {
                let host = self.threads[thread].frame().host;
                self.threads[thread].host = host;
                self.say(thread, EventKind::Returned, observer);
                self.ready(thread);
            }
            What::Start { thread } => {
                self.say(thread, EventKind::Arrived, observer);
                self.ready(thread);
            }
            What::Answer { thread, life } => self.answered(thread, life, observer),
            What::Wake { thread, pauses } => {
                let asleep = &self.threads[thread];
                if asleep.state == State::Paused && asleep.pauses == pauses {
                    self.say(thread, EventKind::Woken, observer);
                    self.ready(thread);
                }
            }
            What::Cancel { task } => self.cancel(task, observer),
        }
    }

    fn streams_of(&mut self, task: usize) {
        let about = &self.model.tasks[task];
        let count = about.hosts.len();
        for (number, host) in about.hosts.iter().enumerate() {
            let mut random = Random::of([self.seed, task as u64, number as u64, u64::MAX]);
            let spread = about.spread.as_nanos() * number as u128 / count as u128;
            let spread = Duration::from_nanos(u64::try_from(spread).unwrap_or(u64::MAX));
            let first = match about.arrival {
                Arrival::OnDemand => continue,
                Arrival::Once { at } => at,
                Arrival::Periodic { offset, .. } => offset,
                Arrival::Sporadic { offset, most, .. } => {
                    offset + Duration::from_nanos(random.between(0, nanoseconds(most)))
                }
                Arrival::Random { offset, mean } => offset + exponential(mean, &mut random),
            };
            let next = first + spread;
            let stream = self.streams.len();
            let late = jitter(about.arrival, &mut random);
            self.streams.push(Stream {
                task,
                number: number as u32,
                host: *host,
                jobs: 0,
                next,
                random,
                last: None,
            });
            self.at(next + late, What::Arrival { stream });
        }
    }

    fn arrive(&mut self, stream: usize, observer: &mut dyn Observer) {
        let now = self.now;
        let state = &mut self.streams[stream];
        let about = &self.model.tasks[state.task];
        let nominal = state.next;
        let id = ThreadId {
            task: state.task as u32,
            stream: state.number,
            job: state.jobs,
        };
        let (host, last) = (state.host, state.last);
        state.jobs += 1;
        let next = match about.arrival {
            Arrival::OnDemand | Arrival::Once { .. } => None,
            Arrival::Periodic { period, .. } => Some(nominal + period),
            Arrival::Sporadic { least, most, .. } => {
                let gap = state.random.between(nanoseconds(least), nanoseconds(most)).max(1);
                Some(nominal + Duration::from_nanos(gap))
            }
            Arrival::Random { mean, .. } => Some(nominal + exponential(mean, &mut state.random)),
        };
        if let Some(next) = next {
            state.next = next;
            let late = jitter(about.arrival, &mut state.random);
            self.at((next + late).max(now), What::Arrival { stream });
        }
        let task = &mut self.statistics.tasks[id.task as usize];
        task.arrived += 1;
        let busy = last.is_some_and(|(thread, life)| {
            let thread = &self.threads[thread];
            thread.life == life && thread.state != State::Free
        });
        if busy && about.overrun == Overrun::Skip {
            task.skipped += 1;
            task.utility_offered += about
                .parameters
                .map_or(0, |parameters| parameters.utility.value.into());
            observer.event(Event {
                time: now,
                host: host as u32,
                thread: id,
                kind: EventKind::Skipped,
            });
            return;
        }
        let thread = self.create(id, host, nominal, None);
        self.streams[stream].last = Some((thread, self.threads[thread].life));
        self.say(thread, EventKind::Arrived, observer);
        self.ready(thread);
    }

    /// A thread of an on-demand task, which another one starts. It is there, but does not know it yet.
    pub(super) fn start(&mut self, task: usize, by: usize, here: bool, arrives: Time, reply: Option<u64>) -> usize {
        let (id, host, life) = {
            let parent = &self.threads[by];
            (parent.id, parent.host, parent.life)
        };
        let about = &self.model.tasks[task];
        let job = self.started[task];
        self.started[task] += 1;
        self.statistics.tasks[task].arrived += 1;
        let own = about.hosts[id.stream as usize % about.hosts.len()];
        let id = ThreadId {
            task: task as u32,
            job,
            ..id
        };
        let implicit = self.threads[by].segment().parameters;
        let thread = self.create(id, if here { host } else { own }, arrives, Some(implicit));
        self.threads[thread].parent = reply.map(|reply_bytes| Parent {
            thread: by,
            life,
            host,
            reply_bytes,
        });
        thread
    }

    fn create(
        &mut self,
        id: ThreadId,
        host: usize,
        arrived: Time,
        implicit: Option<super::Parameters>,
    ) -> usize {
        let about = &self.model.tasks[id.task as usize];
        let parameters = about.parameters.or(implicit).unwrap_or_default();
        self.statistics.tasks[id.task as usize].utility_offered += u64::from(parameters.utility.value);
        let place = self.free.pop().unwrap_or_else(|| {
            self.threads.push(Thread::unused());
            self.threads.len() - 1
        });
        let thread = &mut self.threads[place];
        thread.reuse(id, host, Random::of([self.seed, id.task.into(), id.stream.into(), id.job.into()]));
        thread.segments.push(Segment {
            parameters,
            from: arrived,
            received: 0,
        });
        self.begin(place, arrived);
        self.statistics.most_threads = self.statistics.most_threads.max(self.threads.len() - self.free.len());
        place
    }

    /// The thread's first frame, at its beginning.
    pub(super) fn begin(&mut self, place: usize, arrived: Time) {
        let thread = &mut self.threads[place];
        let about = &self.model.tasks[thread.id.task as usize];
        let segment = &mut thread.segments[0];
        (segment.from, segment.received) = (arrived, 0);
        thread.arrived = arrived;
        let mut frame = Frame::new(thread.host, &about.steps, 1);
        frame.deadline = segment.parameters.deadline.map(|deadline| arrived + deadline);
        frame.estimate = nanoseconds(segment.parameters.execution_time);
        thread.frames.push(frame);
    }

    /// Tells its host's scheduler that it is ready.
    pub(super) fn ready(&mut self, place: usize) {
        let host = self.threads[place].host;
        let state = &mut self.hosts[host];
        let slot = state.slot(place);
        let thread = &mut self.threads[place];
        (thread.state, thread.slot) = (State::Ready, slot);
        let claim = thread.claim(state.scheduler.kind());
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
        let claim = thread.claim(host.scheduler.kind());
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

    /// Lets the right threads of a host run until there is nothing more to do at this time.
    fn look_at(&mut self, host: usize, observer: &mut dyn Observer) {
        let now = self.now;
        self.hosts[host].count(&mut self.threads, now);
        if self.hosts[host].reconsider_at.is_some_and(|at| at <= now) {
            self.hosts[host].undecided = true;
        }
        self.finish_computations(host, observer);
        loop {
            while self.hosts[host].undecided {
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
            if let Some(depth) = self.sheds(thread) {
                self.hosts[host].overhead(processor, now, costs.cancellation);
                self.shed(thread, depth, observer);
                // Somebody else is to run instead.
                break;
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
            self.say(thread, kind, observer);
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
            self.say(thread, EventKind::Suspended, observer);
        }
    }

    /// The operation that is to be cancelled instead of being dispatched. What computes already is not at a scheduling point.
    fn sheds(&self, thread: usize) -> Option<usize> {
        let state = &self.threads[thread];
        let sheds = match self.model.shedding {
            Shedding::None => false,
            Shedding::NonCritical => !state.segment().parameters.is_critical(),
            Shedding::All => true,
        };
        if !sheds || state.remaining > 0 || state.unwinding_to.is_some() {
            return None;
        }
        state.hopeless(self.now)
    }
}

fn exponential(mean: Duration, random: &mut Random) -> Duration {
    let nanoseconds = mean.as_nanos() as f64 * random.exponential();
    Duration::from_nanos((nanoseconds as u64).max(1))
}

/// How late an arrival is.
fn jitter(arrival: Arrival, random: &mut Random) -> Duration {
    match arrival {
        Arrival::Periodic { jitter, .. } if !jitter.is_zero() => {
            Duration::from_nanos(random.between(0, nanoseconds(jitter)))
        }
        _ => Duration::ZERO,
    }
}
