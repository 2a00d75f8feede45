//! Default servants, servant activators and servant locators.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use punctual::{
    AnyServant, Completion, Declined, Etherealized, Interface as _, Minor, OrbError, Poa, PoaBuilder,
    ServantActivator, ServantLocator, SystemException, SystemExceptionKind as Kind,
};
use punctual_fixtures::{
    conformance::ProbeRef,
    server::{Server, UNLUCKY, client},
};

fn absent() -> SystemException {
    SystemException::new(Kind::ObjectNotExist, Minor::TARGET_KEY_UNKNOWN, Completion::No)
}

fn any(server: &Server) -> AnyServant {
    AnyServant::new::<ProbeRef, _>(server.servant())
}

fn adapter(server: &Server, name: &str) -> PoaBuilder {
    server
        .orb
        .root_poa()
        .child(name)
        .threadpool(&server.pool)
        .user_ids()
}

/// A reference to the object with this id, here and at a client.
fn references(poa: &Poa, client: &punctual::Orb, id: &[u8]) -> [ProbeRef; 2] {
    let here: ProbeRef = poa.reference().id(id).create().unwrap();
    let there = client.resolve(&here.to_ior()).unwrap();
    [here, there]
}

type Log = Arc<Mutex<Vec<String>>>;

fn note(log: &Log, event: &str, id: &[u8]) {
    let id = String::from_utf8_lossy(id);
    log.lock().unwrap().push(format!("{event} {id}"));
}

fn taken(log: &Log) -> Vec<String> {
    std::mem::take(&mut *log.lock().unwrap())
}

#[test]
fn a_default_servant_serves_what_is_not_active() {
    let server = Server::start();
    let client = client();
    let poa = adapter(&server, "default")
        .default_servant(any(&server))
        .build()
        .unwrap();
    for probe in references(&poa, &client, b"any") {
        assert_eq!(probe.twice(4), Ok(8));
        assert_eq!(probe.non_existent(), Ok(false));
        assert_eq!(probe.as_object().is_a("IDL:conformance/Probe:1.0"), Ok(true));
        assert_eq!(probe.as_object().is_a("IDL:other:1.0"), Ok(false));
    }
    // An active object has precedence: it can be deactivated, and then the default servant serves again.
    let active: ProbeRef = poa.object(server.servant()).id("active").activate().unwrap();
    assert_eq!(active.twice(1), Ok(2));
    poa.deactivate(&active).unwrap();
    assert_eq!(active.twice(2), Ok(4));
    poa.destroy().unwrap();
    assert!(active.twice(2).is_err());
}

/// A reference to the object, the adapter's answer to activating another one, and to deactivating this one.
type Managed = (ProbeRef, Result<ProbeRef, OrbError>, Result<(), OrbError>);

#[test]
fn an_adapter_that_retains_nothing_has_no_active_objects() {
    let server = Server::start();
    let client = client();
    let locator = Locator {
        servant: any(&server),
        log: Log::default(),
        elsewhere: server.another(),
    };
    let build = |name, by: fn(PoaBuilder, AnyServant) -> PoaBuilder| {
        by(adapter(&server, name), any(&server)).build().unwrap()
    };
    let manage = |poa: &Poa| -> Managed {
        let [here, there] = references(poa, &client, b"any");
        for probe in [&here, &there] {
            assert_eq!(probe.twice(4), Ok(8));
            assert_eq!(probe.non_existent(), Ok(false));
            assert_eq!(probe.as_object().is_a("IDL:conformance/Probe:1.0"), Ok(true));
        }
        assert_eq!(poa.id_of(&here).unwrap(), b"any");
        let activated = poa.object(server.servant()).id("other").activate();
        let deactivated = poa.deactivate(&here);
        assert_eq!(there.twice(5), Ok(10), "it is still served");
        (here, activated, deactivated)
    };
    let retaining = build("retaining", PoaBuilder::default_servant);
    let (_, activated, deactivated) = manage(&retaining);
    assert!(activated.is_ok() && matches!(deactivated, Err(OrbError::NotActive)));
    let located = adapter(&server, "located").servant_locator(locator).build();
    for poa in [build("only", PoaBuilder::only_default_servant), located.unwrap()] {
        let (probe, activated, deactivated) = manage(&poa);
        for error in [activated.err(), deactivated.err()] {
            let error = error.expect("it retains no servant");
            assert!(matches!(error, OrbError::WrongPolicy(_)));
            assert!(error.to_string().contains("NON_RETAIN"), "{error}");
        }
        poa.destroy().unwrap();
        assert_eq!(probe.twice(4).unwrap_err().kind, Kind::ObjectNotExist);
    }
}

struct Sensors {
    server: Arc<Mutex<Option<AnyServant>>>,
    elsewhere: ProbeRef,
    log: Log,
    in_incarnate: AtomicBool,
}

impl ServantActivator for Sensors {
    fn incarnate(&self, id: &[u8], poa: &Poa) -> Result<AnyServant, Declined> {
        assert!(!self.in_incarnate.swap(true, Ordering::SeqCst), "one at a time");
        assert_eq!(poa.name(), "activated");
        note(&self.log, "incarnate", id);
        std::thread::yield_now();
        self.in_incarnate.store(false, Ordering::SeqCst);
        match id {
            b"moved" => Err(Declined::Forward(self.elsewhere.as_object().clone())),
            b"busy" => Err(SystemException::new(Kind::NoResources, Minor::NONE, Completion::No).into()),
            b"broken" => panic!("expected: the activator of a test"),
            b"radar" | b"sonar" => Ok(self.server.lock().unwrap().clone().expect("a servant")),
            _ => Err(Declined::no_object()),
        }
    }

    fn etherealize(&self, id: &[u8], ended: Etherealized) {
        note(
            &self.log,
            if ended.cleanup { "cleanup" } else { "etherealize" },
            id,
        );
    }
}

#[test]
fn a_servant_activator_is_asked_once_for_each_object() {
    let server = Server::start();
    let client = client();
    let log = Log::default();
    let activator = Sensors {
        server: Arc::new(Mutex::new(Some(any(&server)))),
        elsewhere: server.probe.clone(),
        log: Arc::clone(&log),
        in_incarnate: AtomicBool::new(false),
    };
    let poa = adapter(&server, "activated")
        .servant_activator(activator)
        .build()
        .unwrap();
    let [here, there] = references(&poa, &client, b"radar");
    assert_eq!(
        there.as_object().validate_connection().ok(),
        Some(()),
        "it might exist"
    );
    assert_eq!(taken(&log), [""; 0], "locating an object does not activate it");
    std::thread::scope(|scope| {
        for probe in [&here, &there, &here, &there] {
            scope.spawn(|| assert_eq!(probe.twice(4), Ok(8)));
        }
    });
    assert_eq!(taken(&log), ["incarnate radar"]);
    poa.deactivate(&here).unwrap();
    assert_eq!(taken(&log), ["etherealize radar"]);
    assert_eq!(there.twice(5), Ok(10));
    assert_eq!(taken(&log), ["incarnate radar"], "a new incarnation");
    let failed = SystemException::new(Kind::ObjAdapter, Minor::SERVANT_MANAGER_FAILED, Completion::No);
    let busy = SystemException::new(Kind::NoResources, Minor::NONE, Completion::No);
    for (id, expected) in [("busy", Err(busy)), ("broken", Err(failed)), ("moved", Ok(8))] {
        for probe in references(&poa, &client, id.as_bytes()) {
            assert_eq!(probe.twice(4), expected, "{id}");
        }
    }
    let [here, there] = references(&poa, &client, b"unknown");
    assert_eq!(there.twice(1), Err(absent()));
    assert_eq!(here.twice(1).unwrap_err().kind, Kind::ObjectNotExist);
    taken(&log);
    poa.destroy().unwrap();
    assert_eq!(taken(&log), ["cleanup radar"]);
}

#[test]
fn an_activator_is_not_asked_for_ids_that_its_adapter_did_not_make() {
    let server = Server::start();
    let log = Log::default();
    let activator = Sensors {
        server: Arc::default(),
        elsewhere: server.probe.clone(),
        log: Arc::clone(&log),
        in_incarnate: AtomicBool::new(false),
    };
    let root = server.orb.root_poa();
    let poa = root.child("activated").threadpool(&server.pool);
    let poa = poa.servant_activator(activator).build().unwrap();
    let made: ProbeRef = poa.reference().create().unwrap();
    assert_eq!(made.twice(1).unwrap_err().kind, Kind::ObjectNotExist);
    assert_eq!(taken(&log).len(), 1, "the activator has declined");
    assert!(matches!(
        poa.reference().id("forged").create::<ProbeRef>(),
        Err(OrbError::WrongPolicy(_))
    ));
    // The same key with another number at its end, as a peer may send it.
    let forged = forged(&made);
    let client = client();
    let forged: ProbeRef = client.resolve(&punctual::ior_to_string(&forged)).unwrap();
    assert_eq!(forged.twice(1), Err(absent()));
    assert_eq!(taken(&log), [""; 0]);
}

/// The reference with another last octet of its object key, which is found by its marker.
fn forged(made: &ProbeRef) -> punctual::Ior {
    let mut ior = made.as_object().ior().clone();
    let path = b"activated";
    for profile in &mut ior.profiles {
        let at = profile
            .data
            .windows(path.len())
            .position(|window| window == path)
            .unwrap();
        // The id: a mark and eight octets of a number.
        profile.data[at + path.len() + 8] = 77;
    }
    ior
}

struct Locator {
    servant: AnyServant,
    log: Log,
    elsewhere: ProbeRef,
}

impl ServantLocator for Locator {
    fn preinvoke(&self, id: &[u8], _: &Poa, operation: &str) -> Result<(AnyServant, u64), Declined> {
        note(&self.log, operation, id);
        match id {
            b"absent" => Err(absent().into()),
            b"moved" => Err(Declined::Forward(self.elsewhere.as_object().clone())),
            _ => Ok((self.servant.clone(), id.len() as u64)),
        }
    }

    fn postinvoke(&self, id: &[u8], poa: &Poa, operation: &str, cookie: u64, _: &AnyServant) {
        assert_eq!((cookie, poa.name()), (id.len() as u64, "located"));
        note(&self.log, &format!("after {operation}"), id);
    }
}

#[test]
fn a_servant_locator_is_asked_for_each_request() {
    let server = Server::start();
    let client = client();
    let log = Log::default();
    let locator = Locator {
        servant: any(&server),
        log: Arc::clone(&log),
        elsewhere: server.another(),
    };
    let poa = adapter(&server, "located")
        .servant_locator(locator)
        .build()
        .unwrap();
    for probe in references(&poa, &client, b"file") {
        assert_eq!(probe.twice(4), Ok(8));
        assert_eq!(taken(&log), ["twice file", "after twice file"]);
        assert!(probe.greet("").is_err(), "an exception of the user's");
        assert_eq!(taken(&log), ["greet file", "after greet file"]);
        assert_eq!(probe.as_object().is_a("IDL:conformance/Probe:1.0"), Ok(true));
        assert_eq!(probe.as_object().is_a("IDL:other:1.0"), Ok(false));
        taken(&log);
    }
    for probe in references(&poa, &client, b"absent") {
        assert_eq!(probe.twice(4), Err(absent()));
        assert_eq!(taken(&log), ["twice absent"], "what did not begin does not end");
    }
    for probe in references(&poa, &client, b"moved") {
        assert_eq!(probe.twice(4), Ok(8), "the object elsewhere answers");
        assert!(probe.greet("").is_err(), "with exceptions of the user's, too");
        assert_eq!(taken(&log)[0], "twice moved", "and is asked for once");
    }
}

/// Panics where the id says so.
struct Panicking {
    servant: AnyServant,
    log: Log,
}

impl ServantLocator for Panicking {
    fn preinvoke(&self, id: &[u8], _: &Poa, operation: &str) -> Result<(AnyServant, u64), Declined> {
        note(&self.log, operation, id);
        assert_ne!(id, b"before", "this panic belongs to a test");
        Ok((self.servant.clone(), 0))
    }

    fn postinvoke(&self, id: &[u8], _: &Poa, operation: &str, _: u64, _: &AnyServant) {
        note(&self.log, &format!("after {operation}"), id);
        assert_ne!(id, b"after", "this panic belongs to a test");
    }
}

#[test]
fn a_panic_of_a_servant_locator_is_not_one_of_the_servant() {
    let (server, client) = (Server::start(), client());
    let log = Log::default();
    let locator = Panicking {
        servant: any(&server),
        log: Arc::clone(&log),
    };
    let poa = adapter(&server, "located").servant_locator(locator).build();
    let poa = poa.unwrap();
    let failed = |completed| SystemException::new(Kind::ObjAdapter, Minor::SERVANT_MANAGER_FAILED, completed);
    let panicked = SystemException::new(Kind::Unknown, Minor::SERVANT_PANICKED, Completion::Maybe);
    for probe in references(&poa, &client, b"before") {
        assert_eq!(
            probe.twice(4),
            Err(failed(Completion::No)),
            "no servant was called"
        );
        assert_eq!(taken(&log), ["twice before"]);
    }
    for probe in references(&poa, &client, b"after") {
        assert_eq!(
            probe.twice(4),
            Err(failed(Completion::Yes)),
            "the servant has returned"
        );
        assert_eq!(
            probe.twice(UNLUCKY),
            Err(failed(Completion::Maybe)),
            "the servant has not"
        );
        assert_eq!(taken(&log).len(), 4);
    }
    for probe in references(&poa, &client, b"file") {
        assert_eq!(probe.twice(UNLUCKY), Err(panicked));
        assert_eq!(taken(&log), ["twice file", "after twice file"]);
    }
}
