//! The end of objects of servant activators: when `etherealize` is called, and with what.

use std::{
    sync::{Arc, Condvar, Mutex, mpsc},
    thread,
    time::Duration,
};

use punctual::{
    AnyServant, Completion, Declined, Etherealized, LaneWait, Minor, Orb, OrbError, Poa, QueueLimits,
    ServantActivator, SystemException, SystemExceptionKind as Kind, ThreadPoolBuilder,
};
use punctual_fixtures::{
    LONG, asleep,
    conformance::ProbeRef,
    eventually,
    server::{Server, Setup, client},
};
use punctual_os::TaskId;

/// Calls of the activator, and whether `etherealize` may return.
#[derive(Default)]
struct Seen {
    events: Mutex<Vec<String>>,
    closed: Mutex<bool>,
    opened: Condvar,
}

impl Seen {
    fn note(&self, event: String) {
        self.events.lock().unwrap().push(event);
    }

    fn events(&self) -> Vec<String> {
        self.events.lock().unwrap().clone()
    }

    fn close(&self) {
        *self.closed.lock().unwrap() = true;
    }

    fn open(&self) {
        *self.closed.lock().unwrap() = false;
        self.opened.notify_all();
    }

    fn pass(&self) {
        let closed = self.closed.lock().unwrap();
        let waited = self.opened.wait_timeout_while(closed, LONG, |closed| *closed);
        assert!(!waited.unwrap().1.timed_out(), "nobody opens it");
    }
}

struct Activator {
    servant: AnyServant,
    seen: Arc<Seen>,
}

impl ServantActivator for Activator {
    fn incarnate(&self, id: &[u8], _: &Poa) -> Result<AnyServant, Declined> {
        self.seen
            .note(format!("incarnate {}", String::from_utf8_lossy(id)));
        Ok(self.servant.clone())
    }

    fn etherealize(&self, id: &[u8], ended: Etherealized) {
        let name = String::from_utf8_lossy(id).into_owned();
        let cleanup = if ended.cleanup { " cleanup" } else { "" };
        let remaining = if ended.remaining_activations {
            " remaining"
        } else {
            ""
        };
        self.seen.note(format!("end of {name}{cleanup}{remaining}"));
        assert_eq!(ended.servant.repository_id(), "IDL:conformance/Probe:1.0");
        if name == "calls" {
            let poa = ended.poa.as_ref().unwrap();
            let own: ProbeRef = poa.reference().id(id).create().unwrap();
            let failed = own.twice(1).unwrap_err();
            self.seen.note(format!("{:?}", failed.minor));
        }
        self.seen.pass();
        assert_ne!(name, "panics", "this panic belongs to a test");
        self.seen.note(format!("ended {name}"));
    }
}

/// A server whose adapter `ends` has an activator, with a client.
struct Setting {
    server: Server,
    poa: Poa,
    seen: Arc<Seen>,
    client: Orb,
}

impl Setting {
    fn new(pool: fn(ThreadPoolBuilder) -> ThreadPoolBuilder) -> Self {
        let server = Server::with_pool(pool);
        let seen = Arc::new(Seen::default());
        let activator = Activator {
            servant: AnyServant::new::<ProbeRef, _>(server.servant()),
            seen: Arc::clone(&seen),
        };
        let poa = server.orb.root_poa().child("ends").threadpool(&server.pool);
        let poa = poa.user_ids().servant_activator(activator).build().unwrap();
        let client = client();
        Self {
            server,
            poa,
            seen,
            client,
        }
    }

    fn start() -> Self {
        Self::new(|pool| pool.threads(3))
    }

    /// A reference to the object with this id, here and at the client.
    fn references(&self, id: &str) -> [ProbeRef; 2] {
        let here: ProbeRef = self.poa.reference().id(id).create().unwrap();
        let there = self.client.resolve(&here.to_ior()).unwrap();
        [here, there]
    }

    fn see(&self, events: &[&str]) {
        eventually(&format!("{events:?}"), || self.seen.events() == events);
    }

    /// Nothing but these events happens for a while.
    fn see_only(&self, events: &[&str]) {
        thread::sleep(Duration::from_millis(50));
        assert_eq!(self.seen.events(), events);
    }
}

#[test]
fn an_incarnation_begins_after_the_last_one_has_ended() {
    for next in 0..2 {
        let setting = Setting::start();
        let probes = setting.references("radar");
        setting.seen.close();
        thread::scope(|scope| {
            let last = scope.spawn(|| probes[1].wait_at_gate(1));
            setting.server.hooks.await_at_gate(1);
            let (ready, is_ready) = mpsc::channel();
            let (poa, own) = (&setting.poa, &probes[0]);
            let deactivation = scope.spawn(move || {
                ready.send(TaskId::current_thread().get()).unwrap();
                poa.deactivate(own)
            });
            asleep(is_ready.recv().unwrap());
            let call = scope.spawn(|| probes[next].twice(4));
            setting.see_only(&["incarnate radar"]);
            setting.server.hooks.open_gate();
            setting.see(&["incarnate radar", "end of radar"]);
            assert_eq!(last.join().unwrap(), Ok(1));
            setting.see_only(&["incarnate radar", "end of radar"]);
            assert!(!call.is_finished() && !deactivation.is_finished());
            setting.seen.open();
            assert_eq!(call.join().unwrap(), Ok(8));
            assert!(deactivation.join().unwrap().is_ok());
        });
        setting.see(&[
            "incarnate radar",
            "end of radar",
            "ended radar",
            "incarnate radar",
        ]);
    }
}

#[test]
fn an_id_is_free_again_after_the_end_of_its_object() {
    let setting = Setting::start();
    let [here, _] = setting.references("radar");
    let again = || {
        let object = setting.poa.object(setting.server.servant()).id("radar");
        object.activate::<ProbeRef>()
    };
    assert_eq!(here.twice(1), Ok(2));
    assert!(matches!(again(), Err(OrbError::AlreadyActive)));
    setting.seen.close();
    thread::scope(|scope| {
        let deactivation = scope.spawn(|| setting.poa.deactivate(&here));
        setting.see(&["incarnate radar", "end of radar"]);
        let activation = scope.spawn(again);
        thread::sleep(Duration::from_millis(50));
        assert!(!activation.is_finished(), "it waits");
        setting.seen.open();
        assert!(deactivation.join().unwrap().is_ok());
        assert!(activation.join().unwrap().is_ok());
    });
    assert_eq!(here.twice(2), Ok(4));
    setting.see(&["incarnate radar", "end of radar", "ended radar"]);
    setting.poa.deactivate(&here).unwrap();
    setting.see_only(&[
        "incarnate radar",
        "end of radar",
        "ended radar",
        "end of radar",
        "ended radar",
    ]);
}

#[test]
fn an_object_that_deactivates_itself_ends_after_its_reply() {
    let pools: [fn(ThreadPoolBuilder) -> ThreadPoolBuilder; 3] = [
        |pool| pool,
        |pool| {
            pool.request_buffering(QueueLimits {
                requests: 4,
                octets: 64 << 10,
            })
        },
        |pool| pool.wait(LaneWait::Blocking),
    ];
    for pool in pools {
        for caller in 0..2 {
            let setting = Setting::new(pool);
            let probes = setting.references("radar");
            setting.server.hooks.retire_instead(&setting.poa, &probes[0]);
            setting.seen.close();
            assert_eq!(probes[caller].retire(), Ok(()));
            setting.see(&["incarnate radar", "end of radar"]);
            setting.seen.open();
            setting.see(&["incarnate radar", "end of radar", "ended radar"]);
            assert_eq!(probes[caller].twice(4), Ok(8), "and comes back");
        }
    }
}

/// The thread that only reads does not end objects: the activator may block.
#[test]
fn a_buffering_pool_reads_while_an_object_ends() {
    let setting = Setting::new(|pool| pool.request_buffering(QueueLimits::default()).threads(2));
    let [_, there] = setting.references("radar");
    setting.server.hooks.retire_instead(&setting.poa, &there);
    setting.seen.close();
    assert_eq!(there.retire(), Ok(()));
    setting.see(&["incarnate radar", "end of radar"]);
    let client = client();
    client.add_policies(punctual::PolicyOverrides::new().roundtrip_timeout(LONG));
    let other: ProbeRef = client.resolve(&setting.server.probe.to_ior()).unwrap();
    assert_eq!(other.twice(4), Ok(8));
    setting.seen.open();
    setting.see(&["incarnate radar", "end of radar", "ended radar"]);
}

#[test]
fn an_object_whose_deactivation_has_timed_out_ends_after_its_last_request() {
    let limits = punctual::Limits::default().deactivation(Duration::from_millis(10));
    let setup = Setup {
        limits,
        ..Setup::default()
    };
    let server = setup.start();
    let seen = Arc::new(Seen::default());
    let activator = Activator {
        servant: AnyServant::new::<ProbeRef, _>(server.servant()),
        seen: Arc::clone(&seen),
    };
    let poa = server.orb.root_poa().child("ends").threadpool(&server.pool);
    let poa = poa.user_ids().servant_activator(activator).build().unwrap();
    let here: ProbeRef = poa.reference().id("radar").create().unwrap();
    let client = client();
    let there: ProbeRef = client.resolve(&here.to_ior()).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| there.wait_at_gate(1));
        server.hooks.await_at_gate(1);
        assert!(matches!(poa.deactivate(&here), Err(OrbError::StillInUse(_))));
        assert_eq!(seen.events(), ["incarnate radar"]);
        server.hooks.open_gate();
    });
    let ended = ["incarnate radar", "end of radar", "ended radar"];
    eventually("it has ended", || seen.events() == ended);
}

#[test]
fn a_manager_ends_the_objects_of_activators_and_waits_for_them() {
    let setting = Setting::start();
    let [here, there] = setting.references("radar");
    let manager = setting.poa.manager();
    let short = Duration::from_millis(20);
    thread::scope(|scope| {
        let call = scope.spawn(|| there.wait_at_gate(1));
        setting.server.hooks.await_at_gate(1);
        manager.discard().unwrap();
        let waited = manager.wait_for_completion(short);
        assert!(matches!(waited, Err(OrbError::RequestsInProgress(_))));
        manager.activate().unwrap();
        assert!(manager.wait_for_completion(LONG).is_ok(), "it is active again");
        manager.deactivate_and_etherealize();
        let inactive = SystemException::new(Kind::ObjAdapter, Minor::ADAPTER_INACTIVE, Completion::No);
        assert_eq!(here.twice(1), Err(inactive));
        let waited = manager.wait_for_completion(short);
        assert!(matches!(waited, Err(OrbError::RequestsInProgress(_))));
        setting.see_only(&["incarnate radar"]);
        setting.server.hooks.open_gate();
        manager.wait_for_completion(LONG).unwrap();
        setting.see_only(&["incarnate radar", "end of radar cleanup", "ended radar"]);
        assert_eq!(call.join().unwrap(), Ok(1));
    });
}

#[test]
fn an_inactive_manager_leaves_objects_alone_unless_it_is_told_otherwise() {
    let setting = Setting::start();
    let [here, _] = setting.references("radar");
    assert_eq!(here.twice(1), Ok(2));
    setting.poa.manager().deactivate();
    setting.poa.manager().wait_for_completion(LONG).unwrap();
    setting.see_only(&["incarnate radar"]);
    setting.poa.manager().deactivate_and_etherealize();
    assert_eq!(
        setting.seen.events(),
        ["incarnate radar", "end of radar cleanup", "ended radar"]
    );
}

#[test]
fn an_activator_learns_of_the_end_of_its_adapter_and_of_the_orb() {
    let setting = Setting::start();
    let [here, _] = setting.references("radar");
    assert_eq!(here.twice(1), Ok(2));
    setting.server.orb.shutdown_and_wait().unwrap();
    assert_eq!(
        setting.seen.events(),
        ["incarnate radar", "end of radar cleanup", "ended radar"]
    );
    let setting = Setting::start();
    let [here, _] = setting.references("radar");
    assert_eq!(here.twice(1), Ok(2));
    setting.poa.destroy().unwrap();
    assert_eq!(
        setting.seen.events(),
        ["incarnate radar", "end of radar cleanup", "ended radar"]
    );
    let setting = Setting::start();
    let [here, _] = setting.references("radar");
    assert_eq!(here.twice(1), Ok(2));
    setting.poa.destroy_without_etherealize().unwrap();
    setting.see_only(&["incarnate radar"]);
}

#[test]
fn a_panic_in_etherealize_has_no_further_effect() {
    let setting = Setting::start();
    let [here, there] = setting.references("panics");
    assert_eq!(there.twice(1), Ok(2));
    setting.poa.deactivate(&here).unwrap();
    assert_eq!(there.twice(2), Ok(4));
    setting.see(&["incarnate panics", "end of panics", "incarnate panics"]);
    setting.server.hooks.retire_instead(&setting.poa, &here);
    assert_eq!(there.retire(), Ok(()));
    eventually("the lane's thread has panicked", || {
        setting.seen.events().len() == 4
    });
    assert_eq!(there.twice(3), Ok(6));
}

#[test]
fn an_activator_learns_whether_other_objects_have_the_same_servant() {
    let setting = Setting::start();
    for id in ["a", "b"] {
        assert_eq!(setting.references(id)[0].twice(1), Ok(2));
    }
    setting.poa.deactivate(&setting.references("a")[0]).unwrap();
    setting.poa.deactivate(&setting.references("b")[0]).unwrap();
    setting.see(&[
        "incarnate a",
        "incarnate b",
        "end of a remaining",
        "ended a",
        "end of b",
        "ended b",
    ]);
}

#[test]
fn an_object_that_ends_is_not_awaited_from_inside() {
    let setting = Setting::start();
    let [here, _] = setting.references("calls");
    assert_eq!(here.twice(1), Ok(2));
    setting.poa.deactivate(&here).unwrap();
    let minor = format!("{:?}", Minor::OBJECT_ENDING);
    setting.see(&["incarnate calls", "end of calls", &minor, "ended calls"]);
}
