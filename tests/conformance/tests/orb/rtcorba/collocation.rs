//! Calls within an ORB run on the calling thread; its priority changes only where the server declares one and
//! has no lanes: TAO's `Collocation`.

use std::thread;

use punctual::{Priority, PriorityModel, ThreadPool};
use punctual_fixtures::{
    client_propagated,
    conformance::ProbeRef,
    priorities::{HIGH, LOW, MIDDLE, native, own_native_priority},
    priority,
    real_time::{class, orb_of_class, ordinary_client},
    rights::realtime_or_skip_part,
    server::Server,
};
use punctual_os::TaskId;

/// A kind of adapter, an object of it, and what its servant sees.
type Object = (&'static str, ProbeRef, fn(i16) -> i16, bool);

/// One object for each kind of adapter, in one ORB.
struct Scene {
    server: Server,
    /// View of each servant: its CORBA priority, given the caller's; and whether the thread's native one
    /// changes.
    objects: Vec<Object>,
    realtime: bool,
}

impl Scene {
    fn new() -> Self {
        let realtime = realtime_or_skip_part();
        let orb = orb_of_class(class(realtime))
            .listen("iiop://127.0.0.1:0")
            .build()
            .unwrap();
        let plain = orb.threadpool().default_priority(priority(HIGH)).build().unwrap();
        let lanes = orb
            .threadpool()
            .lane(priority(LOW), 1)
            .lane(priority(HIGH), 1)
            .build()
            .unwrap();
        let server = Server::with_poa(orb.clone(), plain.clone(), orb.root_poa());
        let object = |name: &str, pool: Option<&ThreadPool>, model: Option<PriorityModel>| -> ProbeRef {
            let mut poa = orb.root_poa().child(name).highest_priority(Priority::MAX);
            if let Some(pool) = pool {
                poa = poa.threadpool(pool);
            }
            if let Some(model) = model {
                poa = poa.priority_model(model);
            }
            poa.build().unwrap().activate(server.servant()).unwrap()
        };
        let propagated = Some(client_propagated(priority(LOW)));
        let declared = Some(PriorityModel::ServerDeclared(priority(LOW)));
        let callers: fn(i16) -> i16 = |callers| callers;
        let servers: fn(i16) -> i16 = |_| LOW;
        let objects = vec![
            ("no model", object("a", Some(&plain), None), callers, false),
            (
                "propagated",
                object("b", Some(&plain), propagated),
                callers,
                false,
            ),
            (
                "propagated, lanes",
                object("c", Some(&lanes), propagated),
                callers,
                false,
            ),
            (
                "declared, lanes",
                object("d", Some(&lanes), declared),
                callers,
                false,
            ),
            ("declared", object("e", Some(&plain), declared), servers, true),
            (
                "declared, threads that run",
                object("f", None, declared),
                servers,
                true,
            ),
        ];
        Self {
            server,
            objects,
            realtime,
        }
    }
}

#[test]
fn collocated_calls_run_on_the_callers_thread_and_mostly_at_its_priority() {
    let scene = Scene::new();
    let calls = thread::spawn(move || {
        let own = TaskId::current_thread().get();
        let current = scene.server.orb.current();
        for callers in [0, MIDDLE, HIGH] {
            current.set_priority(priority(callers)).unwrap();
            for (name, object, seen, changes) in &scene.objects {
                assert_eq!(object.thread(), Ok(own), "{name}");
                assert_eq!(object.corba_priority(), Ok(seen(callers)), "{name}");
                let in_upcall = if *changes { LOW } else { callers };
                let expected = if scene.realtime { native(in_upcall) } else { -1 };
                assert_eq!(object.native_priority(), Ok(expected), "{name}");
                assert_eq!(current.priority().unwrap(), priority(callers), "restored: {name}");
                let expected = if scene.realtime { native(callers) } else { -1 };
                assert_eq!(own_native_priority(), expected, "restored: {name}");
            }
        }
        for (_, seen) in scene.server.pool.statistics() {
            assert_eq!(seen.requests, 0, "no request was sent");
        }
    });
    calls.join().unwrap();
}

/// Calls of a servant in its own ORB, and nested ones.
#[test]
fn chains_of_collocated_calls_give_each_priority_back() {
    let scene = Scene::new();
    let calls = thread::spawn(move || {
        scene.server.orb.current().set_priority(priority(MIDDLE)).unwrap();
        for (outer, first, seen_first, _) in &scene.objects {
            for (inner, second, seen_second, _) in &scene.objects {
                let seen = first.corba_priority_of(Some(second));
                assert_eq!(seen, Ok(seen_second(seen_first(MIDDLE))), "{outer} calls {inner}");
                assert_eq!(scene.server.orb.current().priority().unwrap(), priority(MIDDLE));
            }
        }
        if scene.realtime {
            assert_eq!(own_native_priority(), native(MIDDLE));
        }
    });
    calls.join().unwrap();
}

/// From outside each of them is served by its own pool.
#[test]
fn the_same_objects_from_outside_run_in_their_pools() {
    let scene = Scene::new();
    let client = ordinary_client();
    client.current().set_priority(priority(LOW)).unwrap();
    let own = TaskId::current_thread().get();
    for (name, object, _, _) in &scene.objects[..5] {
        let remote: ProbeRef = client.resolve(&object.to_ior()).unwrap();
        assert_ne!(remote.thread(), Ok(own), "{name}");
    }
    // A thread of a pool that calls an object of another pool in its ORB goes on itself.
    let [propagated, lanes] = [1, 2].map(|at| &scene.objects[at].1);
    let remote: ProbeRef = client.resolve(&propagated.to_ior()).unwrap();
    assert_eq!(remote.corba_priority_of(Some(lanes)), Ok(LOW));
    assert_eq!(remote.forward(Some(lanes), 2), Ok(4));
}
