//! Searches over real connections, between endsystems whose threads the tests invent.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use punctual_cdr::Ior;
use punctual_giop::{IiopProfile, Version, ior_to_string};
use punctual_orb::{Orb, Peers};
use punctual_os::PiMutex;
use punctual_stub::{Interface, ObjectRef, Phase, rt};
use punctual_transport::Peer;
use punctual_types::{Completion, DistributableThreadId, Minor, SystemException, SystemExceptionKind};

use super::{
    CancellationPolicy, Local, LocalThreads, Place, RemoteThread, ThreadControl, ThreadControlRef,
    ThreadControlSpec, Whereabouts,
    search::{repeat_while_moving, search},
};

const ID: DistributableThreadId = DistributableThreadId(77);
const TIMEOUT: Duration = Duration::from_secs(20);

/// The distributable threads of an endsystem, as set by a test.
#[derive(Default)]
struct Table {
    threads: PiMutex<HashMap<DistributableThreadId, (bool, Option<ObjectRef>)>>,
    queries: PiMutex<u32>,
    callers: PiMutex<Vec<Peer>>,
}

impl LocalThreads for Table {
    fn find(&self, id: DistributableThreadId) -> Option<Local> {
        *self.queries.lock() += 1;
        let threads = self.threads.lock();
        let (cancelled, calls) = threads.get(&id)?.clone();
        Some(Local { cancelled, calls })
    }

    fn was_called_by(&self, _: DistributableThreadId, peer: Peer) -> bool {
        self.callers.lock().contains(&peer)
    }

    fn cancel(&self, id: DistributableThreadId) -> Option<Local> {
        if let Some(thread) = self.threads.lock().get_mut(&id) {
            thread.0 = true;
        }
        self.find(id)
    }
}

/// An endsystem with a control and an object that threads can be in.
struct Host {
    orb: Orb,
    table: Arc<Table>,
    control: ThreadControl,
    object: ObjectRef,
}

struct Anything;

/// An object whose operations are never called.
struct AnythingRef(ObjectRef);

impl Interface for AnythingRef {
    const REPOSITORY_ID: &'static str = "IDL:Anything:1.0";
    const SUPPORTED_IDS: &'static [&'static str] = &[Self::REPOSITORY_ID];

    fn from_object(object: ObjectRef) -> Self {
        Self(object)
    }

    fn as_object(&self) -> &ObjectRef {
        &self.0
    }
}

impl rt::Skeleton<Anything> for AnythingRef {
    fn dispatch(_: &Anything, upcall: &mut rt::Upcall<'_, '_>) -> Result<(), SystemException> {
        Err(upcall.unknown_operation())
    }
}

impl Host {
    fn new() -> Self {
        Self::with(ThreadControlSpec::default())
    }

    fn with(spec: ThreadControlSpec) -> Self {
        let orb = Orb::builder().listen("iiop://127.0.0.1").build().unwrap();
        let table = Arc::new(Table::default());
        let threads: Arc<dyn LocalThreads> = table.clone();
        let control = ThreadControl::open(&orb, threads, spec).unwrap();
        let object: AnythingRef = orb.root_poa().activate(Anything).unwrap();
        let object = object.as_object().clone();
        Self {
            orb,
            table,
            control,
            object,
        }
    }

    /// Sets that the thread is here, and calls an object of another host, if given.
    fn has(&self, calls: Option<&Host>) {
        let calls = calls.map(|host| self.sees(&host.object));
        self.table.threads.lock().insert(ID, (false, calls));
    }

    fn sees(&self, object: &ObjectRef) -> ObjectRef {
        self.orb.resolve_object(&object.to_ior()).unwrap()
    }

    fn control_of(&self, host: &Host) -> ThreadControlRef {
        self.orb
            .resolve(&host.control.reference().as_object().to_ior())
            .unwrap()
    }

    fn is_cancelled(&self) -> bool {
        self.table.threads.lock()[&ID].0
    }
}

fn found(place: Place, hosts: u8, cancelled: bool) -> Result<Whereabouts, SystemException> {
    Ok(Whereabouts {
        place,
        hosts,
        cancelled,
    })
}

#[test]
fn a_search_follows_the_calls_to_the_head() {
    let hosts = [Host::new(), Host::new(), Host::new()];
    let [first, second, third] = &hosts;
    first.has(Some(second));
    second.has(Some(third));
    third.has(None);
    let of = |host: &Host, cancels| search(&*host.table, ID, cancels, TIMEOUT);
    assert_eq!(of(first, false), found(Place::AtHead, 2, false));
    assert_eq!(of(second, false), found(Place::AtHead, 1, false));
    assert!(hosts.iter().all(|host| !host.is_cancelled()));
    // From the middle: hosts before it get the exception on the way back.
    assert_eq!(of(second, true), found(Place::AtHead, 1, true));
    assert_eq!(
        [first, second, third].map(Host::is_cancelled),
        [false, true, true]
    );
    assert_eq!(of(first, true), found(Place::AtHead, 2, true));
    assert!(hosts.iter().all(Host::is_cancelled));
}

#[test]
fn a_host_without_the_thread_queries_the_controls_that_it_knows() {
    let [first, second, outside, idle] = [Host::new(), Host::new(), Host::new(), Host::new()];
    first.has(Some(&second));
    second.has(None);
    let controls = [outside.control_of(&idle), outside.control_of(&first)];
    let thread = RemoteThread::find(ID, &controls, TIMEOUT).unwrap();
    assert_eq!(thread.whereabouts(TIMEOUT), found(Place::AtHead, 1, false));
    assert_eq!(thread.cancel(TIMEOUT), found(Place::AtHead, 1, true));
    assert!(first.is_cancelled() && second.is_cancelled());

    second.table.threads.lock().clear();
    first.table.threads.lock().clear();
    let gone = thread.cancel(TIMEOUT).unwrap_err();
    assert_eq!(
        (gone.kind, gone.minor),
        (
            SystemExceptionKind::ObjectNotExist,
            Minor::DISTRIBUTABLE_THREAD_UNKNOWN
        )
    );
    let unknown = RemoteThread::find(DistributableThreadId(5), &controls, TIMEOUT).unwrap_err();
    assert_eq!(unknown.minor, Minor::DISTRIBUTABLE_THREAD_UNKNOWN);
    assert_eq!(
        RemoteThread::find(ID, &[], TIMEOUT).unwrap_err().minor,
        Minor::DISTRIBUTABLE_THREAD_UNKNOWN
    );
}

#[test]
fn the_control_is_under_its_well_known_key() {
    let (host, outside) = (Host::new(), Host::new());
    host.has(None);
    std::thread::scope(|scope| {
        scope.spawn(|| host.orb.run());
        let control = outside.orb.resolve(host.control.url());
        let found_at = control.map(|control| RemoteThread::find(ID, &[control], TIMEOUT));
        host.orb.shutdown();
        found_at.unwrap().unwrap();
    });
    assert!(host.control.url().ends_with("/RTScheduling"));
}

#[test]
fn searches_in_a_cycle_end() {
    let [first, second] = [Host::new(), Host::new()];
    first.has(Some(&second));
    second.has(Some(&first));
    let short = Duration::from_millis(500);
    let began = Instant::now();
    let Whereabouts { place, hosts, .. } = search(&*first.table, ID, true, short).unwrap();
    assert_eq!(place, Place::OutOfReach);
    assert!(hosts <= super::search::MAX_HOSTS);
    assert!(began.elapsed() < TIMEOUT);
    let queries = *first.table.queries.lock() + *second.table.queries.lock();
    assert!(queries <= u32::from(super::search::MAX_HOSTS) + 1, "{queries}");
}

#[test]
fn a_search_repeats_while_the_thread_moves() {
    let [first, second] = [Host::new(), Host::new()];
    first.has(Some(&second));
    // Its request has not arrived there yet.
    let found_at = std::thread::scope(|scope| {
        let search = scope.spawn(|| search(&*first.table, ID, true, TIMEOUT));
        while *second.table.queries.lock() < 2 {
            std::thread::sleep(Duration::from_millis(1));
        }
        second.has(None);
        search.join().unwrap()
    });
    assert_eq!(found_at, found(Place::AtHead, 1, true));
    assert!(second.is_cancelled());
    // It never arrives.
    second.table.threads.lock().clear();
    let never = search(&*first.table, ID, false, Duration::from_millis(500));
    assert_eq!(never, found(Place::Moving, 0, true));
}

#[test]
fn a_query_that_timed_out_does_not_replace_the_previous_result() {
    let silent = SystemException::new(SystemExceptionKind::Timeout, Minor::NONE, Completion::Maybe);
    let out_of_reach = found(Place::OutOfReach, 1, false);
    for inconclusive in [out_of_reach, Err(silent)] {
        let moving = found(Place::Moving, 2, true);
        let mut results = [moving, inconclusive].into_iter();
        let asked = repeat_while_moving(Duration::from_millis(50), |timeout| {
            let result = results.next().unwrap();
            if result == inconclusive {
                std::thread::sleep(timeout);
            }
            result
        });
        assert_eq!(asked, moving);
        let only = repeat_while_moving(Duration::ZERO, |_| inconclusive);
        assert_eq!(only, inconclusive, "no previous result");
        let mut results = [moving, inconclusive].into_iter();
        let lost = repeat_while_moving(TIMEOUT, |_| results.next().unwrap());
        assert_eq!(lost, inconclusive, "time was left");
    }
}

#[test]
fn a_search_marks_the_thread_up_to_the_last_host_within_reach() {
    let [first, second] = [Host::new(), Host::new()];
    first.has(Some(&second));
    second.has(None);
    second.orb.shutdown_and_wait().unwrap();
    assert_eq!(
        search(&*first.table, ID, true, TIMEOUT),
        found(Place::OutOfReach, 0, true)
    );
    // An object of an ORB without a control.
    let plain = Orb::builder().listen("iiop://127.0.0.1").build().unwrap();
    let object: AnythingRef = plain.root_poa().activate(Anything).unwrap();
    let object = first.sees(object.as_object());
    first.table.threads.lock().insert(ID, (false, Some(object)));
    assert_eq!(
        search(&*first.table, ID, true, TIMEOUT),
        found(Place::OutOfReach, 0, true)
    );
}

#[test]
fn a_forwarded_object_is_followed() {
    let [first, second] = [Host::new(), Host::new()];
    second.has(None);
    let middle = Orb::builder().listen("iiop://127.0.0.1").build().unwrap();
    let url = middle
        .publish("moved", &AnythingRef(second.object.clone()))
        .unwrap();
    let address = url
        .trim_start_matches("corbaloc:iiop:1.2@")
        .trim_end_matches("/moved");
    let (host, port) = address.rsplit_once(':').unwrap();
    let profile = IiopProfile {
        version: Version::V1_2,
        host: host.into(),
        port: port.parse().unwrap(),
        object_key: b"moved".to_vec(),
        components: vec![],
    };
    let ior = Ior {
        type_id: AnythingRef::REPOSITORY_ID.into(),
        profiles: vec![profile.encode().unwrap()],
    };
    let moved = first.orb.resolve_object(&ior_to_string(&ior)).unwrap();
    assert_eq!(moved.forwarded(), None);
    std::thread::scope(|scope| {
        scope.spawn(|| second.orb.run());
        scope.spawn(|| middle.run());
        assert_eq!(moved.non_existent(), Ok(false));
        middle.shutdown();
        second.orb.shutdown();
    });
    assert_eq!(moved.forwarded().as_ref(), Some(second.object.ior()));
    let control = ThreadControlRef::of(&moved).unwrap();
    let its_control = second.control.reference().as_object();
    assert_eq!(control.as_object().ior().profiles, its_control.ior().profiles);
}

#[test]
fn only_permitted_peers_get_results() {
    let refusing = |policy| Host::with(ThreadControlSpec::default().policy(policy));
    let peer = Host::new();
    let ask = |host: &Host| {
        host.has(None);
        RemoteThread::find(ID, &[peer.control_of(host)], TIMEOUT).map(|_| ())
    };
    let refused = ask(&refusing(CancellationPolicy::deny_all())).unwrap_err();
    assert_eq!(
        (refused.kind, refused.minor),
        (SystemExceptionKind::NoPermission, Minor::CONTROL_REFUSED)
    );
    assert_eq!(ask(&refusing(CancellationPolicy::default())), Ok(()));
    assert_eq!(
        ask(&refusing(CancellationPolicy::deny_all().allow(Peers::SameHost))),
        Ok(())
    );
    ask(&refusing(CancellationPolicy::deny_all().allow(Peers::Remote))).unwrap_err();

    // Unknown threads are not reported either, and nothing is marked.
    let silent = refusing(CancellationPolicy::deny_all());
    let unknown = RemoteThread::find(ID, &[peer.control_of(&silent)], TIMEOUT).unwrap_err();
    assert_eq!(unknown.kind, SystemExceptionKind::NoPermission);
    assert_eq!(*silent.table.queries.lock(), 0);

    // The host whose call brought the thread here may cancel it.
    let by_callers = refusing(CancellationPolicy::deny_all().callers(true));
    ask(&by_callers).unwrap_err();
    by_callers.table.callers.lock().push(Peer::Loopback);
    assert_eq!(ask(&by_callers), Ok(()));
}

#[test]
fn policies_distinguish_peers() {
    let far = Peer::Network("10.1.2.3".parse().unwrap());
    let default = CancellationPolicy::default();
    assert!(default.allows(Peer::SameHost { user: None }, || false));
    assert!(default.allows(Peer::Loopback, || false));
    assert!(!default.allows(far, || false));
    assert!(!default.allows(Peer::Unknown, || false));
    assert!(default.allows(far, || true));
    assert!(!CancellationPolicy::default().callers(false).allows(far, || true));
    let network = Peers::network("10.1.0.0".parse().unwrap(), 16);
    assert!(
        CancellationPolicy::deny_all()
            .allow(network)
            .allows(far, || false)
    );
}

#[test]
fn a_control_replies_to_or_refuses_any_query() {
    let spec = ThreadControlSpec::default().max_query_time(Duration::MAX);
    let (host, next, peer) = (Host::with(spec), Host::new(), Host::new());
    host.has(Some(&next));
    next.has(None);
    let control = peer.control_of(&host);
    let object = control.as_object();
    let ask = |operation: &str, arguments: &[u8]| {
        let mut replied = false;
        let result = object.call::<SystemException>(operation, |phase| match phase {
            Phase::Arguments(encoder) => encoder.octets(arguments),
            Phase::Results(_) => {
                replied = true;
                Ok(())
            }
        });
        result.map(|()| replied).map_err(|exception| exception.kind)
    };
    let mut arguments = ID.to_octets().to_vec();
    // The maximum number of hosts, and the longest timeout.
    arguments.extend([0xff; 16]);
    for operation in ["find", "cancel"] {
        assert_eq!(ask(operation, &arguments), Ok(true));
        for end in [0, 1, 15, 16, 17, 24, 31] {
            assert_eq!(
                ask(operation, &arguments[..end]),
                Err(SystemExceptionKind::Marshal)
            );
        }
        // No further host, no time.
        let mut none = ID.to_octets().to_vec();
        none.extend([0; 16]);
        assert_eq!(ask(operation, &none), Ok(true));
        let unknown = [0x55; 32];
        assert_eq!(ask(operation, &unknown), Err(SystemExceptionKind::ObjectNotExist));
    }
    assert_eq!(ask("destroy", &arguments), Err(SystemExceptionKind::BadOperation));
    let patient = RemoteThread::find(ID, &[control], Duration::MAX).unwrap();
    assert_eq!(patient.cancel(Duration::MAX), found(Place::AtHead, 1, true));
    assert_eq!(
        patient.whereabouts(Duration::ZERO).map_err(|late| late.kind),
        Err(SystemExceptionKind::Timeout)
    );
}
