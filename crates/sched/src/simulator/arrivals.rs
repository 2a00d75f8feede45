use core::time::Duration;

use crate::dynamic::Time;

use super::{
    Arrival, Event, EventKind, Observer, Overrun, Parameters, Simulation, ThreadId,
    engine::What,
    host::nanoseconds,
    random::Random,
    thread::{Frame, Parent, Segment, State, Thread},
};

/// Arrivals of a task on a host.
#[derive(Debug)]
pub(super) struct Stream {
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

/// How threads come to be.
impl Simulation<'_> {
    pub(super) fn streams_of(&mut self, task: usize) {
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

    pub(super) fn arrive(&mut self, stream: usize, observer: &mut dyn Observer) {
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
        self.report(thread, EventKind::Arrived, observer);
        self.ready(thread);
    }

    /// A thread of an on-demand task, which another one starts. It is there, but does not know it yet.
    pub(super) fn start(
        &mut self,
        task: usize,
        by: usize,
        here: bool,
        arrives: Time,
        reply: Option<u64>,
    ) -> usize {
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
        let implicit = *self.threads[by].segment();
        let thread = self.create(id, if here { host } else { own }, arrives, Some(implicit));
        self.threads[thread].parent = reply.map(|reply_bytes| Parent {
            thread: by,
            life,
            host,
            reply_bytes,
        });
        thread
    }

    fn create(&mut self, id: ThreadId, host: usize, arrived: Time, implicit: Option<Segment>) -> usize {
        let about = &self.model.tasks[id.task as usize];
        let own = |parameters| Segment {
            parameters,
            kind: self.hosts[host].scheduler.kind(),
            from: arrived,
            done: 0,
            received: 0,
        };
        let segment = about
            .parameters
            .map(own)
            .or(implicit)
            .unwrap_or_else(|| own(Parameters::default()));
        let offered = u64::from(segment.parameters.utility.value);
        self.statistics.tasks[id.task as usize].utility_offered += offered;
        let place = self.free.pop().unwrap_or_else(|| {
            self.threads.push(Thread::unused());
            self.threads.len() - 1
        });
        let thread = &mut self.threads[place];
        thread.reuse(
            id,
            host,
            Random::of([self.seed, id.task.into(), id.stream.into(), id.job.into()]),
        );
        thread.segments.push(segment);
        self.begin(place, arrived);
        self.statistics.most_threads = self
            .statistics
            .most_threads
            .max(self.threads.len() - self.free.len());
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
