//! Pools that end while clients call. TAO's test Destroy_Thread_Pool.

use std::{
    fs,
    net::TcpStream,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use punctual::{
    LaneSpec, LaneWait, Orb, OrbError, Poa, SystemExceptionKind as Kind, ThreadPool, ThreadPoolId,
};
use punctual_fixtures::{
    Finally,
    conformance::ProbeRef,
    eventually,
    peer::Peer,
    server::{Server, client},
    wire::{CLOSE_CONNECTION, COMMON},
};

use super::{HIGH, LOW, Shape, prefix, priority, threads_of};

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").expect("procfs").count()
}

fn make(server: &Server, name: &str, pool: Shape) -> (ThreadPool, Poa, ProbeRef) {
    let pool = pool(server.orb.threadpool()).build().unwrap();
    let poa = server
        .orb
        .root_poa()
        .child(name)
        .threadpool(&pool)
        .build()
        .unwrap();
    let probe = server.another_in(&poa);
    (pool, poa, probe)
}

const SHAPES: [(&str, Shape); 3] = [
    ("static", |pool| pool.threads(3)),
    ("dynamic", |pool| pool.threads(1).dynamic_threads(3)),
    ("blocking", |pool| pool.threads(2).wait(LaneWait::Blocking)),
];

/// Each ORB counts for itself, and gives no id twice; threads' names tell the pools of a process apart all
/// the same.
#[test]
fn pools_are_known_by_their_ids() {
    let (one, other) = (Server::start(), Server::start());
    for server in [&one, &other] {
        assert_eq!(server.pool.id(), ThreadPoolId(1));
        let more = || server.orb.threadpool().build().unwrap();
        let [second, third] = [more(), more()];
        assert_eq!((second.id(), third.id()), (ThreadPoolId(2), ThreadPoolId(3)));
        server.orb.destroy_threadpool(ThreadPoolId(3)).unwrap();
        assert_eq!(more().id(), ThreadPoolId(4));
        server.orb.destroy_threadpool(ThreadPoolId(2)).unwrap();
        assert!(matches!(second.destroy(), Err(OrbError::InvalidThreadPool)));
        // Destroyed, never there, and the default one's.
        for gone in [2, 3, 5, 0, u32::MAX] {
            let result = server.orb.destroy_threadpool(ThreadPoolId(gone));
            assert!(matches!(result, Err(OrbError::InvalidThreadPool)), "{gone}");
        }
        match server.orb.destroy_threadpool(ThreadPoolId(1)) {
            Err(OrbError::PoolInUse(adapters)) => assert_eq!(adapters, "probes"),
            result => panic!("{result:?}"),
        }
        assert_eq!(server.reference_for(&client()).twice(1), Ok(2));
    }
    assert_ne!(prefix(&one), prefix(&other));
}

#[test]
fn a_pool_in_use_is_not_destroyed() {
    let server = Server::start();
    match server.pool.destroy() {
        Err(OrbError::PoolInUse(adapters)) => assert_eq!(adapters, "probes"),
        other => panic!("{other:?}"),
    }
    assert_eq!(server.reference_for(&client()).twice(1), Ok(2), "it goes on");
    let nested = server
        .poa
        .child("nested")
        .threadpool(&server.pool)
        .build()
        .unwrap();
    server.poa.destroy().unwrap();
    assert!(nested.child("late").build().is_err(), "it went with its parent");
    server.pool.destroy().unwrap();
    assert!(matches!(server.pool.destroy(), Err(OrbError::InvalidThreadPool)));
}

#[test]
fn calls_under_way_are_finished_and_clients_are_taken_leave_of() {
    for (name, shape) in SHAPES {
        let server = Server::start();
        let (pool, poa, probe) = make(&server, name, shape);
        let profile = punctual_fixtures::server::Profile::of(&probe);
        let mut idle = [(); 4].map(|()| Peer::connect(profile.port));
        for peer in &mut idle {
            peer.send(&COMMON.request(1, &profile.key, "twice", |body| body.i32(1)));
            assert_eq!(peer.receive().unwrap().reply().body.i32(), 2);
        }
        // On a connection that a thread has for itself, where threads have.
        let busy = &mut idle[0];
        busy.send(&COMMON.request(9, &profile.key, "wait_at_gate", |body| body.i32(5)));
        server.hooks.await_at_gate(1);
        thread::scope(|scope| {
            let destroying = scope.spawn(|| poa.destroy().and_then(|()| pool.destroy()));
            eventually("nothing comes in", || poa.child("late").build().is_err());
            assert!(!destroying.is_finished(), "{name}: it waits for the call");
            server.hooks.open_gate();
            assert_eq!(busy.receive().unwrap().reply().body.i32(), 5, "{name}");
            destroying.join().unwrap().unwrap();
        });
        for peer in &mut idle {
            assert_eq!(peer.receive().unwrap().message_type, CLOSE_CONNECTION, "{name}");
            assert!(peer.is_closed(), "{name}");
        }
        assert!(
            TcpStream::connect(("127.0.0.1", profile.port)).is_err(),
            "{name}: no listener remains"
        );
    }
}

/// Clients call all the while: each call is answered or fails with what says that the object or its server is
/// gone.
#[test]
fn callers_never_hang() {
    for (name, shape) in SHAPES {
        let server = Server::start();
        let (pool, poa, probe) = make(&server, name, shape);
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let callers: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        let client = client();
                        let probe: ProbeRef = client.resolve(&probe.to_ior()).unwrap();
                        let (mut answered, mut gone) = (0, 0);
                        while !over.load(Ordering::SeqCst) || gone == 0 {
                            match probe.twice(21) {
                                Ok(result) => {
                                    assert_eq!(result, 42);
                                    answered += 1;
                                }
                                Err(error) => {
                                    let expected = [Kind::ObjectNotExist, Kind::Transient, Kind::CommFailure];
                                    assert!(expected.contains(&error.kind), "{name}: {error}");
                                    gone += 1;
                                }
                            }
                        }
                        answered
                    })
                })
                .collect();
            let end = Finally(|| over.store(true, Ordering::SeqCst));
            eventually("calls are under way", || pool.statistics()[0].1.requests > 100);
            poa.destroy().unwrap();
            pool.destroy().unwrap();
            drop(end);
            let answered: Vec<i32> = callers.into_iter().map(|caller| caller.join().unwrap()).collect();
            assert!(answered.iter().sum::<i32>() >= 90, "{name}: {answered:?}");
        });
        assert_eq!(pool.statistics()[0].1.connections.open, 0, "{name}");
    }
}

#[test]
fn nothing_is_left_of_it() {
    let server = Server::with_pool(|pool| pool.threads(1));
    let client = client();
    let round = |name: &str, shape: Shape| {
        let (pool, poa, probe) = make(&server, name, shape);
        let reference: ProbeRef = client.resolve(&probe.to_ior()).unwrap();
        let thread = reference.thread().unwrap();
        assert!(fs::exists(format!("/proc/self/task/{thread}")).unwrap());
        poa.destroy().unwrap();
        pool.destroy().unwrap();
        assert!(reference.twice(1).is_err());
        eventually("its thread has ended", || {
            !fs::exists(format!("/proc/self/task/{thread}")).unwrap()
        });
    };
    let own = threads_of(&prefix(&server));
    round("first", |pool| pool);
    let before = descriptors();
    for (name, shape) in SHAPES {
        (0..5).for_each(|_| round(name, shape));
    }
    // Other tests of this process come and go meanwhile: leaks would be 15 pools with 3 descriptors each.
    eventually("descriptors are closed", || descriptors() < before + 30);
    assert_eq!(threads_of(&prefix(&server)), own);
}

#[test]
fn a_lane_that_borrows_ends_like_any_other() {
    let orb = Orb::builder().lock_memory(false).build().unwrap();
    let pool = orb
        .threadpool()
        .lane(priority(LOW), 2)
        .lane_with(LaneSpec::new(priority(HIGH)).dynamic_threads(1))
        .allow_borrowing(true)
        .build()
        .unwrap();
    pool.destroy().unwrap();
    assert!(
        pool.statistics()
            .iter()
            .all(|(_, lane)| lane.threads.present == 0)
    );
}
