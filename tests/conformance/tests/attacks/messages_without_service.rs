//! Floods of messages that occupy a lane although no request is served: refused requests, LocateRequests and
//! CancelRequests.

use std::{sync::Arc, time::Instant};

use punctual::{
    Completion, Interface, LaneSpec, LaneWait, Limits, Minor, Priority, QueueLimits, SystemException,
    SystemExceptionKind,
    interceptors::{Interrupt, OrbInitInfo, OrbInitializer, ServerRequestInfo, ServerRequestInterceptor},
};
use punctual_fixtures::{
    LONG, client_propagated,
    conformance::ProbeRef,
    peer::Peer,
    priorities::{HIGH, LOW},
    priority,
    real_time::ordinary,
    server::{Profile, Server, Setup},
    wire::{CANCEL_REQUEST, CLOSE_CONNECTION, COMMON, DIALECTS, Dialect, LOCATE_REPLY, REPLY, Reader},
};

use punctual_rtsched::{
    RtScheduling,
    remote::{CancellationPolicy, ThreadControlSpec},
};

/// Number of messages in a flood: well above all limits, and those of two connections fit into a queue.
const FLOOD: u32 = 100;
const LIMIT: u32 = 8;

/// How the lanes of a server wait.
#[derive(Clone, Copy, Debug)]
enum Mode {
    Polled,
    Blocking,
    Buffered,
}

const MODES: [Mode; 3] = [Mode::Polled, Mode::Blocking, Mode::Buffered];

/// A server with two lanes, whose adapter accepts no priority above the low one's.
fn server(mode: Mode) -> Server {
    let limits = Limits::default()
        .max_refused_requests(LIMIT)
        .max_unserved_messages(LIMIT);
    let orb = ordinary()
        .listen("iiop://127.0.0.1:0")
        .limits(limits)
        .build()
        .unwrap();
    let lane = |own| {
        let lane = LaneSpec::new(priority(own)).threads(1);
        match mode {
            Mode::Blocking => lane.wait(LaneWait::Blocking),
            Mode::Polled | Mode::Buffered => lane,
        }
    };
    let pool = orb.threadpool().lane_with(lane(LOW)).lane_with(lane(HIGH));
    let pool = match mode {
        Mode::Buffered => pool.request_buffering(QueueLimits::default()),
        Mode::Polled | Mode::Blocking => pool,
    };
    let pool = pool.build().unwrap();
    let model = client_propagated(priority(LOW));
    let poa = orb
        .root_poa()
        .child("low")
        .threadpool(&pool)
        .priority_model(model);
    let poa = poa.highest_priority(priority(LOW)).build().unwrap();
    Server::with_poa(orb, pool, poa)
}

/// Ports of the low and the high lane.
fn ports(server: &Server) -> [u16; 2] {
    let profile = Profile::of(&server.probe);
    let mut components = profile.components.iter();
    let (_, data) = components
        .find(|(tag, _)| *tag == 0x5441_4f02)
        .expect("endpoints");
    let mut data = Reader::encapsulation(data);
    let mut ports = [(); 2].map(|()| 0);
    assert_eq!(data.u32(), 2);
    for _ in 0..2 {
        data.string();
        let (port, lane) = (data.u16(), data.u16() as i16);
        ports[usize::from(lane == HIGH)] = port;
    }
    ports
}

/// A request that claims this priority.
fn claiming(dialect: Dialect, id: u32, key: &[u8], claimed: i16) -> Vec<u8> {
    let claim = dialect.encapsulation(|data| data.u16(claimed.cast_unsigned()));
    dialect.request_with(id, 3, key, "twice", &[(10, claim)], |body| body.i32(21))
}

fn cancel(dialect: Dialect, id: u32) -> Vec<u8> {
    dialect.message(CANCEL_REQUEST, |message| message.u32(id))
}

/// Sends a flood; returns how many messages of this type come back before the connection is closed in order.
fn answered(peer: &mut Peer, flood: impl Fn(u32) -> Vec<u8>, message_type: u8) -> u32 {
    let flood: Vec<u8> = (0..FLOOD).flat_map(flood).collect();
    peer.send(&flood);
    let mut answered = 0;
    while let Some(message) = peer.receive() {
        if message.message_type == CLOSE_CONNECTION {
            return answered;
        }
        assert_eq!(message.message_type, message_type);
        answered += 1;
    }
    answered
}

#[test]
fn a_peer_that_no_adapter_admits_to_a_lane_has_one_request_refused() {
    for mode in MODES {
        let server = server(mode);
        let [_, high] = ports(&server);
        for (number, claimed) in [LOW, HIGH].into_iter().enumerate() {
            let mut peer = Peer::connect(high);
            let flood = |id| claiming(COMMON, id, &server.key(), claimed);
            assert_eq!(
                answered(&mut peer, flood, REPLY),
                1,
                "NO_PERMISSION, and that is all"
            );
            let seen = server.seen(1);
            // An I/O thread reads ahead.
            let read = if matches!(mode, Mode::Buffered) {
                seen.requests
            } else {
                number as u64 + 1
            };
            assert_eq!(
                (seen.requests, seen.connections.exhausted_budgets),
                (read, number as u64 + 1)
            );
        }
    }
}

#[test]
fn refused_requests_in_excess_of_served_ones_close_their_connection() {
    for mode in MODES {
        let server = server(mode);
        let [low, _] = ports(&server);
        for dialect in DIALECTS {
            let above = |id| claiming(dialect, id, &server.key(), HIGH);
            let unknown = |id| claiming(dialect, id, b"no such object", LOW);
            assert_eq!(answered(&mut Peer::connect(low), above, REPLY), LIMIT + 1);
            assert_eq!(answered(&mut Peer::connect(low), unknown, REPLY), LIMIT + 1);
        }
        // As many are served as are refused.
        let mut peer = Peer::connect(low);
        for id in 0..10 * LIMIT {
            for claimed in [HIGH, LOW] {
                peer.send(&claiming(COMMON, id, &server.key(), claimed));
                let served = peer.receive().expect("a reply").reply().status == 0;
                assert_eq!(served, claimed == LOW);
            }
        }
        assert_eq!(
            server.seen(0).connections.exhausted_budgets,
            2 * DIALECTS.len() as u64
        );
    }
}

#[test]
fn locate_and_cancel_requests_in_excess_of_served_ones_close_their_connection() {
    for mode in MODES {
        let server = server(mode);
        let [low, high] = ports(&server);
        for (lane, port) in [low, high].into_iter().enumerate() {
            for dialect in DIALECTS {
                let locate = |id| dialect.locate_request(id, &server.key());
                assert_eq!(
                    answered(&mut Peer::connect(port), locate, LOCATE_REPLY),
                    LIMIT + 1
                );
                let cancel = |id| cancel(dialect, id);
                assert_eq!(answered(&mut Peer::connect(port), cancel, REPLY), 0);
            }
            let closed = 2 * DIALECTS.len() as u64;
            assert_eq!(server.seen(lane).connections.exhausted_budgets, closed);
        }
        // A client whose calls time out cancels each one.
        let mut peer = Peer::connect(low);
        for id in 0..10 * LIMIT {
            peer.send(&claiming(COMMON, id, &server.key(), LOW));
            assert_eq!(peer.receive().expect("a reply").reply().status, 0);
            peer.send(&cancel(COMMON, id));
        }
    }
}

#[test]
fn requests_that_an_adapter_does_not_serve_now_count_as_well() {
    for mode in MODES {
        let server = server(mode);
        let [low, _] = ports(&server);
        let manager = server.poa.manager();
        let request = |id| claiming(COMMON, id, &server.key(), LOW);
        manager.discard().unwrap();
        assert_eq!(answered(&mut Peer::connect(low), request, REPLY), LIMIT + 1);
        manager.deactivate();
        assert_eq!(answered(&mut Peer::connect(low), request, REPLY), LIMIT + 1);
        assert_eq!(server.seen(0).connections.exhausted_budgets, 2);
    }
}

/// Refuses all requests before a servant is called.
#[derive(Clone)]
struct Refusing;

impl OrbInitializer for Refusing {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
        info.add_server_request_interceptor(Arc::new(Self)).unwrap();
    }
}

impl ServerRequestInterceptor for Refusing {
    fn name(&self) -> &str {
        "refusing"
    }

    fn receive_request_service_contexts(&self, _: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        let kind = SystemExceptionKind::NoPermission;
        Err(SystemException::new(kind, Minor::NONE, Completion::No).into())
    }
}

#[test]
fn requests_that_an_interceptor_refuses_count_as_well() {
    let orb = ordinary()
        .listen("iiop://127.0.0.1:0")
        .initializer(&Refusing)
        .limits(Limits::default().max_refused_requests(LIMIT))
        .build()
        .unwrap();
    let pool = orb.threadpool().build().unwrap();
    let poa = orb.root_poa().child("probes").threadpool(&pool).build().unwrap();
    let server = Server::with_poa(orb, pool, poa);
    let request = |id| COMMON.request(id, &server.key(), "twice", |body| body.i32(21));
    let mut peer = Peer::connect(server.port());
    assert_eq!(answered(&mut peer, request, REPLY), LIMIT + 1);
}

#[test]
fn requests_for_which_a_queue_has_no_room_wait_for_their_turns() {
    let setup = Setup {
        limits: Limits::default().unserved_percent(1),
        pool: |pool| {
            let limits = QueueLimits {
                octets: 1_000,
                ..QueueLimits::default()
            };
            pool.request_buffering(limits)
        },
        ..Setup::default()
    };
    let server = setup.start();
    let large = COMMON.request(1, &server.key(), "twice", |body| body.i32(21).raw(&[0; 2_000]));
    let mut peer = Peer::connect(server.port());
    let begun = Instant::now();
    while server.seen(0).connections.put_off == 0 {
        assert!(begun.elapsed() < LONG, "no request is put off");
        peer.send(&large.repeat(100));
        (0..100).for_each(|_| assert_eq!(peer.receive().unwrap().reply().status, 2));
    }
    // It may be a good client, and is still served.
    peer.send(&COMMON.request(1, &server.key(), "twice", |body| body.i32(21)));
    assert_eq!(peer.receive().unwrap().reply().body.clone().i32(), 42);
    assert_eq!(server.seen(0).connections.exhausted_budgets, 0);
}

/// Each thread may have read one more by the time another has closed the connection: it is not answered.
#[test]
fn several_threads_answer_no_more_than_one() {
    let setup = Setup {
        limits: Limits::default().max_refused_requests(LIMIT),
        pool: |pool| pool.threads(4),
        ..Setup::default()
    };
    let server = setup.start();
    let unknown = |id| COMMON.request(id, b"no such object", "twice", |body| body.i32(21));
    for _ in 0..200 {
        let answered = answered(&mut Peer::connect(server.port()), unknown, REPLY);
        assert!(answered <= LIMIT + 1, "{answered}");
    }
    assert_eq!(server.seen(0).connections.exhausted_budgets, 200);
}

#[test]
fn the_limits_leave_room_for_many_references() {
    let server = Server::start();
    let mut peer = Peer::connect(server.port());
    for id in 0..256 {
        peer.send(&COMMON.locate_request(id, &server.key()));
        assert_eq!(peer.receive().expect("a reply").message_type, LOCATE_REPLY);
    }
    assert_eq!(server.seen(0).connections.exhausted_budgets, 0);
}

#[test]
fn a_peer_that_may_not_query_the_control_of_threads_loses_its_connection() {
    let scheduling = RtScheduling::builder().build().unwrap();
    let orb = ordinary()
        .listen("iiop://127.0.0.1:0")
        .initializer(&scheduling)
        .limits(Limits::default().max_refused_requests(LIMIT))
        .build()
        .unwrap();
    // With several threads, each may answer requests before it sees that another has closed the connection.
    let spec = ThreadControlSpec::default()
        .lane(LaneSpec::new(Priority::MAX).threads(1))
        .policy(CancellationPolicy::deny_all());
    let control = scheduling.open_control(&orb, spec).unwrap();
    let Profile { port, key, .. } =
        Profile::of(&ProbeRef::from_object(control.reference().as_object().clone()));
    let query = |id| {
        COMMON.request(id, &key, "find", |body| {
            body.raw(&[1; 16]).u8(0).raw(&[0; 7]).raw(&[0; 8])
        })
    };
    assert_eq!(answered(&mut Peer::connect(port), query, REPLY), LIMIT + 1);
    orb.shutdown_and_wait().unwrap();
}
