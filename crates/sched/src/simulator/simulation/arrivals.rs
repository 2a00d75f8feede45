//! Arrivals: creation of threads.

use core::time::Duration;

use crate::dynamic::{Time, nanoseconds};

use super::{
    super::{
        Arrival, Event, EventKind, Observer, Overrun, Parameters, ThreadId,
        random::Random,
        thread::{Frame, Parent, Segment, State, Thread},
    },
    Occurrence, Simulation,
};

/// A stream of arrivals of a task on a host.
#[derive(Debug)]
pub(super) struct Stream {
    task: usize,
    number: u32,
    host: usize,
    jobs: u32,
    /// Nominal time of the next arrival, without jitter.
    next: Time,
    random: Random,
    /// Last thread, with its generation.
    last: Option<(usize, u32)>,
}

impl Simulation<'_> {
    /// Creates the streams of a task and queues their first arrivals.
    pub(super) fn create_streams(&mut self, task: usize) {
        let spec = &self.model.tasks[task];
        let count = spec.hosts.len();
        for (number, host) in spec.hosts.iter().enumerate() {
            let mut random = Random::of([self.seed, task as u64, number as u64, u64::MAX]);
            let spread = spec.spread.as_nanos() * number as u128 / count as u128;
            let spread = Duration::from_nanos(u64::try_from(spread).unwrap_or(u64::MAX));
            let first = match spec.arrival {
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
            let delay = jitter(spec.arrival, &mut random);
            self.streams.push(Stream {
                task,
                number: number as u32,
                host: *host,
                jobs: 0,
                next,
                random,
                last: None,
            });
            self.queue_at(next + delay, Occurrence::Arrival { stream });
        }
    }

    /// Handles an arrival, and queues the next one.
    pub(super) fn arrive(&mut self, stream: usize, observer: &mut dyn Observer) {
        let now = self.now;
        let state = &mut self.streams[stream];
        let spec = &self.model.tasks[state.task];
        let nominal = state.next;
        let id = ThreadId {
            task: state.task as u32,
            stream: state.number,
            job: state.jobs,
        };
        let (host, last) = (state.host, state.last);
        state.jobs += 1;
        let next = match spec.arrival {
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
            let delay = jitter(spec.arrival, &mut state.random);
            self.queue_at((next + delay).max(now), Occurrence::Arrival { stream });
        }
        let task = &mut self.statistics.tasks[id.task as usize];
        task.arrived += 1;
        let busy = last.is_some_and(|(thread, generation)| {
            let thread = &self.threads[thread];
            thread.generation == generation && thread.state != State::Free
        });
        if busy && spec.overrun == Overrun::Skip {
            task.skipped += 1;
            task.utility_offered += spec
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
        self.streams[stream].last = Some((thread, self.threads[thread].generation));
        self.report(thread, EventKind::Arrived, observer);
        self.make_ready(thread);
    }

    /// Creates a thread of an on-demand task, started by another thread. It is not ready yet.
    pub(super) fn start(
        &mut self,
        task: usize,
        by: usize,
        is_here: bool,
        arrives: Time,
        reply: Option<u64>,
    ) -> usize {
        let (id, host, generation) = {
            let parent = &self.threads[by];
            (parent.id, parent.host, parent.generation)
        };
        let spec = &self.model.tasks[task];
        let job = self.started[task];
        self.started[task] += 1;
        self.statistics.tasks[task].arrived += 1;
        let own = spec.hosts[id.stream as usize % spec.hosts.len()];
        let id = ThreadId {
            task: task as u32,
            job,
            ..id
        };
        let implicit = *self.threads[by].segment();
        let thread = self.create(id, if is_here { host } else { own }, arrives, Some(implicit));
        self.threads[thread].replies.parent = reply.map(|reply_bytes| Parent {
            thread: by,
            generation,
            host,
            reply_bytes,
        });
        thread
    }

    fn create(&mut self, id: ThreadId, host: usize, arrived: Time, implicit: Option<Segment>) -> usize {
        let spec = &self.model.tasks[id.task as usize];
        let own = |parameters| Segment {
            parameters,
            kind: self.hosts[host].scheduler.kind(),
            from: arrived,
            done: 0,
            received: 0,
        };
        let segment = spec
            .parameters
            .map(own)
            .or(implicit)
            .unwrap_or_else(|| own(Parameters::default()));
        let offered = u64::from(segment.parameters.utility.value);
        self.statistics.tasks[id.task as usize].utility_offered += offered;
        let index = self.free.pop().unwrap_or_else(|| {
            self.threads.push(Thread::unused());
            self.threads.len() - 1
        });
        let thread = &mut self.threads[index];
        thread.reuse(
            id,
            host,
            Random::of([self.seed, id.task.into(), id.stream.into(), id.job.into()]),
        );
        thread.segments.push(segment);
        self.begin(index, arrived);
        let threads = self.threads.len() - self.free.len();
        self.statistics.most_threads = self.statistics.most_threads.max(threads);
        self.used.arrival(&self.model.limits, threads, self.now);
        index
    }

    /// Creates the first frame of a thread or of its retry.
    pub(super) fn begin(&mut self, index: usize, arrived: Time) {
        let thread = &mut self.threads[index];
        let spec = &self.model.tasks[thread.id.task as usize];
        let segment = &mut thread.segments[0];
        (segment.from, segment.received) = (arrived, 0);
        thread.attempt.arrived = arrived;
        let mut frame = Frame::new(thread.host, &spec.steps, 1);
        frame.shedding = spec.shedding;
        frame.deadline = segment.parameters.deadline.map(|deadline| arrived + deadline);
        frame.estimate = nanoseconds(segment.parameters.execution_time);
        thread.frames.push(frame);
    }
}

fn exponential(mean: Duration, random: &mut Random) -> Duration {
    let nanoseconds = mean.as_nanos() as f64 * random.exponential();
    Duration::from_nanos((nanoseconds as u64).max(1))
}

/// Draws the delay of an arrival.
fn jitter(arrival: Arrival, random: &mut Random) -> Duration {
    match arrival {
        Arrival::Periodic { jitter, .. } if !jitter.is_zero() => {
            Duration::from_nanos(random.between(0, nanoseconds(jitter)))
        }
        _ => Duration::ZERO,
    }
}
