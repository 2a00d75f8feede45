//! Delivery on threads: which thread serves a consumer, and for how long.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use punctual::{LinearMapping, Orb, Poa, Priority, PriorityMapping, rtscheduling::Time};
use punctual_dispatch::{Cancellation, Command, Dispatcher, Execution, Hopeless, Level, Qos};
use punctual_os::{PiMutex, Scheduling, clock::later};

use crate::{ChannelLimits, Dispatching, EventError, Lane, consumer::Consumer, routes::LaneBacklog};

/// Number of sets or batches that a thread delivers to a consumer before others of its lane get a turn.
const TURN: usize = 16;

/// Executes the settings of [`Dispatching`].
pub(crate) struct Threads {
    kind: Kind,
    mapping: Mapping,
}

enum Kind {
    Reactive,
    Lanes {
        /// Locked while they change.
        lanes: PiMutex<Lanes>,
        /// One for each lane that there has been, by its level.
        backlogs: PiMutex<Vec<Arc<LaneBacklog>>>,
        dispatcher: Dispatcher<Task>,
    },
    ThreadPerConsumer(PiMutex<OwnThreads>),
}

struct Lanes {
    /// In operation, from the highest priority to the lowest.
    all: Vec<Lane>,
    /// Number of those of a schedule, which come first.
    scheduled: usize,
    /// Lanes of the channel without a schedule.
    own: Vec<Lane>,
}

/// Lanes that replace others.
pub(crate) enum NewLanes {
    Own(Vec<Lane>),
    /// A lane for each level of a schedule. Those of the channel below them stay.
    Schedule(Vec<Lane>),
}

/// Threads of consumers, each in a dispatcher.
#[derive(Default)]
struct OwnThreads {
    /// Dispatchers by the number of the consumer.
    of_consumers: HashMap<u64, Dispatcher<Task>>,
    /// Dispatchers of former consumers; they end when a callback returns.
    ending: Vec<Dispatcher<Task>>,
}

/// Scheduling of threads by CORBA priority.
#[derive(Clone)]
pub(crate) struct Mapping(Arc<dyn Fn(Priority) -> Option<Scheduling> + Send + Sync>);

/// The deliverer to a consumer: the channel.
pub(crate) trait Serve: Send + Sync {
    /// Delivers up to `turn` batches, or if the consumer has deadlines, the set that arrived then.
    fn serve(self: Arc<Self>, consumer: &Arc<Consumer>, arrived: Time, turn: usize);

    /// Offers what waits in the backlog of this level.
    fn catch_up(self: Arc<Self>, level: u32);

    /// Drops the set that arrived then, as it can no longer meet its deadline.
    fn give_up(self: Arc<Self>, consumer: &Arc<Consumer>, arrived: Time);
}

/// Task of a thread of a lane.
pub(crate) enum Task {
    Deliver(Delivery),
    /// Offers events to consumers of the level, of which a backlog has at most one such command.
    Offer {
        channel: Weak<dyn Serve>,
        level: u32,
    },
}

/// Delivery of what a consumer's queue holds. A consumer has at most one: with deadlines, it stands for the
/// most urgent set of the queue, so that sets of all consumers are served as if each were scheduled by
/// itself, without memory for each in every lane that the consumer may get.
pub(crate) struct Delivery {
    pub(crate) channel: Weak<dyn Serve>,
    pub(crate) consumer: Arc<Consumer>,
    /// Arrival of the set for which it is scheduled; [`Time::NEVER`]: its delivery has no deadline.
    pub(crate) arrived: Time,
}

impl Command for Task {
    fn execute(&mut self, _: &Execution) -> Result<(), Hopeless> {
        match self {
            Self::Deliver(delivery) => {
                if let Some(channel) = delivery.channel.upgrade() {
                    // Each set has a deadline of its own.
                    let turn = if delivery.consumer.is_timed() { 1 } else { TURN };
                    channel.serve(&delivery.consumer, delivery.arrived, turn);
                }
            }
            Self::Offer { channel, level } => {
                if let Some(channel) = channel.upgrade() {
                    channel.catch_up(*level);
                }
            }
        }
        Ok(())
    }

    fn cancelled(&mut self, cancellation: Cancellation) {
        if let Self::Deliver(delivery) = self
            && cancellation == Cancellation::Hopeless
            && let Some(channel) = delivery.channel.upgrade()
        {
            channel.give_up(&delivery.consumer, delivery.arrived);
        }
    }

    fn taken_up(&mut self, now: Time) -> Option<Qos> {
        let Self::Deliver(delivery) = self else {
            return None;
        };
        let (arrived, qos) = delivery.consumer.most_urgent_delivery(now)?;
        delivery.arrived = arrived;
        Some(qos)
    }
}

impl Threads {
    /// Starts the threads of lanes.
    pub(crate) fn start(
        name: &str,
        dispatching: Dispatching,
        limits: &ChannelLimits,
        mapping: Mapping,
    ) -> Result<Self, EventError> {
        let kind = match dispatching {
            Dispatching::Reactive => Kind::Reactive,
            Dispatching::ThreadPerConsumer => Kind::ThreadPerConsumer(PiMutex::default()),
            Dispatching::Lanes(mut lanes) => {
                let mut backlogs = Vec::new();
                let levels = levels(&mut lanes, &mut backlogs, limits, &mapping)?;
                Kind::Lanes {
                    dispatcher: Dispatcher::builder().name(name).levels(levels).build()?,
                    backlogs: PiMutex::new(backlogs),
                    lanes: PiMutex::new(Lanes {
                        all: lanes.clone(),
                        scheduled: 0,
                        own: lanes,
                    }),
                }
            }
        };
        Ok(Self { kind, mapping })
    }

    /// Replaces the lanes. Deliveries that wait move to the level of the same number, or to the lowest.
    pub(crate) fn reconfigure(&self, new: NewLanes, limits: &ChannelLimits) -> Result<(), EventError> {
        let Kind::Lanes {
            lanes,
            backlogs,
            dispatcher,
        } = &self.kind
        else {
            return Err(EventError::WithoutLanes);
        };
        let mut lanes = lanes.lock();
        let mut new = lanes.replaced(new)?;
        let levels = levels(&mut new.all, &mut backlogs.lock(), limits, &self.mapping)?;
        dispatcher.reconfigure(levels)?;
        *lanes = new;
        Ok(())
    }

    /// The level of a consumer of this priority. One that is not scheduled has none of a schedule's.
    pub(crate) fn level(&self, priority: Priority, is_scheduled: bool) -> u32 {
        let Kind::Lanes { lanes, .. } = &self.kind else {
            return 0;
        };
        let lanes = lanes.lock();
        let first = if is_scheduled { 0 } else { lanes.scheduled };
        let fits = |level: &usize| lanes.all[*level].priority <= priority;
        let level = (first..lanes.all.len()).find(fits);
        u32::try_from(level.unwrap_or(lanes.all.len() - 1)).unwrap_or(u32::MAX)
    }

    /// Where events wait for a thread of this level; `None`: it has no lanes.
    pub(crate) fn backlog(&self, level: u32) -> Option<Arc<LaneBacklog>> {
        match &self.kind {
            Kind::Lanes { backlogs, .. } => backlogs.lock().get(level as usize).cloned(),
            Kind::Reactive | Kind::ThreadPerConsumer(_) => None,
        }
    }

    /// All backlogs.
    pub(crate) fn backlogs(&self) -> Vec<Arc<LaneBacklog>> {
        match &self.kind {
            Kind::Lanes { backlogs, .. } => backlogs.lock().clone(),
            Kind::Reactive | Kind::ThreadPerConsumer(_) => Vec::new(),
        }
    }

    /// Has a thread of the level offer what waits.
    pub(crate) fn schedule_offers(&self, channel: Weak<dyn Serve>, level: u32) {
        if let Kind::Lanes { dispatcher, .. } = &self.kind {
            // Only what ends refuses it: there is room for one of each backlog.
            let _ = dispatcher.dispatch(Task::Offer { channel, level }, Qos::new(level));
        }
    }

    /// Starts the thread of a consumer, if it gets one of its own. `limit`: number of such threads.
    pub(crate) fn admit(&self, name: &str, consumer: &Consumer, limit: usize) -> Result<(), EventError> {
        if let Kind::ThreadPerConsumer(threads) = &self.kind {
            {
                let mut threads = threads.lock();
                threads.ending.retain(|one| !one.has_ended());
                if threads.of_consumers.len() + threads.ending.len() >= limit {
                    return Err(EventError::TooManyConsumers(limit));
                }
            }
            let level = Level::new(0)
                .scheduling(self.mapping.scheduling(consumer.priority())?)
                .capacity(2);
            let name = format!("{name}-{}", consumer.id);
            let dispatcher = Dispatcher::builder().name(name).level(level).build()?;
            threads.lock().of_consumers.insert(consumer.id, dispatcher);
        }
        Ok(())
    }

    /// Ends the thread of a consumer, without waiting for it: a callback may not return.
    pub(crate) fn release(&self, consumer: &Consumer) {
        if let Kind::ThreadPerConsumer(threads) = &self.kind {
            let dispatcher = threads.lock().of_consumers.remove(&consumer.id);
            if let Some(dispatcher) = dispatcher.filter(|one| !one.end(Duration::ZERO)) {
                threads.lock().ending.push(dispatcher);
            }
        }
    }

    /// Has a thread deliver to the consumer; `false`: reactive dispatching, the supplier's thread delivers.
    pub(crate) fn schedule(&self, channel: Weak<dyn Serve>, consumer: &Arc<Consumer>) -> bool {
        let nothing = || (Time::NEVER, Qos::new(consumer.level()));
        let (arrived, qos) = consumer.next_delivery().unwrap_or_else(nothing);
        let task = Task::Deliver(Delivery {
            channel,
            consumer: Arc::clone(consumer),
            arrived,
        });
        // Only what ends refuses a command: there is room for one of each consumer, former ones included.
        match &self.kind {
            Kind::Reactive => return false,
            Kind::Lanes { dispatcher, .. } => {
                let _ = dispatcher.dispatch(task, qos);
                if consumer
                    .next_delivery()
                    .is_some_and(|next| next != (arrived, qos))
                {
                    // Overflow has removed that set, or the consumer has got another place, meanwhile.
                    self.reschedule(consumer);
                }
            }
            Kind::ThreadPerConsumer(threads) => {
                if let Some(dispatcher) = threads.lock().of_consumers.get(&consumer.id) {
                    let _ = dispatcher.dispatch(task, Qos::new(0));
                }
            }
        }
        true
    }

    /// Gives the queued delivery to a consumer the lane of the consumer, and the deadline of the set that is
    /// now first, because the consumer was placed anew, or overflow has removed the set for which it was
    /// scheduled. A delivery that is being executed is left alone: the next one has them.
    pub(crate) fn reschedule(&self, consumer: &Arc<Consumer>) {
        let Kind::Lanes { dispatcher, .. } = &self.kind else {
            return;
        };
        let is_it = |task: &Task| match task {
            Task::Deliver(delivery) => Arc::ptr_eq(&delivery.consumer, consumer),
            Task::Offer { .. } => false,
        };
        dispatcher.reschedule(is_it, |task, qos| {
            // Read under the lock of the dispatcher: the last of several threads has the last state.
            if let Task::Deliver(delivery) = task
                && let Some(next) = consumer.next_delivery()
            {
                (delivery.arrived, *qos) = next;
            }
        });
    }

    /// Ends all threads, and waits this long at most for callbacks that are being executed. Events that are
    /// still queued are lost with the channel.
    pub(crate) fn shutdown(&self, timeout: Duration) {
        match &self.kind {
            Kind::Reactive => {}
            Kind::Lanes { dispatcher, .. } => {
                dispatcher.end(timeout);
            }
            Kind::ThreadPerConsumer(threads) => {
                let OwnThreads { of_consumers, ending } = std::mem::take(&mut *threads.lock());
                let all: Vec<_> = of_consumers.into_values().chain(ending).collect();
                // They end together.
                let busy: Vec<_> = all.iter().filter(|one| !one.end(Duration::ZERO)).collect();
                let deadline = later(Instant::now(), timeout);
                for dispatcher in busy {
                    dispatcher.end(deadline.saturating_duration_since(Instant::now()));
                }
            }
        }
    }
}

impl Lanes {
    /// The lanes that there are after a replacement.
    fn replaced(&self, new: NewLanes) -> Result<Self, EventError> {
        let (schedule, own) = match new {
            NewLanes::Own(own) => (Vec::new(), own),
            NewLanes::Schedule(lanes) => (lanes, self.own.clone()),
        };
        let lowest = schedule.iter().map(|lane| lane.priority).min();
        if lowest == Some(Priority::MIN) {
            return Err(EventError::NoLaneBelow);
        }
        let is_below = |lane: &&Lane| lowest.is_none_or(|lowest| lane.priority < lowest);
        let mut all = schedule.clone();
        all.extend(own.iter().filter(is_below));
        if all.len() == schedule.len() && lowest.is_some() {
            all.push(Lane::new(Priority::MIN, 1));
        }
        Ok(Self {
            all,
            scheduled: schedule.len(),
            own,
        })
    }
}

/// The levels of a dispatcher for these lanes, which are ordered from the highest priority to the lowest,
/// with a backlog for each. Each queue has room for all consumers and backlogs.
fn levels(
    lanes: &mut [Lane],
    backlogs: &mut Vec<Arc<LaneBacklog>>,
    limits: &ChannelLimits,
    mapping: &Mapping,
) -> Result<Vec<Level>, EventError> {
    lanes.sort_by_key(|lane| std::cmp::Reverse(lane.priority));
    if let Some(pair) = lanes.windows(2).find(|pair| pair[0].priority == pair[1].priority) {
        return Err(EventError::DuplicateLane(pair[0].priority));
    }
    for (level, _) in (0..).zip(&*lanes).skip(backlogs.len()) {
        backlogs.push(Arc::new(LaneBacklog::new(level, limits.octets.queue)));
    }
    let level = |(lane, level): (&Lane, u32)| {
        if lane.shedding.examines_checkpoints() || lane.shedding.retry_after(0).is_some() {
            return Err(EventError::Shedding(lane.priority));
        }
        let scheduling = mapping.scheduling(lane.priority)?;
        let level = Level::new(level).scheduling(scheduling).threads(lane.threads);
        let level = level.order(lane.order).shedding(lane.shedding);
        Ok(level.capacity(limits.consumers + backlogs.len() + lane.threads))
    };
    lanes.iter().zip(0..).map(level).collect()
}

impl Mapping {
    /// Settings like those of an ORB's lanes.
    pub(crate) fn of(orb: &Orb) -> Self {
        Self(Arc::new(orb.thread_scheduling()))
    }

    /// Like [`Self::of`], for the ORB of an adapter.
    pub(crate) fn of_adapter(poa: &Poa) -> Self {
        Self(Arc::new(poa.thread_scheduling()))
    }

    pub(crate) fn scheduling(&self, priority: Priority) -> Result<Scheduling, EventError> {
        (self.0)(priority).ok_or(EventError::Unmappable(priority))
    }
}

impl Default for Mapping {
    /// Without an ORB: SCHED_FIFO, linear from 1 to 99, and the ordinary class for the lowest priority.
    fn default() -> Self {
        let linear = LinearMapping::new(1..=99);
        Self(Arc::new(move |priority| match priority {
            Priority::MIN => Some(Scheduling::OTHER),
            _ => linear.to_native(priority).map(Scheduling::fifo),
        }))
    }
}

impl fmt::Debug for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mapping")
    }
}
