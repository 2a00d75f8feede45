//! Reports, states and observers of other hosts, through real calls.

use std::{
    sync::{Arc, Mutex, mpsc},
    thread::{self, JoinHandle, ThreadId},
};

use punctual::{Interface, Orb, SystemException, SystemExceptionKind};
use punctual_fixtures::{LONG, eventually};
use punctual_qos::{
    Condition, Contract, ContractServant, Region, ServantLimits,
    idl::punctual_qos::{self as qos, ContractRef, ObserverRef, Reading, UnknownCondition, contract::*},
};

/// An ORB with a thread of its own.
struct Host {
    orb: Orb,
    serving: Option<JoinHandle<()>>,
}

impl Host {
    fn start() -> Self {
        let orb = Orb::builder().listen("iiop://127.0.0.1").lock_memory(false);
        let orb = orb.build().unwrap();
        let serving = thread::spawn({
            let orb = orb.clone();
            move || orb.run()
        });
        Self {
            orb,
            serving: Some(serving),
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.orb.shutdown();
        let ended = self.serving.take().map(JoinHandle::join);
        assert!(ended.is_none_or(|ended| ended.is_ok()));
    }
}

#[derive(Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl qos::Observer for Told {
    fn entered(&self, contract: &str, from: &str, region: &str, number: u64) -> Result<(), SystemException> {
        let text = format!("{number}: {contract} {from} > {region}");
        self.0.lock().unwrap().push(text);
        Ok(())
    }
}

fn servant(observers: usize) -> ContractServant {
    let misses = Condition::new("misses");
    let cpu = Condition::new("cpu");
    let contract = Contract::builder("tiles")
        .region(Region::new("in time").at_most(&misses, 0.0).at_most(&cpu, 0.9))
        .region(Region::new("late"))
        .build()
        .unwrap();
    let limits = ServantLimits {
        observers,
        pending: 4,
        ..ServantLimits::default()
    };
    ContractServant::with_limits(contract, limits)
}

fn reading(condition: &str, value: f64) -> Reading {
    Reading {
        condition: condition.to_owned(),
        value,
    }
}

#[test]
fn another_host_reports_and_a_third_one_observes() {
    let (server, client, watcher) = (Host::start(), Host::start(), Host::start());
    let servant = servant(2);
    let object: ContractRef = server.orb.root_poa().activate(servant.clone()).unwrap();
    let ior = object.as_object().to_ior();
    let reporter: ContractRef = client.orb.resolve(&ior).unwrap();
    let watched: ContractRef = watcher.orb.resolve(&ior).unwrap();

    let told = Told::default();
    let texts = Arc::clone(&told.0);
    let observer: ObserverRef = watcher.orb.root_poa().activate(told).unwrap();
    let number = watched.observe(Some(&observer)).unwrap();
    let report = |readings: &[Reading]| reporter.report(readings);
    assert_eq!(report(&[reading("misses", 0.0)]).as_deref(), Ok("late"));
    assert_eq!(report(&[reading("cpu", 0.5)]).as_deref(), Ok("in time"));
    assert_eq!(
        report(&[reading("misses", 3.0), reading("cpu", 0.6)]).as_deref(),
        Ok("late")
    );
    eventually("both transitions arrive", || texts.lock().unwrap().len() == 2);
    let expected = ["1: tiles late > in time", "2: tiles in time > late"];
    assert_eq!(*texts.lock().unwrap(), expected);
    let state = watched.state().unwrap();
    assert_eq!(
        (state.region.as_str(), state.transitions, state.evaluations),
        ("late", 2, 3)
    );
    assert_eq!(state.measured, [reading("misses", 3.0), reading("cpu", 0.6)]);

    // One wrong name: nothing is set.
    let wrong = report(&[reading("misses", 0.0), reading("wishes", 1.0)]);
    assert_eq!(wrong, Err(ReportError::UnknownCondition(UnknownCondition {})));
    assert_eq!(watched.state().unwrap().measured[0], reading("misses", 3.0));
    assert_eq!(servant.observers(), 1);
    watched.forget(number).unwrap();
    watched.forget(number).unwrap();
    assert_eq!(servant.observers(), 0);
}

#[test]
fn dead_and_surplus_observers_are_dropped() {
    let (server, client) = (Host::start(), Host::start());
    let servant = servant(2);
    let object: ContractRef = server.orb.root_poa().activate(servant.clone()).unwrap();
    let contract: ContractRef = client.orb.resolve(&object.as_object().to_ior()).unwrap();
    let dying = Host::start();
    let observer: ObserverRef = dying.orb.root_poa().activate(Told::default()).unwrap();
    contract.observe(Some(&observer)).unwrap();
    contract.observe(Some(&observer)).unwrap();
    let full = contract.observe(Some(&observer));
    assert!(matches!(full, Err(ObserveError::TooManyObservers(_))));
    let nil = contract.observe(None);
    assert!(matches!(nil, Err(ObserveError::System(error)) if error.kind == SystemExceptionKind::BadParam));
    drop(dying);
    // The connection may accept one more message before its end is noticed.
    eventually("the dead observers are forgotten", || {
        let misses = f64::from(servant.evaluate().is_none());
        contract
            .report(&[reading("misses", misses), reading("cpu", 0.1)])
            .unwrap();
        contract
            .report(&[reading("misses", 1.0 - misses), reading("cpu", 0.1)])
            .unwrap();
        servant.observers() == 0
    });
    assert_eq!(
        contract.report(&[reading("misses", 0.0)]).as_deref(),
        Ok("in time")
    );
}

/// An observer of the same process that does not return before the test lets it, and states which transitions
/// reach it, and on which thread.
struct Slow {
    reached: mpsc::Sender<(u64, ThreadId)>,
    may_return: Mutex<mpsc::Receiver<()>>,
}

impl qos::Observer for Slow {
    fn entered(&self, _: &str, _: &str, _: &str, number: u64) -> Result<(), SystemException> {
        self.reached.send((number, thread::current().id())).unwrap();
        // The test has ended if this fails.
        let _ = self.may_return.lock().unwrap().recv_timeout(LONG);
        Ok(())
    }
}

#[test]
fn nobody_waits_for_an_observer_and_the_latest_transitions_are_kept() {
    let server = Host::start();
    let servant = servant(1);
    let object: ContractRef = server.orb.root_poa().activate(servant.clone()).unwrap();
    let (reached, reaches) = mpsc::channel();
    let (lets, may_return) = mpsc::channel();
    let observer = Slow {
        reached,
        may_return: Mutex::new(may_return),
    };
    let observer: ObserverRef = server.orb.root_poa().activate(observer).unwrap();
    object.observe(Some(&observer)).unwrap();
    let change = |misses: f64| {
        let readings = [reading("misses", misses), reading("cpu", 0.1)];
        object.report(&readings).unwrap()
    };
    assert_eq!(change(0.0), "in time");
    let (number, thread) = reaches.recv().unwrap();
    assert_eq!(number, 1);
    assert_ne!(thread, thread::current().id(), "who reports does not call");
    for number in 2..=20 {
        change(f64::from(number % 2 == 0));
    }
    for _ in 1..=20 {
        lets.send(()).unwrap();
    }
    let told: Vec<(u64, ThreadId)> = reaches.iter().take(4).collect();
    let expected = [17, 18, 19, 20].map(|number| (number, thread));
    assert_eq!(told, expected, "the oldest were lost");
}
