//! Priorities of requests under each combination of pool, priority model and bands.
//!
//! Source: the matrix in TAO's documentation of Real-time CORBA.

use std::thread;

use punctual::{
    Completion, InvalidPolicy, Orb, OrbError, Poa, PriorityBand, PriorityModel, SystemExceptionKind as Kind,
    ThreadPool,
};
use punctual_fixtures::{
    conformance::ProbeRef,
    peer::Peer,
    priorities::{HIGH, LOW, MIDDLE, native},
    priority,
    real_time::{RealTime, class, orb_of_class, ordinary_client, propagated, short},
    rights::realtime_or_skip_part,
    server::Server,
    wire::COMMON,
};
use punctual_os::{TaskId, scheduling};

/// One combination, and what it is to do.
struct Row {
    name: &'static str,
    pool: Pool,
    model: PriorityModel,
    bands: &'static [(i16, i16)],
    /// The object's own priority.
    own: Option<i16>,
    /// The priorities of the endpoints in the reference, the main one first.
    endpoints: &'static [i16],
    calls: &'static [Call],
    /// Priorities at which clients cannot call.
    refused: &'static [i16],
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Pool {
    /// Lanes at low, middle and high priority.
    Lanes,
    /// Threads at middle priority.
    Plain,
}

/// A call of a client.
struct Call {
    /// The client's priority; `None`: it knows nothing of priorities.
    client: Option<i16>,
    /// Priority of the thread while it waits, reads and demultiplexes.
    io: i16,
    /// Its priority in the servant, which `Current` also returns there.
    upcall: i16,
}

const fn call(client: i16, io: i16, upcall: i16) -> Call {
    let client = Some(client);
    Call { client, io, upcall }
}

const fn unaware(io: i16, upcall: i16) -> Call {
    let client = None;
    Call { client, io, upcall }
}

const PROPAGATED: PriorityModel = PriorityModel::ClientPropagated {
    default: match punctual::Priority::new(MIDDLE) {
        Ok(priority) => priority,
        Err(_) => unreachable!(),
    },
};
const DECLARED: PriorityModel = PriorityModel::ServerDeclared(match punctual::Priority::new(LOW) {
    Ok(priority) => priority,
    Err(_) => unreachable!(),
});

const ROWS: &[Row] = &[
    Row {
        name: "lanes, SERVER_DECLARED, no bands: the adapter's priority",
        pool: Pool::Lanes,
        model: DECLARED,
        bands: &[],
        own: None,
        endpoints: &[LOW],
        calls: &[call(0, LOW, LOW), call(HIGH, LOW, LOW), unaware(LOW, LOW)],
        refused: &[],
    },
    Row {
        name: "lanes, SERVER_DECLARED, no bands: the object's own priority",
        pool: Pool::Lanes,
        model: DECLARED,
        bands: &[],
        own: Some(HIGH),
        endpoints: &[HIGH],
        calls: &[call(0, HIGH, HIGH), call(HIGH, HIGH, HIGH), unaware(HIGH, HIGH)],
        refused: &[],
    },
    Row {
        name: "lanes, SERVER_DECLARED, bands",
        pool: Pool::Lanes,
        model: DECLARED,
        bands: &[(0, 15_000), (20_000, HIGH)],
        own: Some(MIDDLE),
        endpoints: &[MIDDLE],
        calls: &[
            call(1, MIDDLE, MIDDLE),
            call(20_001, MIDDLE, MIDDLE),
            unaware(MIDDLE, MIDDLE),
        ],
        refused: &[],
    },
    Row {
        name: "lanes, CLIENT_PROPAGATED, no bands",
        pool: Pool::Lanes,
        model: PROPAGATED,
        bands: &[],
        own: None,
        endpoints: &[MIDDLE, LOW, HIGH],
        calls: &[
            call(LOW, LOW, LOW),
            call(MIDDLE, MIDDLE, MIDDLE),
            call(HIGH, HIGH, HIGH),
            unaware(MIDDLE, MIDDLE),
        ],
        refused: &[0, LOW - 1, LOW + 1, HIGH - 1],
    },
    Row {
        name: "lanes, CLIENT_PROPAGATED, bands that all lanes are in",
        pool: Pool::Lanes,
        model: PROPAGATED,
        bands: &[(0, 12_000), (12_001, 22_000), (30_000, HIGH)],
        own: None,
        endpoints: &[MIDDLE, LOW, HIGH],
        calls: &[
            call(0, LOW, LOW),
            call(12_000, LOW, LOW),
            call(12_001, MIDDLE, MIDDLE),
            call(30_000, HIGH, HIGH),
            call(HIGH, HIGH, HIGH),
            unaware(MIDDLE, MIDDLE),
        ],
        refused: &[22_001, 29_999],
    },
    Row {
        name: "lanes, CLIENT_PROPAGATED, bands that only some lanes are in",
        pool: Pool::Lanes,
        model: PROPAGATED,
        bands: &[(20_000, 25_000)],
        own: None,
        endpoints: &[MIDDLE],
        calls: &[
            call(20_000, MIDDLE, MIDDLE),
            call(25_000, MIDDLE, MIDDLE),
            unaware(MIDDLE, MIDDLE),
        ],
        refused: &[0, LOW, 19_999, 25_001, HIGH],
    },
    Row {
        name: "no lanes, SERVER_DECLARED, no bands",
        pool: Pool::Plain,
        model: DECLARED,
        bands: &[],
        own: None,
        endpoints: &[-1],
        calls: &[
            call(0, MIDDLE, LOW),
            call(HIGH, MIDDLE, LOW),
            unaware(MIDDLE, LOW),
        ],
        refused: &[],
    },
    Row {
        name: "no lanes, SERVER_DECLARED, bands: the object's own priority",
        pool: Pool::Plain,
        model: DECLARED,
        bands: &[(0, 12_000), (30_000, HIGH)],
        own: Some(31_000),
        endpoints: &[-1],
        calls: &[
            call(0, MIDDLE, 31_000),
            call(HIGH, MIDDLE, 31_000),
            unaware(MIDDLE, 31_000),
        ],
        refused: &[],
    },
    Row {
        name: "no lanes, CLIENT_PROPAGATED, no bands",
        pool: Pool::Plain,
        model: PROPAGATED,
        bands: &[],
        own: None,
        endpoints: &[-1],
        calls: &[
            call(0, MIDDLE, 0),
            call(LOW, MIDDLE, LOW),
            call(MIDDLE, MIDDLE, MIDDLE),
            unaware(MIDDLE, MIDDLE),
        ],
        refused: &[],
    },
    Row {
        name: "no lanes, CLIENT_PROPAGATED, bands",
        pool: Pool::Plain,
        model: PROPAGATED,
        bands: &[(100, 200), (20_000, HIGH)],
        own: None,
        endpoints: &[-1],
        calls: &[
            call(100, MIDDLE, 100),
            call(150, MIDDLE, 150),
            call(HIGH, MIDDLE, HIGH),
            unaware(MIDDLE, MIDDLE),
        ],
        refused: &[0, 99, 201, 19_999],
    },
];

#[test]
fn requests_run_at_the_priorities_of_the_matrix() {
    let realtime = realtime_or_skip_part();
    for row in ROWS {
        println!("{}", row.name);
        let (server, probe) = row.start(realtime);
        row.check_reference(&probe);
        let client = ordinary_client();
        let remote: ProbeRef = client.resolve(&probe.to_ior()).unwrap();
        for call in row.calls {
            match call.client {
                Some(asked) => {
                    client.current().set_priority(priority(asked)).unwrap();
                    check(
                        call,
                        realtime,
                        || remote.thread().unwrap(),
                        || {
                            (
                                remote.corba_priority().unwrap(),
                                remote.native_priority().unwrap(),
                            )
                        },
                    );
                }
                None => {
                    let mut peer = Peer::connect(RealTime::of(&probe).ports[0]);
                    let key = punctual_fixtures::server::Profile::of(&probe).key;
                    let mut ask = |operation: &str| {
                        peer.send(&COMMON.request(1, &key, operation, |body| body));
                        peer.receive().unwrap()
                    };
                    let thread = ask("thread").reply().body.clone().i32();
                    check(
                        call,
                        realtime,
                        || thread,
                        || (short(&ask("corba_priority")), short(&ask("native_priority"))),
                    );
                }
            }
        }
        for asked in row.refused {
            client.current().set_priority(priority(*asked)).unwrap();
            let error = remote.corba_priority().unwrap_err();
            let said = (error.kind, error.completed);
            assert_eq!(said, (Kind::InvPolicy, Completion::No), "{}: {asked}", row.name);
        }
        row.check_echo(&probe);
        let misdirected: u64 = server
            .pool
            .statistics()
            .iter()
            .map(|(_, seen)| seen.misdirected)
            .sum();
        assert_eq!(misdirected, 0, "{}", row.name);
    }
}

fn check(call: &Call, realtime: bool, thread: impl FnOnce() -> i32, seen: impl FnOnce() -> (i16, i16)) {
    let (corba, native_in_upcall) = seen();
    assert_eq!(corba, call.upcall, "Current in the servant");
    if realtime {
        assert_eq!(native_in_upcall, native(call.upcall), "the servant's thread");
        let resting = scheduling::of(TaskId::new(thread()).unwrap()).unwrap();
        assert_eq!(
            resting.priority.0,
            native(call.io),
            "the same thread, between requests"
        );
    } else {
        assert_eq!(native_in_upcall, -1);
    }
}

impl Row {
    fn start(&self, realtime: bool) -> (Server, ProbeRef) {
        let (orb, pool) = orb_and_pool(self.pool, realtime);
        let poa = orb
            .root_poa()
            .child("row")
            .threadpool(&pool)
            .priority_model(self.model);
        let poa = if self.bands.is_empty() {
            poa
        } else {
            poa.priority_bands(bands(self.bands))
        };
        let poa = poa.build().unwrap();
        let server = Server::with_poa(orb, pool, poa);
        let probe = match self.own {
            Some(own) => server.another_with_priority(priority(own)),
            None => server.probe.clone(),
        };
        (server, probe)
    }

    fn check_reference(&self, probe: &ProbeRef) {
        let said = RealTime::of(probe);
        assert_eq!(said.endpoints, self.endpoints, "{}", self.name);
        let model = match self.model {
            PriorityModel::ClientPropagated { default } => (0, default.value()),
            PriorityModel::ServerDeclared(declared) => (1, self.own.unwrap_or(declared.value())),
        };
        assert_eq!(said.model, Some(model), "{}", self.name);
        assert_eq!(said.bands, self.bands, "{}", self.name);
        let policies: &[u32] = if self.bands.is_empty() { &[40] } else { &[45, 40] };
        assert_eq!(said.policies, policies, "{}", self.name);
    }

    /// Without lanes the reply says the priority again, octet by octet; with lanes the endpoint says it.
    fn check_echo(&self, probe: &ProbeRef) {
        let said = RealTime::of(probe);
        let key = punctual_fixtures::server::Profile::of(probe).key;
        for call in self.calls {
            let Some(asked) = call.client else { continue };
            let at = said
                .endpoints
                .iter()
                .position(|lane| *lane == call.io)
                .unwrap_or(0);
            let mut peer = Peer::connect(said.ports[at]);
            let context = propagated(asked);
            let contexts = std::slice::from_ref(&context);
            peer.send(&COMMON.request_with(1, 3, &key, "corba_priority", contexts, |body| body));
            let reply = peer.receive().unwrap();
            assert_eq!(short(&reply), call.upcall);
            let echo: &[_] = if self.pool == Pool::Plain { contexts } else { &[] };
            assert_eq!(reply.reply().contexts, echo, "{}", self.name);
        }
    }
}

fn bands(bands: &[(i16, i16)]) -> impl Iterator<Item = PriorityBand> {
    bands
        .iter()
        .map(|(low, high)| PriorityBand::new(priority(*low), priority(*high)))
}

fn orb_and_pool(kind: Pool, realtime: bool) -> (Orb, ThreadPool) {
    let orb = orb_of_class(class(realtime))
        .listen("iiop://127.0.0.1:0")
        .build()
        .unwrap();
    let pool = orb.threadpool();
    let pool = match kind {
        Pool::Lanes => pool
            .lane(priority(LOW), 1)
            .lane(priority(MIDDLE), 1)
            .lane(priority(HIGH), 1),
        Pool::Plain => pool.default_priority(priority(MIDDLE)),
    };
    let pool = pool.build().unwrap();
    (orb, pool)
}

/// The rows of the matrix that are no valid combination.
#[test]
fn a_pool_with_lanes_needs_a_model_and_so_do_bands() {
    for (pool, with_bands, rule) in [
        (Pool::Lanes, false, InvalidPolicy::LanesWithoutModel),
        (Pool::Lanes, true, InvalidPolicy::LanesWithoutModel),
        (Pool::Plain, true, InvalidPolicy::BandsWithoutModel),
    ] {
        let (orb, pool) = orb_and_pool(pool, false);
        let poa = orb.root_poa().child("row").threadpool(&pool);
        let poa = if with_bands {
            poa.priority_bands(bands(&[(0, HIGH)]))
        } else {
            poa
        };
        let error = poa.build().err().unwrap();
        assert!(matches!(error, OrbError::InvalidPolicy { conflict: found, .. } if found == rule));
    }
}

/// The row without a model: everything runs at the pool's default priority.
#[test]
fn without_a_model_requests_run_at_the_pools_priority() {
    let realtime = realtime_or_skip_part();
    let (orb, pool) = orb_and_pool(Pool::Plain, realtime);
    let poa = orb.root_poa().child("row").threadpool(&pool).build().unwrap();
    let server = Server::with_poa(orb, pool, poa);
    let said = RealTime::of(&server.probe);
    assert_eq!(
        (said.model, said.policies, said.endpoints),
        (None, vec![], vec![])
    );
    let client = ordinary_client();
    let remote: ProbeRef = client.resolve(&server.probe.to_ior()).unwrap();
    for asked in [0, LOW, HIGH] {
        client.current().set_priority(priority(asked)).unwrap();
        let call = call(asked, MIDDLE, MIDDLE);
        check(
            &call,
            realtime,
            || remote.thread().unwrap(),
            || {
                (
                    remote.corba_priority().unwrap(),
                    remote.native_priority().unwrap(),
                )
            },
        );
    }
}

/// Threads that call `Orb::run` are a pool without lanes; theirs is the priority that the user gave them.
#[test]
fn threads_of_the_users_own_take_on_priorities_too() {
    let realtime = realtime_or_skip_part();
    for model in [None, Some(PROPAGATED), Some(DECLARED)] {
        let orb = orb_of_class(class(realtime))
            .listen("iiop://127.0.0.1:0")
            .build()
            .unwrap();
        let poa = orb.root_poa().child("row");
        let poa: Poa = match model {
            Some(model) => poa
                .priority_model(model)
                .highest_priority(priority(HIGH))
                .build()
                .unwrap(),
            None => poa.build().unwrap(),
        };
        let pool = orb.threadpool().build().unwrap();
        let server = Server::with_poa(orb.clone(), pool, poa);
        let runner = thread::spawn(move || {
            orb.current().set_priority(priority(MIDDLE)).unwrap();
            orb.run();
            orb.current().priority().unwrap()
        });
        let client = ordinary_client();
        let remote: ProbeRef = client.resolve(&server.probe.to_ior()).unwrap();
        for asked in [0, LOW, HIGH] {
            client.current().set_priority(priority(asked)).unwrap();
            let upcall = match model {
                None => MIDDLE,
                Some(PriorityModel::ClientPropagated { .. }) => asked,
                Some(PriorityModel::ServerDeclared(_)) => LOW,
            };
            let call = call(asked, MIDDLE, upcall);
            check(
                &call,
                realtime,
                || remote.thread().unwrap(),
                || {
                    (
                        remote.corba_priority().unwrap(),
                        remote.native_priority().unwrap(),
                    )
                },
            );
        }
        drop((remote, client));
        server.orb.shutdown();
        assert_eq!(runner.join().unwrap(), priority(MIDDLE), "as it was");
    }
}

/// A servant that gives its thread a priority, or panics, does not keep it.
#[test]
fn a_thread_goes_back_to_its_own_priority_whatever_the_servant_does() {
    let realtime = realtime_or_skip_part();
    for (pool, model) in [
        (Pool::Plain, None),
        (Pool::Plain, Some(DECLARED)),
        (Pool::Plain, Some(PROPAGATED)),
        (Pool::Lanes, Some(PROPAGATED)),
    ] {
        let (orb, pool) = orb_and_pool(pool, realtime);
        let poa = orb.root_poa().child("row").threadpool(&pool);
        let poa = match model {
            Some(model) => poa.priority_model(model),
            None => poa,
        };
        let server = Server::with_poa(orb, pool, poa.build().unwrap());
        let client = ordinary_client();
        let remote: ProbeRef = client.resolve(&server.probe.to_ior()).unwrap();
        client.current().set_priority(priority(LOW)).unwrap();
        let resting = |thread: i32| scheduling::of(TaskId::new(thread).unwrap()).unwrap();
        let thread = remote.thread().unwrap();
        let (own, seen) = (resting(thread), remote.corba_priority());
        for value in [0, HIGH] {
            let expected = if realtime { native(value) } else { -1 };
            assert_eq!(remote.set_corba_priority(None, value), Ok(expected));
            assert_eq!(resting(thread), own);
            assert_eq!(remote.corba_priority(), seen);
            let panicked = remote.twice(punctual_fixtures::server::UNLUCKY).unwrap_err();
            assert_eq!(panicked.kind, Kind::Unknown);
            assert_eq!(resting(thread), own);
        }
        // The same for the thread of a caller in the same ORB.
        let caller = thread::spawn(move || {
            server.orb.current().set_priority(priority(MIDDLE)).unwrap();
            let before = scheduling::current();
            let expected = if realtime { native(HIGH) } else { -1 };
            for next in [None, Some(&server.probe)] {
                assert_eq!(server.probe.set_corba_priority(next, HIGH), Ok(expected));
            }
            assert_eq!(scheduling::current(), before);
            assert_eq!(server.orb.current().priority().unwrap(), priority(MIDDLE));
        });
        caller.join().unwrap();
    }
}
