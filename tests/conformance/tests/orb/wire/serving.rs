//! Wait strategies: what a lane's thread does while it waits for the reply to a call of its own.

use std::{process::Command, thread, time::Duration};

use punctual::{
    Completion, Minor, Orb, PolicyOverrides, Priority, QueueLimits, SchedulingClass,
    SystemExceptionKind as Kind, ThreadPoolBuilder, WaitStrategy, ior_to_string,
};
use punctual_fixtures::{
    client_propagated,
    conformance::ProbeRef,
    eventually,
    peer::{Listener, Peer},
    real_time::ordinary,
    realtime_or_skip,
    server::{Profile, Server, Setup, UNLUCKY, client, of_punctual, reference},
    wire::{COMMON, Octets, Reader},
};

type Pool = fn(ThreadPoolBuilder) -> ThreadPoolBuilder;

/// One thread, with and without a queue in front of it.
const POOLS: [Pool; 2] = [
    |pool| pool,
    |pool| {
        pool.request_buffering(QueueLimits {
            requests: 8,
            octets: 1 << 16,
        })
    },
];

fn serving(pool: Pool) -> Setup {
    Setup {
        pool,
        wait_strategy: WaitStrategy::Serving,
        ..Setup::default()
    }
}

/// Two servers whose objects call each other.
fn partners(setup: impl Fn() -> Setup) -> (Server, Server) {
    let (one, other) = (setup().start(), setup().start());
    one.hooks.choose_partner(other.reference_for(&one.orb));
    other.hooks.choose_partner(one.reference_for(&other.orb));
    (one, other)
}

#[test]
fn objects_with_one_thread_each_can_call_each_other_back() {
    for pool in POOLS {
        let (one, other) = partners(|| serving(pool));
        let client = client();
        let here = one.reference_for(&client);
        for depth in [0, 1, 2, 3, 10, 50] {
            assert_eq!(here.rally(depth), Ok(depth), "{depth}");
        }
        let served = one.seen(0).requests + other.seen(0).requests;
        assert_eq!(served, 6 + 1 + 2 + 3 + 10 + 50, "over the wire, each of them");
    }
}

/// Over every kind of stream: all promise edges, but not all are sockets.
#[test]
fn every_transport_can_be_waited_for() {
    for place in ["iiop://127.0.0.1:0", "uiop://"] {
        let start = || {
            let orb = ordinary()
                .listen(place)
                .wait_strategy(WaitStrategy::Serving)
                .build()
                .expect("an ORB");
            let pool = orb.threadpool().build().expect("a pool");
            let poa = orb.root_poa().child("probes").threadpool(&pool).build();
            Server::with_poa(orb, pool, poa.expect("an adapter"))
        };
        let (one, other) = (start(), start());
        one.hooks.choose_partner(other.reference_for(&one.orb));
        other.hooks.choose_partner(one.reference_for(&other.orb));
        let client = client();
        let here = one.reference_for(&client);
        for _ in 0..200 {
            assert_eq!(here.rally(5), Ok(5), "{place}");
        }
        assert_eq!(one.seen(0).requests + other.seen(0).requests, 200 * 6);
    }
}

#[test]
fn blocking_they_wait_for_each_other_until_the_deadline() {
    let blocking = || Setup {
        call_timeout: Some(Duration::from_millis(200)),
        ..Setup::default()
    };
    let (one, _other) = partners(blocking);
    let client = client();
    let here = one.reference_for(&client);
    assert_eq!(here.rally(1), Ok(1), "without a callback");
    let late = here.rally(2).unwrap_err();
    assert_eq!(late.kind, Kind::Timeout);
}

#[test]
fn how_deep_calls_nest_is_limited() {
    const LIMIT: i32 = 4;
    for pool in POOLS {
        let limited = || {
            let mut setup = serving(pool);
            setup.limits = setup.limits.max_nested_calls(LIMIT as usize);
            setup
        };
        let (one, _other) = partners(limited);
        let client = client();
        let here = one.reference_for(&client);
        // Each of the two may make so many.
        assert_eq!(here.rally(2 * LIMIT), Ok(2 * LIMIT));
        for depth in [2 * LIMIT + 1, 1000] {
            let deep = here.rally(depth).unwrap_err();
            assert_eq!(
                (deep.kind, deep.minor),
                (Kind::ImpLimit, Minor::NESTING_OF_CALLS_TOO_DEEP)
            );
        }
        assert_eq!(here.rally(2 * LIMIT), Ok(2 * LIMIT));
    }
}

/// An object that the test plays, and a server whose object calls it on one thread.
fn played(pool: Pool) -> (Server, Listener, ProbeRef) {
    let server = serving(pool).start();
    let listener = Listener::open();
    let ior = reference([1, 2], listener.port, b"played", &[of_punctual()]);
    let played = server
        .orb
        .resolve(&ior_to_string(&ior))
        .expect("a good reference");
    (server, listener, played)
}

/// A request to call `twice` of the played object.
fn forward(server: &Server, id: u32, port: u16) -> Vec<u8> {
    let ior = reference([1, 2], port, b"played", &[of_punctual()]);
    COMMON.request(id, &server.key(), "forward", |body: Octets| {
        let body = body.string(ior.type_id.as_bytes()).u32(1);
        body.u32(ior.profiles[0].tag)
            .sequence(&ior.profiles[0].data)
            .i32(5)
    })
}

fn answer_twice(peer: &mut Peer) {
    let message = peer.receive().expect("a request");
    let request = message.request();
    assert_eq!(
        (request.operation, request.body.clone().i32()),
        (&b"twice"[..], 5)
    );
    peer.send(&COMMON.reply(request.id, 0, |body| body.i32(10)));
}

/// Over the connection whose request is waiting, too, and where all of it came in one piece.
#[test]
fn a_thread_that_waits_serves_whatever_comes_to_its_lane() {
    for pool in POOLS {
        let (server, listener, _) = played(pool);
        let mut peer = Peer::connect(server.port());
        let twice = |id| COMMON.request(id, &server.key(), "twice", |body| body.i32(21));
        peer.send(&[forward(&server, 1, listener.port), twice(2), twice(3)].concat());
        let mut object = listener.accept();
        for id in [2, 3] {
            assert_eq!(peer.receive().expect("meanwhile").reply().id, id);
        }
        peer.send(&twice(4));
        assert_eq!(peer.receive().expect("meanwhile").reply().id, 4);
        let mut new = Peer::connect(server.port());
        new.send(&COMMON.request(5, &server.key(), "twice", |body| body.i32(21)));
        assert_eq!(new.receive().expect("meanwhile").reply().id, 5);
        answer_twice(&mut object);
        let message = peer.receive().expect("a reply");
        assert_eq!((message.reply().id, message.reply().body.i32()), (1, 10));
    }
}

#[test]
fn a_reply_waits_for_what_is_served_inside() {
    for pool in POOLS {
        let (server, listener, _) = played(pool);
        let mut peer = Peer::connect(server.port());
        peer.send(&forward(&server, 1, listener.port));
        let mut object = listener.accept();
        peer.send(&COMMON.request(2, &server.key(), "wait_at_gate", |body| body.i32(2)));
        server.hooks.await_at_gate(1);
        answer_twice(&mut object);
        server.hooks.open_gate();
        for id in [2, 1] {
            assert_eq!(peer.receive().expect("a reply").reply().id, id);
        }
    }
}

#[test]
fn a_deadline_ends_the_wait_and_the_connection_stays_good() {
    for pool in POOLS {
        let mut setup = serving(pool);
        setup.call_timeout = Some(Duration::from_millis(50));
        let server = setup.start();
        let listener = Listener::open();
        let mut peer = Peer::connect(server.port());
        peer.send(&forward(&server, 1, listener.port));
        let mut object = listener.accept();
        let message = peer.receive().expect("a reply");
        assert_eq!((message.reply().id, message.reply().status), (1, 2));
        // The late reply is passed over.
        answer_twice(&mut object);
        peer.send(&forward(&server, 2, listener.port));
        answer_twice(&mut object);
        let message = peer.receive().expect("a reply");
        assert_eq!((message.reply().id, message.reply().status), (2, 0));
        assert_eq!(message.reply().body.i32(), 10);
    }
}

#[test]
fn shutting_down_does_not_disturb_the_wait() {
    for pool in POOLS {
        let (server, listener, _) = played(pool);
        let mut peer = Peer::connect(server.port());
        peer.send(&forward(&server, 1, listener.port));
        let mut object = listener.accept();
        server.orb.shutdown();
        answer_twice(&mut object);
        let message = peer.receive().expect("a reply");
        assert_eq!((message.reply().id, message.reply().body.i32()), (1, 10));
        server.orb.shutdown_and_wait().expect("not in an upcall");
    }
}

/// Two threads, each of which waits and serves, under calls from all sides.
#[test]
fn every_callback_is_served_once_when_many_call() {
    const CALLS: i32 = 100;
    const DEPTH: i32 = 5;
    let pools: [Pool; 2] = [
        |pool| pool.threads(2),
        |pool| pool.threads(2).request_buffering(QueueLimits::default()),
    ];
    for pool in pools {
        let (one, other) = partners(|| serving(pool));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let client = client();
                    let (here, there) = (one.reference_for(&client), other.reference_for(&client));
                    for _ in 0..CALLS {
                        assert_eq!(here.rally(DEPTH), Ok(DEPTH));
                        assert_eq!(there.rally(DEPTH), Ok(DEPTH));
                    }
                });
            }
        });
        let served = one.seen(0).requests + other.seen(0).requests;
        assert_eq!(served, 3 * 2 * (CALLS * (DEPTH + 1)) as u64);
    }
}

/// A pool without lanes, in SCHED_FIFO: what is served meanwhile runs at its own priority, and the call goes
/// on at its.
#[test]
fn priorities_are_those_of_the_upcall_that_runs() {
    let declared = Priority::new(21_844).expect("not negative");
    let setup = Setup {
        model: Some(client_propagated(declared)),
        pool: |pool| pool.default_priority(Priority::MAX),
        class: SchedulingClass::Fifo,
        wait_strategy: WaitStrategy::Serving,
        ..Setup::default()
    };
    let server = setup.start();
    if !realtime_or_skip() {
        return;
    }
    let listener = Listener::open();
    let mut peer = Peer::connect(server.port());
    peer.send(&forward(&server, 1, listener.port));
    let mut object = listener.accept();
    for (id, asked, native) in [(2, 0, 1), (3, 32_767, 99), (4, 21_844, 66)] {
        let contexts = [(10, COMMON.encapsulation(|data| data.u16(asked)))];
        peer.send(&COMMON.request_with(id, 3, &server.key(), "native_priority", &contexts, |body| body));
        let message = peer.receive().expect("meanwhile");
        assert_eq!((message.reply().id, message.reply().body.u16()), (id, native));
    }
    answer_twice(&mut object);
    assert_eq!(peer.receive().expect("a reply").reply().id, 1);
}

/// A server whose references do not look like its own, so that calls to itself go over the wire.
fn stranger_to_itself(strategy: WaitStrategy, pool: Pool) -> (Server, Orb, ProbeRef) {
    let orb = ordinary()
        .listen("iiop://localhost:0")
        .wait_strategy(strategy)
        .build()
        .expect("an ORB");
    let pool = pool(orb.threadpool()).build().expect("a pool");
    let poa = orb
        .root_poa()
        .child("probes")
        .threadpool(&pool)
        .build()
        .expect("an adapter");
    let named = orb
        .root_poa()
        .child("named")
        .threadpool(&pool)
        .persistent()
        .user_ids();
    let named = named.build().expect("an adapter");
    let server = Server::with_poa(orb, pool, poa);
    let probe: ProbeRef = named
        .object(server.servant())
        .id("probe")
        .activate()
        .expect("an object");
    let Profile { port, key, .. } = Profile::of(&probe);
    // 127.0.0.1, where its own say localhost.
    let ior = reference([1, 2], port, &key, &[]);
    let client = client();
    let resolve = |orb: &Orb| {
        orb.resolve::<ProbeRef>(&ior_to_string(&ior))
            .expect("a good reference")
    };
    server.hooks.choose_partner(resolve(&server.orb));
    let strange = resolve(&client);
    (server, client, strange)
}

#[test]
fn a_thread_that_would_wait_for_itself_is_told() {
    for pool in POOLS {
        let (server, _client, strange) = stranger_to_itself(WaitStrategy::Blocking, pool);
        let refused = strange.forward(Some(&strange), 5).unwrap_err();
        assert_eq!(
            (refused.kind, refused.minor, refused.completed),
            (Kind::BadInvOrder, Minor::DEADLOCK_DETECTED, Completion::Maybe)
        );
        assert_eq!(server.seen(0).threads.deadlocks, 1);
        assert_eq!(strange.twice(21), Ok(42), "nothing else has happened");
        let (_server, _client, strange) = stranger_to_itself(WaitStrategy::Serving, pool);
        assert_eq!(strange.forward(Some(&strange), 5), Ok(10));
    }
}

/// The notice on standard error was prepared before: the refusal that prints it allocates no more than those
/// that print nothing.
#[test]
fn naming_the_lane_allocates_nothing() {
    let (server, _client, strange) = stranger_to_itself(WaitStrategy::Blocking, |pool| pool);
    // The thread has made a call, and raised an exception.
    assert_eq!(strange.forward(Some(&Server::start().probe), 5), Ok(10));
    strange.twice(UNLUCKY).unwrap_err();
    let allocations = || strange.allocations().unwrap();
    allocations();
    let refusals = [(); 3].map(|()| {
        let before = allocations();
        strange.rally(1).unwrap_err();
        allocations() - before
    });
    assert_eq!(refusals, [refusals[2]; 3]);
    assert_eq!(server.seen(0).threads.deadlocks, 3);
}

/// In a process of its own, for what it says.
#[test]
fn standard_error_names_each_lane_once() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "wire::serving::deadlocks_in_two_lanes", "--ignored"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    for lane in ["`p1-0`", "`p2-0`"] {
        assert_eq!(said.matches(lane).count(), 1, "{lane}: {said}");
    }
    assert_eq!(said.matches("Give the lane another thread").count(), 2, "{said}");
}

#[test]
#[ignore = "started by other tests"]
fn deadlocks_in_two_lanes() {
    for _ in 0..2 {
        let (server, _client, strange) = stranger_to_itself(WaitStrategy::Blocking, |pool| pool);
        for _ in 0..2 {
            strange.rally(1).unwrap_err();
        }
        assert_eq!(server.seen(0).threads.deadlocks, 2);
    }
}

#[test]
fn while_another_thread_is_left_it_may_wait() {
    let pools: [Pool; 2] = [
        |pool| pool.threads(2),
        |pool| pool.threads(2).request_buffering(QueueLimits::default()),
    ];
    for pool in pools {
        let (server, _client, strange) = stranger_to_itself(WaitStrategy::Blocking, pool);
        assert_eq!(strange.forward(Some(&strange), 5), Ok(10));
        // One waits for the other, which would wait for both.
        assert_eq!(strange.rally(1), Ok(1));
        let refused = strange.rally(2).unwrap_err();
        assert_eq!(
            (refused.kind, refused.minor),
            (Kind::BadInvOrder, Minor::DEADLOCK_DETECTED)
        );
        assert_eq!(server.seen(0).threads.deadlocks, 1);
        eventually("all are back", || strange.twice(21) == Ok(42));
    }
}

#[test]
fn one_reference_may_serve_where_the_others_block() {
    let blocking = || Setup {
        call_timeout: Some(Duration::from_secs(5)),
        ..Setup::default()
    };
    let (one, other) = (blocking().start(), blocking().start());
    let serving = PolicyOverrides::new().wait_strategy(WaitStrategy::Serving);
    let there: ProbeRef = other.reference_for(&one.orb).with_policies(serving).unchecked();
    one.hooks.choose_partner(there);
    other.hooks.choose_partner(one.reference_for(&other.orb));
    let client = client();
    // One waits and serves; the other one, which no waiting caller calls back, blocks.
    assert_eq!(one.reference_for(&client).rally(2), Ok(2));
}

/// A lent thread that waits serves the lane that it is lent to, and not its own: that would delay the higher
/// lane's request.
#[test]
fn a_lent_thread_serves_the_lane_that_has_it() {
    let (low, high) = (Priority::MIN, Priority::MAX);
    let setup = Setup {
        model: Some(client_propagated(low)),
        pool: |pool| {
            pool.lane(Priority::MIN, 1)
                .lane(Priority::MAX, 1)
                .allow_borrowing(true)
        },
        wait_strategy: WaitStrategy::Serving,
        ..Setup::default()
    };
    let server = setup.start();
    let profile = Profile::of(&server.probe);
    let (_, data) = profile
        .components
        .iter()
        .find(|(tag, _)| *tag == 0x5441_4f02)
        .expect("endpoints");
    let mut data = Reader::encapsulation(data);
    assert_eq!(data.u32(), 2);
    let [mut to_low, mut to_high] = [low, high].map(|own| {
        assert_eq!(data.string(), b"127.0.0.1");
        let port = data.u16();
        assert_eq!(data.u16() as i16, own.value());
        Peer::connect(port)
    });
    let listener = Listener::open();
    let request = |id: u32, own: Priority, operation: &str| {
        let contexts = [(10, COMMON.encapsulation(|data| data.u16(own.value() as u16)))];
        COMMON.request_with(id, 3, &server.key(), operation, &contexts, |body| {
            body.i32(id as i32)
        })
    };
    to_high.send(&request(1, high, "wait_at_gate"));
    server.hooks.await_at_gate(1);
    to_high.send(&forward(&server, 2, listener.port));
    let mut object = listener.accept();
    assert_eq!(server.seen(0).threads.lent, 1);
    to_low.send(&request(3, low, "wait_at_gate"));
    for id in 4..8 {
        to_high.send(&request(id, high, "twice"));
        assert_eq!(to_high.receive().expect("meanwhile").reply().id, id);
    }
    assert_eq!(server.hooks.arrived_at_gate(), 1, "its own lane waits");
    answer_twice(&mut object);
    assert_eq!(to_high.receive().expect("a reply").reply().id, 2);
    server.hooks.await_at_gate(2);
    server.hooks.open_gate();
    assert_eq!(to_high.receive().expect("a reply").reply().id, 1);
    assert_eq!(to_low.receive().expect("a reply").reply().id, 3);
    eventually("all are back", || {
        server.seen(0).threads.busy + server.seen(1).threads.busy == 0
    });
}
