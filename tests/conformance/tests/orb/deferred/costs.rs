//! Cost of a request whose servant answers later: no allocation after warm-up, neither on the lane nor in the
//! thread that answers.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, Ordering},
};

use punctual::{Interface as _, ResponseHandler, SystemException};
use punctual_fixtures::{
    eventually,
    later::{Desk, DeskRef, desk::ExchangeError},
};
use punctual_os::alloc_counter::{allocations_of_this_thread, count_allocations};

use super::{Office, lock};

#[derive(Default)]
struct Seen {
    response: Mutex<Option<(i32, ResponseHandler<i32, SystemException>)>>,
    /// Allocations of the lane's thread before the last request.
    allocations: AtomicU64,
}

struct Relay(Arc<Seen>);

impl Desk for Relay {
    fn twice(&self, value: i32, response: ResponseHandler<i32, SystemException>) {
        self.0
            .allocations
            .store(allocations_of_this_thread(), Ordering::SeqCst);
        *lock(&self.0.response) = Some((value, response));
    }

    fn exchange(
        &self,
        _: &[&str],
        _: Vec<String>,
        _: ResponseHandler<(String, Vec<String>, i16), ExchangeError>,
    ) {
    }

    fn queued(&self, _: ResponseHandler<i32, SystemException>) {}

    fn set_queued(&self, _: i32, _: ResponseHandler<(), SystemException>) {}

    fn now(&self, value: i32) -> Result<i32, SystemException> {
        Ok(value)
    }

    fn nudge(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

#[test]
fn nothing_is_allocated_after_warm_up() {
    let (office, seen) = (Office::open(), Arc::new(Seen::default()));
    let poa = office
        .orb
        .root_poa()
        .child("relays")
        .threadpool(&office.pool)
        .build()
        .unwrap();
    let relay: DeskRef = poa.activate(Relay(Arc::clone(&seen))).unwrap();
    let relay: DeskRef = office.client.resolve(&relay.as_object().to_ior()).unwrap();
    let mut allocated = Vec::new();
    for value in 0..20 {
        let call = relay.twice_async(value);
        eventually("it is there", || lock(&seen.response).is_some());
        let (value, response) = lock(&seen.response).take().unwrap();
        let (sent, of_answer) = count_allocations(|| response.respond(Ok(2 * value)));
        assert!(sent);
        assert_eq!(call.wait(), Ok(2 * value));
        allocated.push((seen.allocations.load(Ordering::SeqCst), of_answer));
    }
    let warm = &allocated[5..];
    assert!(
        warm.iter()
            .all(|(lane, answer)| (*lane, *answer) == (warm[0].0, 0)),
        "{allocated:?}"
    );
}
