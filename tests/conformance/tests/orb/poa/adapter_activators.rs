//! Adapters that are made when they are needed, also those of persistent objects after a restart.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use punctual::{
    AdapterActivator, AnyServant, Completion, Interface as _, Limits, Minor, Orb, Poa, QueueLimits,
    SystemException, SystemExceptionKind as Kind, ThreadPool,
};
use punctual_fixtures::{
    conformance::ProbeRef,
    eventually,
    server::{Server, Setup, client},
};

/// Creates `north` and all adapters below it, with a default servant.
struct Regions {
    pool: ThreadPool,
    servant: AnyServant,
    calls: Arc<AtomicUsize>,
}

impl AdapterActivator for Regions {
    fn unknown_adapter(&self, parent: &Poa, name: &str) -> bool {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let child = parent.child(name).threadpool(&self.pool).user_ids().persistent();
        let child = match name {
            "north" => child.build(),
            "one" => child.default_servant(self.servant.clone()).build(),
            "panics" => panic!("expected: the activator of a test"),
            _ => return false,
        };
        child.is_ok_and(|child| {
            child.set_adapter_activator(Self {
                pool: self.pool.clone(),
                servant: self.servant.clone(),
                calls: Arc::clone(&self.calls),
            });
            true
        })
    }
}

fn regions(server: &Server) -> Regions {
    Regions {
        pool: server.pool.clone(),
        servant: AnyServant::new::<ProbeRef, _>(server.servant()),
        calls: Arc::default(),
    }
}

/// A reference to a persistent object of the adapters with these names, which exist only while it is made.
fn reference(server: &Server, names: &[&str], client: &Orb) -> ProbeRef {
    let mut poas = vec![server.orb.root_poa()];
    for name in names {
        let parent = poas.last().unwrap();
        let child = parent
            .child(name)
            .threadpool(&server.pool)
            .user_ids()
            .persistent();
        poas.push(child.build().unwrap());
    }
    let made: ProbeRef = poas.last().unwrap().reference().id("probe").create().unwrap();
    poas[1].destroy().unwrap();
    client.resolve(&made.to_ior()).unwrap()
}

fn no_adapter() -> SystemException {
    SystemException::new(Kind::ObjectNotExist, Minor::ADAPTER_NOT_FOUND, Completion::No)
}

#[test]
fn adapters_are_made_from_the_top_to_the_one_that_is_needed() {
    let server = Server::start();
    let client = client();
    let wanted = reference(&server, &["north", "one"], &client);
    let unwanted = reference(&server, &["north", "two"], &client);
    let panics = reference(&server, &["panics"], &client);
    let regions = regions(&server);
    let calls = Arc::clone(&regions.calls);
    assert!(wanted.twice(1).is_err(), "no activator makes it yet");
    server.orb.root_poa().set_adapter_activator(regions);
    assert_eq!(wanted.twice(4), Ok(8));
    assert_eq!(calls.load(Ordering::SeqCst), 2, "north, and one below it");
    assert_eq!(wanted.twice(5), Ok(10));
    assert_eq!(calls.load(Ordering::SeqCst), 2, "they exist now");
    assert_eq!(unwanted.twice(1), Err(no_adapter()));
    assert_eq!(calls.load(Ordering::SeqCst), 3);
    let failed = SystemException::new(Kind::ObjAdapter, Minor::SERVANT_MANAGER_FAILED, Completion::No);
    assert_eq!(panics.twice(1), Err(failed));
    let north = server.orb.root_poa().find("north").expect("it exists");
    assert_eq!(
        north.children().iter().map(Poa::name).collect::<Vec<_>>(),
        ["one"]
    );
    assert!(server.orb.root_poa().find("south").is_none());
    assert_eq!(calls.load(Ordering::SeqCst), 5, "panics, south");
}

/// A server that has started, and a client's reference to an object of `north/one`.
fn started() -> (Server, Orb, ProbeRef) {
    let setup = Setup {
        limits: Limits::default().startup(Duration::ZERO),
        ..Setup::default()
    };
    let (server, client) = (setup.start(), client());
    let probe = reference(&server, &["north", "one"], &client);
    (server, client, probe)
}

#[test]
fn an_object_is_located_although_its_adapter_is_yet_to_be_made() {
    let (server, _client, there) = started();
    let here: ProbeRef = server.orb.resolve(&there.to_ior()).unwrap();
    assert!(
        there.as_object().validate_connection().is_err(),
        "nobody makes it"
    );
    let regions = regions(&server);
    let calls = Arc::clone(&regions.calls);
    server.orb.root_poa().set_adapter_activator(regions);
    for probe in [&there, &here] {
        assert_eq!(probe.as_object().validate_connection().map(|_| ()), Ok(()));
    }
    assert_eq!(calls.load(Ordering::SeqCst), 0, "locating makes nothing");
    assert_eq!(there.twice(4), Ok(8));
    assert_eq!(calls.load(Ordering::SeqCst), 2);
    assert!(there.as_object().validate_connection().is_ok());
}

#[test]
fn an_activator_is_called_only_while_the_manager_of_its_adapter_is_active() {
    let (server, _client, there) = started();
    let here: ProbeRef = server.orb.resolve(&there.to_ior()).unwrap();
    let regions = regions(&server);
    let calls = Arc::clone(&regions.calls);
    let root = server.orb.root_poa();
    root.set_adapter_activator(regions);
    let manager = root.manager();
    let failed = |kind, minor| Err(SystemException::new(kind, minor, Completion::No));
    manager.discard().unwrap();
    for probe in [&there, &here] {
        let discarded = failed(Kind::Transient, Minor::OMG_REQUEST_DISCARDED);
        assert_eq!(probe.twice(1), discarded);
    }
    let limits = QueueLimits {
        requests: 2,
        octets: 64 << 10,
    };
    for probe in [&there, &here] {
        manager.hold(limits).unwrap();
        thread::scope(|scope| {
            let before = calls.load(Ordering::SeqCst);
            let call = scope.spawn(|| probe.twice(4));
            thread::sleep(Duration::from_millis(50));
            assert!(!call.is_finished(), "it is held");
            assert_eq!(calls.load(Ordering::SeqCst), before);
            manager.activate().unwrap();
            assert_eq!(call.join().unwrap(), Ok(8));
            assert_eq!(
                calls.load(Ordering::SeqCst),
                before + 2,
                "north, and one below it"
            );
        });
        root.find("north").unwrap().destroy().unwrap();
    }
    manager.deactivate();
    let before = calls.load(Ordering::SeqCst);
    for probe in [&there, &here] {
        let inactive = failed(Kind::ObjAdapter, Minor::ADAPTER_INACTIVE);
        assert_eq!(probe.twice(1), inactive);
    }
    assert_eq!(calls.load(Ordering::SeqCst), before);
}

/// Makes adapters that hold requests, each with an activator of its own.
struct Holding(Regions);

impl AdapterActivator for Holding {
    fn unknown_adapter(&self, parent: &Poa, name: &str) -> bool {
        let made = self.0.unknown_adapter(parent, name);
        let limits = QueueLimits {
            requests: 2,
            octets: 64 << 10,
        };
        parent.find(name).unwrap().manager().hold(limits).unwrap();
        made
    }
}

#[test]
fn an_adapter_that_is_made_holding_holds_the_request_that_made_it() {
    let (server, _client, probe) = started();
    let regions = regions(&server);
    let calls = Arc::clone(&regions.calls);
    let root = server.orb.root_poa();
    root.set_adapter_activator(Holding(regions));
    thread::scope(|scope| {
        let call = scope.spawn(|| probe.twice(4));
        eventually("north is made", || calls.load(Ordering::SeqCst) == 1);
        thread::sleep(Duration::from_millis(50));
        assert!(!call.is_finished(), "it is held");
        assert_eq!(calls.load(Ordering::SeqCst), 1, "not the one below it");
        root.find("north").unwrap().manager().activate().unwrap();
        assert_eq!(call.join().unwrap(), Ok(8));
    });
}

#[test]
fn keys_without_an_adapter_cost_no_more_than_a_refusal() {
    let server = Server::start();
    let client = client();
    let deep: Vec<String> = (0..20).map(|depth| format!("d{depth}")).collect();
    let deep: Vec<&str> = deep.iter().map(String::as_str).collect();
    let probe = reference(&server, &deep, &client);
    let regions = regions(&server);
    let calls = Arc::clone(&regions.calls);
    server.orb.root_poa().set_adapter_activator(regions);
    for call in 1..=3 {
        assert_eq!(probe.twice(1), Err(no_adapter()));
        assert_eq!(calls.load(Ordering::SeqCst), call, "the first name only");
    }
}

/// Makes an adapter of any name below the root.
struct AnyName(Regions);

impl AdapterActivator for AnyName {
    fn unknown_adapter(&self, parent: &Poa, name: &str) -> bool {
        self.0.calls.fetch_add(1, Ordering::SeqCst);
        let child = parent
            .child(name)
            .threadpool(&self.0.pool)
            .user_ids()
            .persistent();
        child.default_servant(self.0.servant.clone()).build().is_ok()
    }
}

#[test]
fn names_of_adapters_contain_any_characters() {
    let (server, client) = (Server::start(), client());
    let names = ["a/b", "a~1b", "/", "~"];
    let probes = names.map(|name| reference(&server, &[name], &client));
    let (regions, root) = (regions(&server), server.orb.root_poa());
    root.set_adapter_activator(AnyName(regions));
    for (name, probe) in names.iter().zip(&probes) {
        assert_eq!(probe.twice(4), Ok(8), "{name}");
        assert_eq!(root.find(name).unwrap().name(), *name);
    }
    assert_eq!(
        root.children().len(),
        names.len() + 1,
        "each once, and that of the fixture"
    );
    assert!(root.child("a/b").build().is_err(), "it exists");
    let below = root.find("a/b").unwrap().child("c/d").build().unwrap();
    assert_eq!(below.name(), "c/d");
}
