//! Events of a channel to consumers of its own process.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use punctual::Priority;
use punctual_events::{EventChannel, EventError, Filter, Overflow};
use punctual_harness::child::{RoleError, Task};
use punctual_os::ThreadSpec;
use serde::{Deserialize, Serialize};

use super::{
    super::{HIGH, MEASURED, PAYLOAD, TIMEOUT},
    Channel,
};

/// Pushes events to consumers of the channel's process.
#[derive(Deserialize, Serialize)]
pub(crate) struct Collocated {
    pub(crate) events: u32,
    pub(crate) consumers: u32,
    /// Priority of the supplier.
    pub(crate) priority: i16,
    /// Length of the queue of each consumer.
    pub(crate) queue: usize,
}

/// Events that the consumers have received.
#[derive(Deserialize, Serialize)]
pub(crate) struct Rate {
    pub(crate) deliveries: u64,
    pub(crate) sets: u64,
    /// Events whose number does not follow that of the consumer's last one.
    pub(crate) jumps: u64,
    pub(crate) elapsed: Duration,
}

#[derive(Default)]
struct Counters {
    deliveries: AtomicU64,
    sets: AtomicU64,
    jumps: AtomicU64,
}

impl Counters {
    /// Counts a set of a consumer, and compares the numbers with that of its `next` event. One thread
    /// delivers to a consumer.
    fn count<'a>(&self, payloads: impl ExactSizeIterator<Item = &'a [u8]>, next: &AtomicU64) {
        self.sets.fetch_add(1, Relaxed);
        self.deliveries.fetch_add(payloads.len() as u64, Relaxed);
        let (mut expected, mut jumps) = (next.load(Relaxed), 0);
        for payload in payloads {
            let number = payload.first_chunk().map(|octets| u64::from_le_bytes(*octets));
            jumps += u64::from(number != Some(expected));
            expected = number.unwrap_or(expected) + 1;
        }
        next.store(expected, Relaxed);
        if jumps > 0 {
            self.jumps.fetch_add(jumps, Relaxed);
        }
    }
}

impl Task<Channel> for Collocated {
    const NAME: &'static str = "collocated";
    type Reply = Rate;

    fn perform(self, process: &mut Channel) -> Result<Rate, RoleError> {
        let priority = Priority::new(HIGH)?;
        let channel = EventChannel::builder()
            .orb(&process.orb)
            .lane(priority, 1)
            .queue(self.queue, Overflow::Block(TIMEOUT))
            .build()?;
        let counters = Arc::new(Counters::default());
        let mut subscriptions = Vec::new();
        for _ in 0..self.consumers {
            let (counters, next) = (Arc::clone(&counters), AtomicU64::new(0));
            let builder = channel.subscribe_to(Filter::event(MEASURED)).priority(priority);
            subscriptions.push(builder.sets(move |events| {
                counters.count(events.iter().map(|event| &*event.data.payload), &next);
                Ok(())
            })?);
        }
        let scheduling = process.orb.thread_scheduling()(Priority::new(self.priority)?)
            .ok_or("a priority without a native one")?;
        let spec = ThreadSpec::new("pushes").scheduling(scheduling);
        let (pushes, counted) = (channel.clone(), Arc::clone(&counters));
        let all = u64::from(self.events * self.consumers);
        let thread = spec.spawn(move || -> Result<Duration, EventError> {
            let start = Instant::now();
            let mut payload = [0; PAYLOAD];
            for number in 0..u64::from(self.events) {
                payload[..8].copy_from_slice(&number.to_le_bytes());
                pushes.push_octets(MEASURED, &payload)?;
            }
            while counted.deliveries.load(Relaxed) < all && start.elapsed() < TIMEOUT * 3 {
                thread::sleep(Duration::from_micros(100));
            }
            Ok(start.elapsed())
        })?;
        let elapsed = thread.join().map_err(|_| "the thread that pushes panicked")??;
        Ok(Rate {
            deliveries: counters.deliveries.load(Relaxed),
            sets: counters.sets.load(Relaxed),
            jumps: counters.jumps.load(Relaxed),
            elapsed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_are_lost_repeated_or_out_of_order_are_found() {
        let jumps = |sets: &[&[u64]]| {
            let (counters, next) = (Counters::default(), AtomicU64::new(0));
            for set in sets {
                let payloads: Vec<[u8; 8]> = set.iter().map(|number| number.to_le_bytes()).collect();
                counters.count(payloads.iter().map(|payload| &payload[..]), &next);
            }
            assert_eq!(counters.sets.load(Relaxed), sets.len() as u64);
            counters.jumps.load(Relaxed)
        };
        assert_eq!(jumps(&[&[0, 1], &[2], &[3, 4]]), 0);
        assert_eq!(jumps(&[&[0, 1], &[3, 4]]), 1);
        assert_eq!(jumps(&[&[1, 2]]), 1);
        assert_eq!(jumps(&[&[0, 1], &[1, 2]]), 1);
        assert_eq!(jumps(&[&[0, 2, 1, 3]]), 3);
    }
}
