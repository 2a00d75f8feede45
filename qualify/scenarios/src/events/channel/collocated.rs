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

/// What the consumers got.
#[derive(Deserialize, Serialize)]
pub(crate) struct Rate {
    pub(crate) deliveries: u64,
    pub(crate) sets: u64,
    pub(crate) elapsed: Duration,
}

#[derive(Default)]
struct Counters {
    deliveries: AtomicU64,
    sets: AtomicU64,
}

impl Task<Channel> for Collocated {
    const NAME: &'static str = "collocated";
    type Answer = Rate;

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
            let counters = Arc::clone(&counters);
            let builder = channel.subscribe_to(Filter::event(MEASURED)).priority(priority);
            subscriptions.push(builder.sets(move |events| {
                counters.sets.fetch_add(1, Relaxed);
                counters.deliveries.fetch_add(events.len() as u64, Relaxed);
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
            for _ in 0..self.events {
                pushes.push_octets(MEASURED, &[0; PAYLOAD])?;
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
            elapsed,
        })
    }
}
