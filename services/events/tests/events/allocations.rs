//! After warm-up, neither a supplier nor a lane allocates, whatever the order of the lane and the fate of the
//! events.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use punctual::{Priority, rtscheduling::SheddingPolicy};
use punctual_events::{Dispatching, EventChannel, Lane, Order, Overflow, Subscription};
use punctual_fixtures::{LONG, eventually};
use punctual_os::alloc_counter::{self, allocations_of_this_thread};

use crate::{
    ALARM, TRACK,
    deadlines::{SHEDS, events},
};

/// Events of a round; they all wait at the same time.
const EVENTS: u8 = 32;
/// Rounds until queues and the pool of events have their size, then those that are counted.
const ROUNDS: [usize; 2] = [100, 20];
const LANES: [Priority; 2] = [Priority::MIN, Priority::MAX];

/// Allocations that the thread of each lane has made so far.
type Noted = Arc<[AtomicU64; LANES.len()]>;

/// A channel with the consumers of both lanes, whose threads the gate holds.
struct Setup {
    channel: EventChannel,
    gate: Arc<Mutex<()>>,
    entered: Arc<AtomicU64>,
    noted: Noted,
    consumers: Vec<Subscription>,
}

impl Setup {
    fn new(order: Order, shedding: SheddingPolicy) -> Self {
        let lanes = LANES.map(|priority| Lane {
            order,
            shedding,
            ..Lane::new(priority, 1)
        });
        let dispatching = Dispatching::Lanes(lanes.to_vec());
        let mut setup = Self {
            channel: EventChannel::builder().dispatching(dispatching).build().unwrap(),
            gate: Arc::default(),
            entered: Arc::default(),
            noted: Arc::default(),
            consumers: Vec::new(),
        };
        for (lane, priority) in LANES.into_iter().enumerate() {
            let (gate, entered) = (Arc::clone(&setup.gate), Arc::clone(&setup.entered));
            let waits = events(&setup.channel, ALARM).priority(priority);
            let waits = waits.each(move |_| {
                entered.fetch_add(1, Relaxed);
                drop(gate.lock());
            });
            setup.consumers.push(waits.unwrap());
            // In time, too late, without a deadline, and with a queue that overflows.
            setup.add(lane, Some(LONG), EVENTS.into());
            setup.add(lane, Some(Duration::ZERO), EVENTS.into());
            setup.add(lane, None, EVENTS.into());
            setup.add(lane, Some(2 * LONG), 4);
        }
        setup
    }

    fn add(&mut self, lane: usize, deadline: Option<Duration>, queue: usize) {
        let noted = [(); 2].map(|()| Arc::clone(&self.noted));
        let [delivered, cancelled] =
            noted.map(|noted| move || noted[lane].store(allocations_of_this_thread(), Relaxed));
        let consumer = events(&self.channel, TRACK).priority(LANES[lane]);
        let consumer = consumer.queue(queue, Overflow::DropOldest);
        let consumer = match deadline {
            Some(deadline) => consumer.deadline(deadline),
            None => consumer,
        };
        let consumer = consumer
            .cancelled(move |_| cancelled())
            .each(move |_| delivered());
        self.consumers.push(consumer.unwrap());
    }

    /// Pushes events while both lanes are busy, lets them go on, and waits for the end; returns the number of
    /// allocations of the supplier.
    fn round(&self) -> u64 {
        let before = self.entered.load(Relaxed);
        let gate = self.gate.lock().unwrap();
        self.channel.push_octets(ALARM, b"").unwrap();
        eventually("both lanes are busy", || {
            self.entered.load(Relaxed) == before + LANES.len() as u64
        });
        let push = || {
            for number in 0..EVENTS {
                self.channel.push_octets(TRACK, &[number]).unwrap();
            }
        };
        let ((), allocations) = alloc_counter::count_allocations(push);
        drop(gate);
        eventually("nothing waits", || {
            let all = self.channel.statistics();
            all.deferred == 0
                && all.consumers.iter().all(|one| {
                    let undelivered = one.undelivered.lost + one.undelivered.cancelled;
                    one.waiting == 0 && one.delivered + undelivered >= one.queued
                })
        });
        allocations
    }
}

#[test]
fn lanes_with_deadlines_do_not_allocate() {
    assert!(alloc_counter::installed());
    for order in [Order::Arrival, Order::Deadline, Order::Laxity] {
        for shedding in [SheddingPolicy::never(), SHEDS] {
            let setup = Setup::new(order, shedding);
            let noted = || setup.noted.each_ref().map(|lane| lane.load(Relaxed));
            for _ in 0..ROUNDS[0] {
                setup.round();
            }
            let before = noted();
            let by_supplier: u64 = (0..ROUNDS[1]).map(|_| setup.round()).sum();
            let by_lanes: Vec<_> = (noted().iter().zip(before))
                .map(|(now, before)| now - before)
                .collect();
            assert_eq!(
                (by_supplier, &by_lanes[..]),
                (0, &[0, 0][..]),
                "{order:?}, {shedding:?}"
            );
            // All fates have occurred.
            let fates = setup.channel.statistics().undelivered;
            let sheds = shedding == SHEDS;
            assert!(fates.lost > 0 && (fates.cancelled > 0) == sheds, "{fates:?}");
        }
    }
}
