//! After construction, neither suppliers nor threads allocate.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use punctual_dispatch::*;
use punctual_os::alloc_counter;

use crate::LONG;

/// A command without memory of its own, which notes the allocations of its thread so far.
struct Plain(Arc<AtomicU64>);

impl Command for Plain {
    fn execute(&mut self, _: &Execution) -> Result<(), Hopeless> {
        self.0
            .store(alloc_counter::allocations_of_this_thread(), Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn dispatching_and_executing_allocate_nothing() {
    assert!(alloc_counter::installed());
    for order in [Order::Arrival, Order::Deadline, Order::Laxity] {
        let dispatcher: Dispatcher<Plain> = Dispatcher::builder()
            .level(Level::new(0).order(order).capacity(64))
            .build()
            .unwrap();
        let seen = Arc::new(AtomicU64::new(0));
        let round = |allowed: [Duration; 2]| {
            for number in 0..64 {
                let qos = Qos::new(0).deadline_in(allowed[number % 2]);
                dispatcher.dispatch(Plain(Arc::clone(&seen)), qos).unwrap();
            }
            assert!(dispatcher.wait_until_idle(LONG));
            seen.load(Ordering::Relaxed)
        };
        let warm = round([LONG; 2]);
        let half_are_late = || round([LONG, Duration::ZERO]);
        let (after, of_supplier) = alloc_counter::count_allocations(half_are_late);
        assert_eq!((after - warm, of_supplier), (0, 0), "{order:?}");
    }
}
