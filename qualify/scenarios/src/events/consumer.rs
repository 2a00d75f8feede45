//! The process of consumers.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use punctual::{Orb, Poa, Priority};
use punctual_events::{
    EventType, Filter, RemoteChannel, RemoteSubscription, rtec::rtec_event_comm::EventView,
};
use punctual_harness::{
    Latencies,
    child::{Role, RoleError, Task, TaskEntry},
};
use punctual_os::{PiMutex, clock};
use serde::{Deserialize, Serialize};

use super::channel::adapter;
use crate::cubit::transport::Transport;

#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct ConsumerSetup {
    pub(super) transport: Transport,
    pub(super) channel: String,
    pub(super) priority: i16,
}

/// Replaces the subscriptions.
#[derive(Clone, Copy, Deserialize, Serialize)]
pub(super) struct Subscribe {
    pub(super) consumers: u32,
    pub(super) event_type: i32,
}

/// Waits for this number of events since the last answer, or until no more come.
#[derive(Clone, Copy, Deserialize, Serialize)]
pub(super) struct Collect(pub(super) u64);

/// Events that all subscriptions have received.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Collected {
    pub(super) latencies: Latencies,
    pub(super) events: u64,
    pub(super) sets: u64,
    /// Events whose number does not follow the last one.
    pub(super) jumps: u64,
    /// Time of the last one, on the monotonic clock.
    pub(super) end: Duration,
    /// Number of the next event.
    next: Option<u64>,
}

pub(crate) struct Consumer {
    _orb: Orb,
    poa: Poa,
    channel: RemoteChannel,
    subscriptions: Vec<RemoteSubscription>,
    received: Arc<PiMutex<Collected>>,
}

impl Role for Consumer {
    const NAME: &'static str = "__events-consumer";
    type Setup = ConsumerSetup;
    type Ready = ();
    const TASKS: &'static [TaskEntry<Self>] = &[TaskEntry::of::<Subscribe>(), TaskEntry::of::<Collect>()];

    fn start(setup: ConsumerSetup) -> Result<(Self, ()), RoleError> {
        let orb = Orb::builder().listen(setup.transport.endpoint()).build()?;
        let consumer = Self {
            poa: adapter(&orb, Priority::new(setup.priority)?)?,
            channel: RemoteChannel::new(orb.resolve(&setup.channel)?),
            _orb: orb,
            subscriptions: Vec::new(),
            received: Arc::default(),
        };
        Ok((consumer, ()))
    }
}

impl Task<Consumer> for Subscribe {
    const NAME: &'static str = "subscribe";
    type Reply = ();

    fn perform(self, consumer: &mut Consumer) -> Result<(), RoleError> {
        consumer.subscriptions.clear();
        let filter = Filter::event(EventType(self.event_type));
        for _ in 0..self.consumers {
            let received = Arc::clone(&consumer.received);
            let receive = move |events: &[EventView<'_>]| received.lock().add(events);
            let subscription = consumer.channel.subscribe(&consumer.poa, &filter, receive)?;
            consumer.subscriptions.push(subscription);
        }
        Ok(())
    }
}

impl Task<Consumer> for Collect {
    const NAME: &'static str = "collect";
    type Reply = Collected;

    fn perform(self, consumer: &mut Consumer) -> Result<Collected, RoleError> {
        let (mut before, mut since) = (0, Instant::now());
        loop {
            let events = consumer.received.lock().events;
            if events != before {
                (before, since) = (events, Instant::now());
            }
            if events >= self.0 || since.elapsed() > QUIET {
                let mut received = consumer.received.lock();
                let next = received.next;
                let collected = std::mem::take(&mut *received);
                received.next = next;
                return Ok(collected);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Without an event in this time, no more are expected.
const QUIET: Duration = Duration::from_secs(1);

impl Collected {
    fn add(&mut self, events: &[EventView<'_>]) {
        self.end = clock::monotonic();
        self.sets += 1;
        for event in events {
            self.events += 1;
            let word = |at: usize| {
                let octets = event.data.payload.get(at..at + 8);
                octets.and_then(|octets| octets.try_into().ok().map(u64::from_le_bytes))
            };
            let (Some(number), Some(sent)) = (word(0), word(8)) else {
                self.jumps += 1;
                continue;
            };
            self.jumps += u64::from(self.next.is_some_and(|next| next != number));
            self.next = Some(number + 1);
            if sent > 0 {
                let end = self.end.as_nanos() as u64;
                self.latencies.record(end.saturating_sub(sent));
            }
        }
    }
}
