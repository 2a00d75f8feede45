//! The priority at which an answer is sent.

use std::sync::{Arc, Mutex};

use punctual::{
    Interface as _, NativePriority, NetworkPriority, NetworkPriorityMapping, Priority, PriorityModel,
    Protocol, ProtocolPolicy, ProtocolProperties, SchedulingClass,
};
use punctual_fixtures::{
    later::DeskRef,
    real_time::{orb_of_class, ordinary},
    realtime_or_skip,
};
use punctual_os::{Scheduling, scheduling};

use super::{Clerk, Office, Pile};

/// Notes the scheduling of the threads that send, and the priority of what they send.
#[derive(Clone, Default)]
struct Senders(Arc<Mutex<Vec<(Priority, Scheduling)>>>);

impl NetworkPriorityMapping for Senders {
    fn to_network(&self, priority: Priority) -> NetworkPriority {
        self.0.lock().unwrap().push((priority, scheduling::current()));
        NetworkPriority::BEST_EFFORT
    }
}

fn marked() -> ProtocolPolicy {
    let mut properties = ProtocolProperties::default();
    properties.enable_network_priority = true;
    ProtocolPolicy::new([Protocol::IIOP.with(properties)])
}

/// The answering thread has the ordinary class: it sends at the priority of the request, and has its own
/// again afterwards. One with a higher priority keeps it.
#[test]
fn a_lower_thread_is_raised_to_the_request_and_a_higher_one_is_not_lowered() {
    if !realtime_or_skip() {
        return;
    }
    let senders = Senders::default();
    let orb = orb_of_class(SchedulingClass::Fifo)
        .listen("iiop://127.0.0.1:0")
        .network_priority_mapping(senders.clone())
        .server_protocols(marked())
        .build()
        .unwrap();
    let asked = Priority::new(3000).unwrap();
    let pool = orb.threadpool().build().unwrap();
    let model = PriorityModel::ServerDeclared(asked);
    let poa = orb
        .root_poa()
        .child("desks")
        .threadpool(&pool)
        .priority_model(model)
        .build()
        .unwrap();
    let pile = Arc::new(Pile::default());
    let own: DeskRef = poa.activate(Clerk(Arc::clone(&pile))).unwrap();
    let client = ordinary().build().unwrap();
    client
        .set_reply_threadpool(&client.threadpool().build().unwrap())
        .unwrap();
    let desk: DeskRef = client.resolve(&own.as_object().to_ior()).unwrap();
    let sent_by = |own: Scheduling| {
        let call = desk.twice_async(1);
        let (value, response) = pile.one();
        assert_eq!(response.priority(), Some(asked));
        senders.0.lock().unwrap().clear();
        std::thread::spawn(move || {
            scheduling::set_current(own).unwrap();
            assert!(response.respond(Ok(2 * value)));
            assert_eq!(scheduling::current(), own, "it has its own again");
        })
        .join()
        .unwrap();
        assert_eq!(call.wait(), Ok(2));
        let sent = senders.0.lock().unwrap().pop().expect("a reply");
        assert_eq!(sent.0, asked);
        sent.1
    };
    let raised = sent_by(Scheduling::OTHER);
    assert!(
        raised.is_realtime() && raised.priority > NativePriority(1),
        "{raised:?}"
    );
    let higher = Scheduling::fifo(NativePriority(raised.priority.0 + 1));
    assert_eq!(sent_by(higher), higher);
    client.shutdown_and_wait().unwrap();
    orb.shutdown_and_wait().unwrap();
}

/// The one of the pool: nothing is raised in the ordinary class.
#[test]
fn without_a_priority_model_it_is_that_of_the_pool() {
    let office = Office::open();
    let call = office.desk.twice_async(1);
    let (_, response) = office.pile.one();
    assert_eq!(response.priority(), Some(Priority::MIN));
    assert!(response.respond(Ok(2)));
    assert_eq!(call.wait(), Ok(2));
}
