//! Events that a channel keeps for a gateway until it acknowledges them, also while it is away.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use punctual_os::PiMutex;

use crate::{consumer::Consumer, pool, rtec::rtec_event_comm::Event, time};

/// The outboxes of a channel.
#[derive(Default)]
pub(crate) struct Outboxes(PiMutex<Vec<Arc<ChannelOutbox>>>);

/// The queue of a gateway, and the batch that it has to acknowledge.
pub(crate) struct ChannelOutbox {
    name: String,
    pub(crate) consumer: Arc<Consumer>,
    /// Octets above which a batch gets no further event.
    batch: usize,
    state: PiMutex<State>,
}

struct State {
    /// Number of the last batch. The numbers begin with the time at which the outbox was created, so that no
    /// other outbox of the same gateway uses them.
    number: u64,
    batch: Vec<Arc<Event>>,
    used: Instant,
}

/// Batch that a gateway fetches.
pub(crate) struct Fetched {
    pub(crate) number: u64,
    pub(crate) events: Vec<Event>,
    /// Number of events that found the queue full, since the outbox was made.
    pub(crate) lost: u64,
}

impl Outboxes {
    pub(crate) fn find(&self, name: &str) -> Option<Arc<ChannelOutbox>> {
        let mut outboxes = self.0.lock();
        outboxes.retain(|one| one.is_open());
        outboxes.iter().find(|one| one.name == name).cloned()
    }

    /// Adds one, unless there is one of its name meanwhile; returns that of the name. `None`: there are
    /// `limit` others.
    pub(crate) fn add(&self, outbox: Arc<ChannelOutbox>, limit: usize) -> Option<Arc<ChannelOutbox>> {
        let mut outboxes = self.0.lock();
        if let Some(first) = outboxes.iter().find(|one| one.name == outbox.name) {
            return Some(Arc::clone(first));
        }
        if outboxes.len() >= limit {
            return None;
        }
        outboxes.push(Arc::clone(&outbox));
        Some(outbox)
    }

    pub(crate) fn remove(&self, outbox: &Arc<ChannelOutbox>) {
        self.0.lock().retain(|one| !Arc::ptr_eq(one, outbox));
    }

    /// Removes the outboxes that have been unused for this time, and returns their consumers.
    pub(crate) fn unused(&self, timeout: Duration) -> Vec<Arc<Consumer>> {
        let is_unused = |one: &mut Arc<ChannelOutbox>| one.state.lock().used.elapsed() > timeout;
        let unused = self.0.lock().extract_if(.., is_unused).collect::<Vec<_>>();
        unused.iter().map(|one| Arc::clone(&one.consumer)).collect()
    }
}

impl ChannelOutbox {
    pub(crate) fn new(name: &str, consumer: Arc<Consumer>, batch: usize) -> Self {
        Self {
            name: name.to_owned(),
            consumer,
            batch,
            state: PiMutex::new(State {
                number: time::now(),
                batch: Vec::new(),
                used: Instant::now(),
            }),
        }
    }

    /// Whether the channel still fills it.
    pub(crate) fn is_open(&self) -> bool {
        self.consumer.is_connected()
    }

    /// The next batch of at most so many events; the last one again, unless it is acknowledged by its number.
    /// `None`: the channel has ended, or has forgotten the gateway.
    pub(crate) fn fetch(&self, acknowledged: u64, most: usize) -> Option<Fetched> {
        let mut state = self.state.lock();
        state.used = Instant::now();
        if !self.is_open() {
            return None;
        }
        if acknowledged == state.number {
            state.batch.clear();
        }
        if state.batch.is_empty() {
            let mut octets = 0;
            while state.batch.len() < most && octets < self.batch {
                let Some(event) = self.consumer.receive(Some(state.used)) else {
                    break;
                };
                octets += pool::octets(&event);
                state.batch.push(event);
            }
            state.number += u64::from(!state.batch.is_empty());
        }
        let sent = time::now();
        let copy = |event: &Arc<Event>| {
            let mut event = Event::clone(event);
            event.header.ec_send_time = sent;
            event
        };
        Some(Fetched {
            number: state.number,
            events: state.batch.iter().map(copy).collect(),
            lost: self.consumer.statistics().undelivered.lost,
        })
    }
}
