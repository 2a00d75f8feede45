//! Servant managers and adapter activators that call: what their thread serves meanwhile, and calls that need
//! another manager, or the same one.

use std::{
    mem,
    sync::{Arc, Barrier, Mutex, OnceLock},
    thread,
    time::Duration,
};

use punctual::{
    AdapterActivator, AnyServant, Declined, Etherealized, Minor, Orb, Poa, ServantActivator, SystemException,
    SystemExceptionKind as Kind, WaitStrategy,
};
use punctual_fixtures::{
    conformance::ProbeRef,
    eventually,
    server::{Server, Setup, client},
};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn note(&self, event: impl Into<String>) {
        self.0.lock().unwrap().push(event.into());
    }

    fn taken(&self) -> Vec<String> {
        mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Incarnates all objects by the same servant, after a call of the test's.
struct Calling<F> {
    call: F,
    servant: AnyServant,
    log: Log,
}

impl<F: Fn(&[u8]) + Send + Sync + 'static> ServantActivator for Calling<F> {
    fn incarnate(&self, id: &[u8], _: &Poa) -> Result<AnyServant, Declined> {
        let name = String::from_utf8_lossy(id);
        self.log.note(format!("incarnate {name}"));
        (self.call)(id);
        self.log.note(format!("return {name}"));
        Ok(self.servant.clone())
    }

    fn etherealize(&self, id: &[u8], _: Etherealized) {
        self.log.note(format!("end {}", String::from_utf8_lossy(id)));
    }
}

/// An adapter whose activator calls `call` with the id before it returns the servant.
fn adapter(server: &Server, name: &str, log: &Log, call: impl Fn(&[u8]) + Send + Sync + 'static) -> Poa {
    let activator = Calling {
        call,
        servant: AnyServant::new::<ProbeRef, _>(server.servant()),
        log: log.clone(),
    };
    let poa = server.orb.root_poa().child(name).threadpool(&server.pool);
    poa.user_ids().servant_activator(activator).build().unwrap()
}

fn reference(poa: &Poa, id: &str) -> ProbeRef {
    poa.reference().id(id).create().unwrap()
}

fn there(client: &Orb, poa: &Poa, id: &str) -> ProbeRef {
    client.resolve(&reference(poa, id).to_ior()).unwrap()
}

fn reason(result: Result<i32, SystemException>) -> (Kind, Minor) {
    let exception = result.expect_err("it is refused");
    (exception.kind, exception.minor)
}

/// A server whose only thread serves while it waits, with an adapter `slow` whose activator calls a helper if
/// the id is `a`, and waits there until its gate opens.
struct Waiting {
    server: Server,
    helper: Server,
    slow: Poa,
    log: Log,
    clients: [Orb; 2],
}

impl Waiting {
    fn start() -> Self {
        let helper = Server::start();
        let setup = Setup {
            wait_strategy: WaitStrategy::Serving,
            ..Setup::default()
        };
        let (server, log) = (setup.start(), Log::default());
        let gate = helper.reference_for(&server.orb);
        let slow = adapter(&server, "slow", &log, move |id| {
            if id == b"a" {
                assert_eq!(gate.wait_at_gate(1), Ok(1));
            }
        });
        Self {
            server,
            helper,
            slow,
            log,
            clients: [client(), client()],
        }
    }

    /// Runs `meanwhile` with another client while the activator waits in its call.
    fn while_incarnating(&self, meanwhile: impl FnOnce(&Orb)) {
        let [own, other] = &self.clients;
        let slow = there(own, &self.slow, "a");
        thread::scope(|scope| {
            let call = scope.spawn(move || slow.twice(4));
            self.helper.hooks.await_at_gate(1);
            let gate = self.helper.hooks.open_gate_at_the_end();
            meanwhile(other);
            assert!(!call.is_finished(), "its object is being incarnated");
            drop(gate);
            assert_eq!(call.join().unwrap(), Ok(8));
        });
    }
}

#[test]
fn objects_of_other_adapters_are_incarnated_while_an_activator_waits() {
    let waiting = Waiting::start();
    let other = adapter(&waiting.server, "other", &waiting.log, |_| ());
    waiting.while_incarnating(|client| {
        assert_eq!(there(client, &other, "b").twice(5), Ok(10));
        let events = ["incarnate a", "incarnate b", "return b"];
        assert_eq!(waiting.log.taken(), events, "the first one still waits");
    });
}

#[test]
fn requests_for_the_same_activator_are_held_until_it_has_returned() {
    let waiting = Waiting::start();
    thread::scope(|scope| {
        let mut held = None;
        waiting.while_incarnating(|client| {
            let probe = there(client, &waiting.slow, "b");
            let call = scope.spawn(move || probe.twice(5));
            thread::sleep(Duration::from_millis(50));
            assert!(!call.is_finished(), "it is held");
            held = Some(call);
        });
        assert_eq!(held.unwrap().join().unwrap(), Ok(10));
    });
    let events = ["incarnate a", "return a", "incarnate b", "return b"];
    assert_eq!(waiting.log.taken(), events, "one at a time");
}

#[test]
fn a_servant_above_a_waiting_activator_cannot_wait_for_it() {
    let waiting = Waiting::start();
    waiting.while_incarnating(|client| {
        let relay = waiting.server.reference_for(client);
        let refused = reason(relay.forward(Some(&reference(&waiting.slow, "b")), 5));
        assert_eq!(refused, (Kind::Transient, Minor::SERVANT_MANAGER_BUSY));
    });
    assert_eq!(reference(&waiting.slow, "b").twice(5), Ok(10), "later");
}

#[test]
fn an_object_that_ends_while_its_activator_waits_is_etherealized_afterwards() {
    let waiting = Waiting::start();
    let servant = waiting.server.servant();
    let retires: ProbeRef = waiting.slow.object(servant).id("r").activate().unwrap();
    waiting.server.hooks.retire_instead(&waiting.slow, &retires);
    waiting.while_incarnating(|client| {
        there(client, &waiting.slow, "r").retire().unwrap();
        thread::sleep(Duration::from_millis(50));
        assert_eq!(waiting.log.taken(), ["incarnate a"]);
    });
    let mut events = Vec::new();
    eventually("it ends", || {
        events.append(&mut waiting.log.taken());
        events == ["return a", "end r"]
    });
}

#[test]
fn an_activator_may_call_objects_that_another_one_incarnates() {
    let (server, log) = (Server::start(), Log::default());
    let inner = adapter(&server, "inner", &log, |_| ());
    let (needed, results) = (reference(&inner, "b"), Log::default());
    let outer = adapter(&server, "outer", &log, {
        let results = results.clone();
        move |_| results.note(format!("{:?}", needed.twice(5)))
    });
    assert_eq!(there(&client(), &outer, "a").twice(4), Ok(8));
    assert_eq!(results.taken(), ["Ok(10)"]);
    assert_eq!(
        log.taken(),
        ["incarnate a", "incarnate b", "return b", "return a"]
    );
}

#[test]
fn an_activator_is_not_called_by_itself() {
    let (server, log) = (Server::start(), Log::default());
    let own = Arc::new(OnceLock::<ProbeRef>::new());
    let results: Arc<Mutex<Vec<_>>> = Arc::default();
    let poa = adapter(&server, "own", &log, {
        let (own, results) = (Arc::clone(&own), Arc::clone(&results));
        move |id| {
            if id == b"a" {
                let result = own.get().unwrap().twice(5);
                results.lock().unwrap().push(reason(result));
            }
        }
    });
    own.set(reference(&poa, "b")).unwrap();
    assert_eq!(there(&client(), &poa, "a").twice(4), Ok(8));
    let refused: Vec<_> = mem::take(&mut *results.lock().unwrap());
    assert_eq!(refused, [(Kind::ObjAdapter, Minor::SERVANT_MANAGER_RECURSION)]);
    assert_eq!(log.taken(), ["incarnate a", "return a"]);
    assert_eq!(own.get().unwrap().twice(5), Ok(10), "afterwards it may");
}

#[test]
fn activators_that_need_each_other_do_not_wait_forever() {
    let (server, log) = (Server::start(), Log::default());
    let both = Arc::new(Barrier::new(2));
    let results: Arc<Mutex<Vec<_>>> = Arc::default();
    let slots: [Arc<OnceLock<ProbeRef>>; 2] = Default::default();
    let poas = [0, 1].map(|at| {
        let (both, other) = (Arc::clone(&both), Arc::clone(&slots[1 - at]));
        let results = Arc::clone(&results);
        adapter(&server, ["one", "two"][at], &log, move |id| {
            if id == b"outer" {
                both.wait();
                let result = other.get().unwrap().twice(5);
                results.lock().unwrap().push(result);
            }
        })
    });
    for (slot, poa) in slots.iter().zip(&poas) {
        slot.set(reference(poa, "inner")).unwrap();
    }
    thread::scope(|scope| {
        for poa in &poas {
            scope.spawn(|| assert_eq!(reference(poa, "outer").twice(4), Ok(8)));
        }
    });
    let results = mem::take(&mut *results.lock().unwrap());
    assert_eq!(results.len(), 2);
    assert_eq!(reason(results[0]), (Kind::Transient, Minor::SERVANT_MANAGER_BUSY));
    // The other one has its turn then, unless both have found the circle at the same time.
    assert!([Ok(10), results[0]].contains(&results[1]), "{:?}", results[1]);
}

/// Makes adapters, with an activator each, after a call of the test's.
#[derive(Clone)]
struct Making<F>(F);

impl<F: Fn(&Poa, &str) + Clone + Send + Sync + 'static> AdapterActivator for Making<F> {
    fn unknown_adapter(&self, parent: &Poa, name: &str) -> bool {
        let child = parent.child(name).build().unwrap();
        child.set_adapter_activator(self.clone());
        (self.0)(&child, name);
        true
    }
}

#[test]
fn an_adapter_activator_may_search_for_other_adapters() {
    let (server, log) = (Server::start(), Log::default());
    let root = server.orb.root_poa();
    root.set_adapter_activator(Making({
        let (root, log) = (root.clone(), log.clone());
        move |child: &Poa, name: &str| {
            log.note(name);
            if name == "outer" {
                let found = [child.find("inner"), root.find("beside"), root.find("outer")];
                log.note(format!("{:?}", found.map(|found| found.is_some())));
            }
        }
    }));
    assert!(root.find("outer").is_some());
    assert_eq!(
        log.taken(),
        ["outer", "inner", "beside", "[true, true, true]"],
        "each once"
    );
}

/// Makes no adapter, but searches for the one that it is asked for.
struct Searching(Log);

impl AdapterActivator for Searching {
    fn unknown_adapter(&self, parent: &Poa, name: &str) -> bool {
        self.0.note(name);
        parent.find(name).is_some()
    }
}

#[test]
fn an_adapter_activator_does_not_find_what_it_is_about_to_make() {
    let (server, log) = (Server::start(), Log::default());
    server
        .orb
        .root_poa()
        .set_adapter_activator(Searching(log.clone()));
    assert!(server.orb.root_poa().find("a").is_none());
    assert_eq!(log.taken(), ["a"], "it is not called again");
}
