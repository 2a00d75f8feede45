//! Requests for objects of an adapter that is being destroyed, while its last upcall lasts.

use std::thread;

use punctual::{
    AdapterActivator, AnyServant, Completion, Interface as _, Limits, Minor, OrbError, Poa, SystemException,
    SystemExceptionKind as Kind, ThreadPool,
};
use punctual_fixtures::{
    conformance::ProbeRef,
    eventually,
    server::{Server, Setup, client},
};

/// Makes an adapter with a default servant.
struct Remakes {
    pool: ThreadPool,
    servant: AnyServant,
}

impl AdapterActivator for Remakes {
    fn unknown_adapter(&self, parent: &Poa, name: &str) -> bool {
        let child = parent.child(name).threadpool(&self.pool).user_ids();
        child.default_servant(self.servant.clone()).build().is_ok()
    }
}

fn destroyed() -> Result<i32, SystemException> {
    let (kind, minor) = (Kind::Transient, Minor::OMG_ADAPTER_DESTROYED);
    Err(SystemException::new(kind, minor, Completion::No))
}

/// A server, and its adapters `region` and, below it, `town`.
fn start() -> (Server, [Poa; 2]) {
    let setup = Setup {
        limits: Limits::default().startup(std::time::Duration::ZERO),
        pool: |pool| pool.threads(3),
        ..Setup::default()
    };
    let server = setup.start();
    let root = server.orb.root_poa();
    let region = root.child("region").threadpool(&server.pool).user_ids();
    let region = region.build().unwrap();
    let town = region.child("town").threadpool(&server.pool).user_ids();
    let town = town.build().unwrap();
    (server, [region, town])
}

/// Destroys the adapter while one of its objects executes a request, and calls `meanwhile`.
fn while_destroying(server: &Server, poa: &Poa, meanwhile: impl FnOnce()) {
    let client = client();
    let busy: ProbeRef = poa.object(server.servant()).id("busy").activate().unwrap();
    let busy: ProbeRef = client.resolve(&busy.to_ior()).unwrap();
    thread::scope(|scope| {
        let call = scope.spawn(|| busy.wait_at_gate(1));
        server.hooks.await_at_gate(1);
        let gate = server.hooks.open_gate_at_the_end();
        let destroys = scope.spawn(|| poa.destroy());
        eventually("it is being destroyed", || {
            let late = poa.object(server.servant()).id("late").activate::<ProbeRef>();
            matches!(late, Err(OrbError::AdapterDestroyed))
        });
        meanwhile();
        assert!(!destroys.is_finished(), "it waits for the request");
        drop(gate);
        destroys.join().unwrap().unwrap();
        assert_eq!(call.join().unwrap(), Ok(1), "which ends as if nothing happened");
    });
}

#[test]
fn requests_are_refused_for_the_time_being_while_their_adapter_is_destroyed() {
    let (server, [region, town]) = start();
    let client = client();
    let here = [&region, &town].map(|poa| {
        let probe: ProbeRef = poa.reference().id("probe").create().unwrap();
        probe
    });
    let there = here.each_ref().map(|probe| {
        let probe: ProbeRef = client.resolve(&probe.to_ior()).unwrap();
        probe
    });
    while_destroying(&server, &region, || {
        for probe in here.iter().chain(&there) {
            assert_eq!(probe.twice(4), destroyed());
            assert!(
                probe.as_object().validate_connection().is_ok(),
                "it may come back"
            );
        }
        assert_eq!(server.probe.twice(4), Ok(8), "other adapters are not concerned");
    });
    for probe in here.iter().chain(&there) {
        let gone = probe.twice(4).unwrap_err();
        assert_eq!(gone.kind, Kind::ObjectNotExist, "nothing makes it again");
    }
}

/// References with ids that the ORB has set are refused in the same way, although their keys do not name
/// the adapter.
#[test]
fn objects_with_ids_of_the_orb_are_refused_for_the_time_being() {
    let (server, [region, _]) = start();
    let client = client();
    let (inner, outer) = (region.child("inner"), server.orb.root_poa().child("outer"));
    let [inner, outer] = [inner, outer].map(|poa| poa.threadpool(&server.pool).build().unwrap());
    let here: ProbeRef = inner.activate(server.servant()).unwrap();
    let other: ProbeRef = outer.activate(server.servant()).unwrap();
    let [there, other] = [&here, &other].map(|probe| {
        let probe: ProbeRef = client.resolve(&probe.to_ior()).unwrap();
        probe
    });
    assert_eq!(there.twice(4), Ok(8));
    while_destroying(&server, &region, || {
        eventually("it is not active", || here.twice(4) == destroyed());
        assert_eq!(there.twice(4), destroyed());
        assert!(there.as_object().validate_connection().is_ok());
        assert_eq!(other.twice(4), Ok(8), "other adapters are not concerned");
    });
    for probe in [&here, &there] {
        assert_eq!(probe.twice(4).unwrap_err().kind, Kind::ObjectNotExist);
    }
}

#[test]
fn an_adapter_that_is_destroyed_is_made_again_only_afterwards() {
    let (server, [region, _]) = start();
    let client = client();
    server.orb.root_poa().set_adapter_activator(Remakes {
        pool: server.pool.clone(),
        servant: AnyServant::new::<ProbeRef, _>(server.servant()),
    });
    let here: ProbeRef = region.reference().id("probe").create().unwrap();
    let there: ProbeRef = client.resolve(&here.to_ior()).unwrap();
    while_destroying(&server, &region, || {
        for probe in [&here, &there] {
            assert_eq!(probe.twice(4), destroyed());
        }
    });
    for probe in [&there, &here] {
        assert_eq!(probe.twice(4), Ok(8));
    }
}
