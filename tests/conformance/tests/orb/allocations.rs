//! No heap allocation per call after warm-up: on the calling thread, on the lane's, and for calls inside one
//! ORB.

use std::time::Duration;

use punctual::{
    ConnectionMode, ExpiredRequests, Inspection, LaneWait, Orb, Peers, PolicyOverrides, Priority,
    PriorityBand, PriorityTransform, Protocol, ProtocolPolicy, QueueLimits, ThreadPoolBuilder, WaitStrategy,
};
use punctual_fixtures::{
    asleep, client_propagated,
    conformance::{Longs, ProbeRef},
    eventually,
    real_time::{ordinary, ordinary_client},
    server::{self, Server, Setup},
};
use punctual_os::{TaskId, alloc_counter::count_allocations};

/// The called object, in its view and `_into` forms, with memory that the caller keeps.
struct Caller {
    probe: ProbeRef,
    text: String,
    longs: Longs,
    reversed: Longs,
}

impl Caller {
    fn new(probe: ProbeRef) -> Self {
        Self {
            probe,
            text: String::new(),
            longs: (0..1000).collect(),
            reversed: Longs::new(),
        }
    }

    fn call_long(&mut self) {
        assert_eq!(self.probe.twice(21).unwrap(), 42);
    }

    fn call_string(&mut self) {
        self.probe.greet_into("André", &mut self.text).unwrap();
        assert_eq!(self.text, "Hello, André");
    }

    fn call_sequence(&mut self) {
        self.probe.reverse_into(&self.longs, &mut self.reversed).unwrap();
        assert_eq!((self.reversed.len(), self.reversed[0]), (1000, 999));
    }

    fn call_oneway(&mut self) {
        self.probe.note(5).unwrap();
        assert_eq!(self.probe.noted().unwrap(), 5);
    }
}

const WARM_UP: usize = 10;
const CALLS: usize = 100;

/// Allocations of `CALLS` calls on this thread and on the thread that serves them.
fn allocations(caller: &mut Caller, call: fn(&mut Caller)) -> (u64, u64) {
    (0..WARM_UP).for_each(|_| call(caller));
    // Twice: the first one warms this operation up.
    caller.probe.allocations().unwrap();
    let before = caller.probe.allocations().unwrap();
    let ((), client) = count_allocations(|| (0..CALLS).for_each(|_| call(caller)));
    (client, caller.probe.allocations().unwrap() - before)
}

fn assert_none(probe: ProbeRef) {
    let caller = &mut Caller::new(probe);
    let calls: [(_, fn(&mut Caller)); 4] = [
        ("long", Caller::call_long),
        ("string", Caller::call_string),
        ("sequence", Caller::call_sequence),
        ("oneway", Caller::call_oneway),
    ];
    for (what, call) in calls {
        assert_eq!(allocations(caller, call), (0, 0), "{what}: caller, server");
    }
}

#[test]
fn the_counter_counts() {
    let (server, client) = (Server::start(), server::client());
    let caller = &mut Caller::new(server.reference_for(&client));
    let owned = |caller: &mut Caller| {
        assert!(!caller.probe.greet("you").unwrap().is_empty());
        assert_eq!(caller.probe.filled(100).unwrap().len(), 100);
    };
    let (client, server) = allocations(caller, owned);
    assert!(client >= 2 * CALLS as u64, "owned results allocate: {client}");
    assert!(
        server >= CALLS as u64,
        "as does a servant that makes some: {server}"
    );
}

#[test]
fn calls_over_a_connection_allocate_nothing() {
    let server = Server::start();
    assert_none(server.reference_for(&server::client()));
}

#[test]
fn nor_do_calls_with_a_deadline() {
    let (server, client) = (Server::start(), server::client());
    let probe = server.reference_for(&client);
    assert_none(probe.with_timeout(Duration::from_secs(5)).unchecked());
}

/// Each call's time is taken on both sides of the upcall, and the request's deadline is looked at.
#[test]
fn nor_do_calls_to_an_orb_that_is_inspected() {
    let socket = std::env::temp_dir().join(format!("punctual-allocations-{}", std::process::id()));
    let setup = Setup {
        inspection: Some(Inspection::at(socket)),
        ..Setup::default()
    };
    let server = setup.start();
    let policies = PolicyOverrides::new()
        .roundtrip_timeout(Duration::from_secs(5))
        .sends_deadlines(true);
    let client = server::client();
    let probe = server.reference_for(&client);
    assert_none(probe.with_policies(policies).unchecked());
    assert!(server.seen(0).requests > 0);
}

/// Every client policy at once, set at each of the three scopes.
#[test]
fn nor_do_calls_under_policies() {
    let policies = PolicyOverrides::new()
        .priority_bands([PriorityBand::new(Priority::MIN, Priority::MAX)])
        .private_connection(true)
        .client_protocols(ProtocolPolicy::new([Protocol::IIOP]))
        .roundtrip_timeout(Duration::from_secs(5))
        .request_timeout(Duration::from_secs(4))
        .connection_timeout(Duration::from_secs(3))
        .sends_deadlines(true);
    let server =
        Server::with_propagated_priorities(Priority::MIN, |pool| pool.default_priority(Priority::MAX));
    let client = ordinary_client();
    client.current().set_priority(Priority::MIN).unwrap();
    let probe = server.reference_for(&client);
    client.replace_policies(policies.clone());
    assert_none(probe.clone());
    client.current().replace_policies(policies.clone());
    assert_none(probe.clone());
    client.current().replace_policies(PolicyOverrides::new());
    client.replace_policies(PolicyOverrides::new());
    assert_none(probe.with_policies(policies).unchecked());
}

#[test]
fn nor_do_calls_in_iso_8859_1() {
    let server = Server::start();
    assert_none(server.without_components(&server::client()));
}

#[test]
fn nor_do_calls_that_carry_a_priority_into_a_lane() {
    let low = Priority::new(10_922).unwrap();
    let mut setup = Setup {
        model: Some(client_propagated(low)),
        ..Setup::default()
    };
    setup.pool = |pool| pool.lane(Priority::MIN, 1).lane(Priority::MAX, 1);
    let server = setup.start();
    let client = ordinary_client();
    client.current().set_priority(Priority::MAX).unwrap();
    assert_none(server.reference_for(&client));
    assert_eq!(server.pool.statistics()[0].1.requests, 0);
}

#[test]
fn nor_do_calls_that_a_borrowed_thread_serves() {
    assert_none_by_borrowed(|pool| pool);
}

#[test]
fn nor_do_calls_that_a_borrowed_thread_serves_from_a_queue() {
    assert_none_by_borrowed(|pool| pool.request_buffering(QueueLimits::default()));
}

/// The lane's own thread is in an upcall all the while, and a lower lane's thread serves.
fn assert_none_by_borrowed(shape: fn(ThreadPoolBuilder) -> ThreadPoolBuilder) {
    let low = Priority::new(10_922).unwrap();
    let orb = ordinary().listen("iiop://127.0.0.1:0").build().unwrap();
    let pool = shape(orb.threadpool())
        .lane(Priority::MIN, 1)
        .lane(Priority::MAX, 1)
        .allow_borrowing(true)
        .build()
        .unwrap();
    let poa = orb.root_poa().child("probes").threadpool(&pool);
    let poa = poa.priority_model(client_propagated(low));
    let server = Server::with_poa(orb, pool.clone(), poa.build().unwrap());
    let clients = [(); 2].map(|()| ordinary_client());
    let busy = server.reference_for(&clients[0]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            clients[0].current().set_priority(Priority::MAX).unwrap();
            assert_eq!(busy.wait_at_gate(1), Ok(1));
        });
        server.hooks.await_at_gate(1);
        clients[1].current().set_priority(Priority::MAX).unwrap();
        assert_none(server.reference_for(&clients[1]));
        let [(_, low), (_, high)] = server.pool.statistics()[..] else {
            panic!("two lanes");
        };
        assert_eq!((low.requests, high.threads.borrowed), (0, high.requests - 1));
        server.hooks.open_gate();
    });
}

#[test]
fn nor_do_calls_to_a_lane_that_blocks_in_read() {
    let server = Server::with_pool(|pool| pool.wait(LaneWait::Blocking));
    assert_none(server.reference_for(&server::client()));
}

#[test]
fn nor_do_calls_that_wait_while_a_manager_holds_them() {
    let server = Server::with_pool(|pool| pool.wait(LaneWait::Blocking));
    let client = server::client();
    let limits = QueueLimits {
        requests: 2,
        octets: 64 << 10,
    };
    for probe in [server.probe.clone(), server.reference_for(&client)] {
        let manager = server.poa.manager();
        let serving = probe.thread().unwrap();
        let is_remote = serving != TaskId::current_thread().get();
        let mut caller = Caller::new(probe);
        let (mut callers, mut before) = (0, 0);
        for call in 0..WARM_UP + CALLS {
            if call == WARM_UP {
                callers = 0;
                before = caller.probe.allocations().unwrap();
            }
            let requests = server.seen(0).requests;
            manager.hold(limits).unwrap();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    eventually("it has arrived", || {
                        !is_remote || server.seen(0).requests > requests
                    });
                    // In the call, or the thread of the test.
                    asleep(serving);
                    manager.activate().unwrap();
                });
                callers += count_allocations(|| caller.call_long()).1;
            });
        }
        let after = caller.probe.allocations().unwrap();
        // The thread of the test allocates for `hold` and for the threads that it starts.
        let served = if is_remote { after - before } else { 0 };
        assert_eq!((callers, served), (0, 0), "caller, server");
    }
}

/// Every step there is between a propagated priority and its servant: rules by peer, a transform, the
/// thread's priority.
#[test]
fn nor_do_calls_whose_priorities_are_checked_transformed_and_taken_on() {
    struct Add;
    impl PriorityTransform for Add {
        fn inbound(&self, priority: Priority, _: &[u8]) -> Option<Priority> {
            Priority::new(priority.value() + 1).ok()
        }

        fn outbound(&self, priority: Priority, _: &[u8]) -> Option<Priority> {
            Some(priority)
        }
    }
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .lock_memory(false)
        .build()
        .unwrap();
    let pool = orb.threadpool().build().unwrap();
    let model = client_propagated(Priority::MIN);
    let poa = orb
        .root_poa()
        .child("rt")
        .threadpool(&pool)
        .priority_model(model)
        .accept_priorities(Peers::Remote, Priority::MIN)
        .accept_priorities(Peers::SameHost, Priority::MAX)
        .priority_transform(Add)
        .build()
        .unwrap();
    let server = Server::with_poa(orb, pool, poa);
    let client = ordinary_client();
    client
        .current()
        .set_priority(Priority::new(500).unwrap())
        .unwrap();
    let remote = server.reference_for(&client);
    assert_eq!(remote.corba_priority(), Ok(501));
    assert_none(remote);
}

#[test]
fn nor_do_calls_through_a_queue() {
    let server = Server::with_pool(|pool| {
        pool.request_buffering(QueueLimits::default())
            .expired_requests(ExpiredRequests::DropByClock)
    });
    assert_none(server.reference_for(&server::client()));
    assert_eq!(server.seen(0).queue.accepted, server.seen(0).requests);
}

#[test]
fn nor_do_calls_that_are_handed_to_another_lane() {
    let setup = Setup {
        // No reference says where MAX is served: the default's lane is the other one.
        model: Some(client_propagated(Priority::MAX)),
        pool: |pool| pool.lane(Priority::MIN, 1).lane(Priority::MAX, 1),
        redispatch: Some(QueueLimits::default()),
        ..Setup::default()
    };
    let server = setup.start();
    assert_none(server.without_components(&server::client()));
    assert_eq!(server.seen(0).redispatched, server.seen(0).requests);
    assert_eq!(server.seen(1).queue.accepted, server.seen(0).requests);
}

#[test]
fn nor_do_calls_whose_thread_serves_while_it_waits() {
    let pools: [fn(ThreadPoolBuilder) -> ThreadPoolBuilder; 2] =
        [|pool| pool, |pool| pool.request_buffering(QueueLimits::default())];
    for pool in pools {
        let serving = || Setup {
            wait_strategy: WaitStrategy::Serving,
            pool,
            ..Setup::default()
        };
        let (one, other) = (serving().start(), serving().start());
        one.hooks.choose_partner(other.reference_for(&one.orb));
        other.hooks.choose_partner(one.reference_for(&other.orb));
        let client = server::client();
        let caller = &mut Caller::new(one.reference_for(&client));
        let rally = |caller: &mut Caller| assert_eq!(caller.probe.rally(4), Ok(4));
        assert_eq!(allocations(caller, rally), (0, 0), "caller, server");
        for server in [&one, &other] {
            let shared = server.orb.policies().connection_mode(ConnectionMode::Shared);
            server.orb.replace_policies(shared);
        }
        assert_eq!(allocations(caller, rally), (0, 0), "over shared connections");
        assert_eq!(one.seen(0).connections.shared, 1);
    }
}

/// The caller, the lane's thread that serves, and the one that reads the replies, which serves an object of
/// its own, too.
#[test]
fn nor_do_calls_over_a_shared_connection() {
    let (server, reading, observer) = (Server::start(), Server::start(), server::client());
    reading.orb.set_reply_threadpool(&reading.pool).unwrap();
    let reader = reading.reference_for(&observer);
    let shared = PolicyOverrides::new().connection_mode(ConnectionMode::Shared);
    for policies in [shared.clone(), shared.roundtrip_timeout(Duration::from_secs(5))] {
        reading.orb.replace_policies(policies);
        let probe = server.reference_for(&reading.orb);
        assert_none(probe.clone());
        // The first one warms this operation up.
        reader.allocations().unwrap();
        let before = (reader.allocations().unwrap(), reading.seen(0).replies);
        assert_none(probe);
        assert_eq!(reader.allocations().unwrap() - before.0, 0, "the reading thread");
        assert!(reading.seen(0).replies - before.1 >= 4 * CALLS as u64);
    }
    assert_eq!(reading.seen(0).connections.shared, 1);
}

#[test]
fn nor_do_calls_inside_one_orb() {
    let server = Server::start();
    assert_none(server.probe.clone());
    assert_eq!(server.pool.statistics()[0].1.requests, 0);
}
