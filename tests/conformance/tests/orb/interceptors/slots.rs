//! The slots of `PortableInterceptor::Current`: whose they are, and when.

use std::sync::{Arc, Mutex, OnceLock};

use punctual::{Orb, SystemException, interceptors::*};
use punctual_fixtures::server::Server;

use super::{orb, server};

/// An initializer with a slot, and what its interceptors have found in it.
#[derive(Clone, Default)]
struct Slotted {
    slot: Arc<OnceLock<SlotId>>,
    orb: Arc<Mutex<Option<Orb>>>,
    found: Arc<Mutex<Vec<Found>>>,
}

/// The interception point, and the number found there.
type Found = (&'static str, Option<u32>);

fn number(value: &SlotValue) -> Option<u32> {
    value
        .as_ref()
        .map(|value| *value.downcast_ref().expect("a number"))
}

impl Slotted {
    fn slot(&self) -> SlotId {
        *self.slot.get().expect("initialized")
    }

    fn note(&self, point: &'static str, value: Result<SlotValue, InvalidSlot>) {
        self.found.lock().unwrap().push((point, number(&value.unwrap())));
    }

    fn take(&self) -> Vec<Found> {
        std::mem::take(&mut self.found.lock().unwrap())
    }

    /// Through the thread, not through the request.
    fn of_thread(&self) -> Option<u32> {
        let orb = self.orb.lock().unwrap().clone().expect("initialized");
        number(&orb.pi_current().get_slot(self.slot()).unwrap())
    }
}

impl ClientRequestInterceptor for Slotted {
    fn name(&self) -> &str {
        "slotted"
    }

    fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        self.note("send_request", info.get_slot(self.slot()));
        // What is the thread's from now on is not the request's.
        let orb = self.orb.lock().unwrap().clone().expect("initialized");
        orb.pi_current()
            .set_slot(self.slot(), Some(Arc::new(77_u32)))
            .unwrap();
        Ok(())
    }

    fn receive_reply(&self, info: &ClientRequestInfo<'_>) -> Result<(), SystemException> {
        self.note("receive_reply", info.get_slot(self.slot()));
        Ok(())
    }
}

impl ServerRequestInterceptor for Slotted {
    fn name(&self) -> &str {
        "slotted"
    }

    fn receive_request_service_contexts(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        self.note("receive_request_service_contexts", info.get_slot(self.slot()));
        info.set_slot(self.slot(), Some(Arc::new(1_u32))).unwrap();
        Ok(())
    }

    fn receive_request(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        self.note("receive_request", info.get_slot(self.slot()));
        info.set_slot(self.slot(), Some(Arc::new(2_u32))).unwrap();
        assert_eq!(self.of_thread(), Some(2), "what the servant will find");
        Ok(())
    }

    fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        self.note("send_reply", info.get_slot(self.slot()));
        Ok(())
    }
}

/// Both sides.
impl OrbInitializer for Slotted {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
        self.slot.set(info.allocate_slot_id()).expect("once");
        info.add_client_request_interceptor(Arc::new(self.clone()))
            .unwrap();
        info.add_server_request_interceptor(Arc::new(self.clone()))
            .unwrap();
    }

    fn post_init(&self, orb: &Orb) {
        *self.orb.lock().unwrap() = Some(orb.clone());
    }
}

#[test]
fn a_request_has_those_that_its_interceptors_set() {
    let theirs = Slotted::default();
    let server = server(&theirs);
    let client = punctual_fixtures::server::client();
    let probe = server.reference_for(&client);
    for _ in 0..2 {
        // The thread of the lane has none from the request before.
        assert_eq!(probe.twice(1), Ok(2));
        let expected = [
            ("receive_request_service_contexts", None),
            ("receive_request", Some(1)),
            ("send_reply", Some(2)),
        ];
        assert_eq!(theirs.take(), expected);
    }
    release(&theirs);
}

#[test]
fn a_call_has_those_that_its_thread_had() {
    let (server, ours) = (Server::start(), Slotted::default());
    let client = orb().initializer(&ours).build().unwrap();
    let probe = server.reference_for(&client);
    let set = |value: u32| {
        let value: SlotValue = Some(Arc::new(value));
        client.pi_current().set_slot(ours.slot(), value).unwrap();
    };
    set(5);
    assert_eq!(probe.twice(1), Ok(2));
    assert_eq!(
        ours.take(),
        [("send_request", Some(5)), ("receive_reply", Some(5))]
    );
    assert_eq!(
        ours.of_thread(),
        Some(77),
        "what the interceptor has set on the thread"
    );
    set(6);
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(probe.twice(1), Ok(2)));
    });
    assert_eq!(
        ours.take(),
        [("send_request", None), ("receive_reply", None)],
        "of another thread"
    );
    assert_eq!(ours.of_thread(), Some(6));
    release(&ours);
}

/// The slots of the caller and of the request do not mix, although one thread has both.
#[test]
fn calls_within_the_orb_have_both() {
    let both = Slotted::default();
    let server = server(&both);
    let set = |value: u32| {
        let value: SlotValue = Some(Arc::new(value));
        server.orb.pi_current().set_slot(both.slot(), value).unwrap();
    };
    set(5);
    assert_eq!(server.probe.twice(1), Ok(2));
    let expected = [
        ("send_request", Some(5)),
        ("receive_request_service_contexts", None),
        ("receive_request", Some(1)),
        ("send_reply", Some(2)),
        ("receive_reply", Some(5)),
    ];
    assert_eq!(both.take(), expected);
    assert_eq!(both.of_thread(), Some(77), "the caller's are back");

    // A call from inside an upcall has the request's.
    assert_eq!(server.probe.nest(Some(&server.probe), 1), Ok(1));
    let inner = both.take();
    assert_eq!(inner[3], ("send_request", Some(2)), "{inner:?}");
    assert_eq!(inner[4], ("receive_request_service_contexts", None), "{inner:?}");
    assert_eq!(both.of_thread(), Some(77));
    release(&both);
}

#[test]
fn slots_belong_to_their_orb() {
    let (first, second) = (Slotted::default(), Slotted::default());
    let (one, two) = (orb().initializer(&first), orb().initializer(&second));
    let (one, two) = (one.build().unwrap(), two.build().unwrap());
    let value = |value: u32| -> SlotValue { Some(Arc::new(value)) };
    one.pi_current().set_slot(first.slot(), value(1)).unwrap();
    two.pi_current().set_slot(second.slot(), value(2)).unwrap();
    assert_eq!((first.of_thread(), second.of_thread()), (Some(1), Some(2)));
    let plain = orb().build().unwrap();
    assert_eq!(
        plain.pi_current().get_slot(first.slot()).unwrap_err(),
        InvalidSlot
    );
    assert_eq!(plain.pi_current().set_slot(first.slot(), None), Err(InvalidSlot));
    release(&first);
    release(&second);
}

/// Values in slots of an ORB that has ended are dropped when the thread needs slots for another ORB, or ends.
#[test]
fn values_do_not_outlive_what_they_belong_to() {
    let value = Arc::new(7_u32);
    let weak = Arc::downgrade(&value);
    let first = Slotted::default();
    let one = orb().initializer(&first).build().unwrap();
    one.pi_current().set_slot(first.slot(), Some(value)).unwrap();
    release(&first);
    drop(one);
    let second = Slotted::default();
    let two = orb().initializer(&second).build().unwrap();
    two.pi_current().set_slot(second.slot(), None).unwrap();
    assert_eq!(weak.strong_count(), 0);
    release(&second);
}

/// The initializer holds the ORB, which holds its interceptors.
fn release(slotted: &Slotted) {
    *slotted.orb.lock().unwrap() = None;
}
