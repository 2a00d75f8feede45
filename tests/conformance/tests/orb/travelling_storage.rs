//! Storage and resources of distributable threads that move between hosts, over the wire.

use std::{
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicI32, Ordering},
        mpsc::{self, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use punctual::{Interface, Orb, Peers, SystemException, SystemExceptionKind};
use punctual_fixtures::travel::{self, PlaceRef};
use punctual_os::ThreadSpec;
use punctual_rtsched::{
    AcceptedClaims, Preemption, ResourceManager, RtScheduling, SchedulingError,
    storage::{Housekeeper, WordKey},
};
use punctual_sched::dynamic::SchedulingParameters;

const TIMEOUT: Duration = Duration::from_secs(60);

fn important(importance: i32) -> SchedulingParameters {
    SchedulingParameters::Importance { importance }
}

type Serve = dyn Fn(i32) -> Result<i32, SystemException> + Send + Sync;

/// Servant that executes the closure of the test.
struct Place(Arc<OnceLock<Box<Serve>>>);

impl travel::Place for Place {
    fn visit(&self, step: i32) -> Result<i32, SystemException> {
        self.0.get().expect("the test has said it")(step)
    }

    fn leave(&self, step: i32) -> Result<(), SystemException> {
        self.visit(step).map(drop)
    }
}

/// A host, as far as distributable threads can tell: an ORB with a scheduler of its own.
struct Host {
    orb: Orb,
    scheduling: RtScheduling,
    place: PlaceRef,
    serve: Arc<OnceLock<Box<Serve>>>,
}

impl Host {
    fn start() -> Self {
        let scheduling = RtScheduling::builder()
            .preemption(Preemption::Cooperative)
            .processors(8)
            .accept_claims(Peers::SameHost, AcceptedClaims::all())
            .build()
            .unwrap();
        let orb = Orb::builder()
            .lock_memory(false)
            .listen("iiop://127.0.0.1:0")
            .initializer(&scheduling)
            .build()
            .unwrap();
        let pool = orb.threadpool().threads(4).build().unwrap();
        let poa = orb.root_poa().child("places").threadpool(&pool).build().unwrap();
        let serve = Arc::new(OnceLock::new());
        let place = poa.activate(Place(Arc::clone(&serve))).unwrap();
        Self {
            orb,
            scheduling,
            place,
            serve,
        }
    }

    fn serve(&self, serve: impl Fn(i32) -> Result<i32, SystemException> + Send + Sync + 'static) {
        assert!(self.serve.set(Box::new(serve)).is_ok());
    }

    /// The other's place, as this host calls it.
    fn reaches(&self, other: &Self) -> PlaceRef {
        self.orb.resolve(&other.place.to_ior()).unwrap()
    }

    /// A distributable thread that begins here.
    fn begin<R>(&self, work: impl FnOnce() -> Result<R, SystemException>) -> Result<R, SystemException> {
        let segment = self.scheduling.current().segment("begins", important(1), |_| {
            work().map_err(SchedulingError::System)
        });
        segment.map_err(|error| match error {
            SchedulingError::System(exception) => exception,
            other => panic!("{other}"),
        })
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.orb.shutdown_and_wait().unwrap();
    }
}

fn until(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < TIMEOUT, "it never happens");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Figure 5 of [Gill 2004] in one call: data that a thread stores at a host in one OS thread are found there
/// in another one.
#[test]
fn a_call_back_finds_what_the_thread_has_stored_and_locked() {
    let (home, away) = (Host::start(), Host::start());
    let key = WordKey::<i32>::new().unwrap();
    let map: ResourceManager = home.scheduling.create_resource_manager("map", None).unwrap();
    let served_by = Arc::new(Mutex::new(Vec::new()));
    let (to_away, to_home) = (home.reaches(&away), away.reaches(&home));
    home.serve({
        let (map, served_by) = (map.clone(), Arc::clone(&served_by));
        move |step| {
            served_by.lock().unwrap().push(thread::current().id());
            let found = key.get().unwrap().unwrap_or(0);
            match step {
                // Comes, and has itself called back.
                0 => {
                    let _guard = map.lock()?;
                    key.set(found + 10).unwrap();
                    let back = to_away.visit(0)?;
                    Ok(back * 1_000 + key.get().unwrap().unwrap())
                }
                // The call back, on another OS thread.
                1 => {
                    let again = map.try_lock(Duration::ZERO)?;
                    assert!(again.is_some(), "the thread has it already");
                    key.set(found + 1).unwrap();
                    Ok(found)
                }
                // Another thread.
                2 => Ok(i32::from(map.try_lock(Duration::ZERO)?.is_none()) * 100 + found),
                _ => Ok(found),
            }
        }
    });
    let other_home = home.orb.resolve::<PlaceRef>(&home.place.to_ior()).unwrap();
    let asks = Host::start();
    let asks_home = asks.reaches(&home);
    away.serve(move |_| {
        assert_eq!(key.get().unwrap(), None, "what it stored is its own host's");
        key.set(7).unwrap();
        // Meanwhile another thread visits: it finds nothing, and the map taken.
        let other = thread::scope(|scope| {
            let visit = || asks.begin(|| asks_home.visit(2));
            scope.spawn(visit).join().unwrap()
        })?;
        assert_eq!(other, 100);
        to_home.visit(1)
    });
    let driver = Host::start();
    let place = driver.reaches(&home);
    driver
        .begin(|| {
            assert_eq!(place.visit(0)?, 10_011);
            assert_eq!(map.owner(), None);
            assert_eq!(place.visit(3)?, 11, "a later visit finds it, too");
            Ok(())
        })
        .unwrap();
    let served_by = served_by.lock().unwrap();
    assert_ne!(
        served_by[0], served_by[2],
        "the call back cannot have run on the thread that waits for it"
    );
    assert_eq!(
        home.scheduling.retained_storage().len(),
        1,
        "the driver's thread may come back"
    );
    drop(other_home);
}

#[test]
fn threads_that_end_on_a_lane_are_destroyed_by_the_housekeeper() {
    let (home, driver) = (Host::start(), Host::start());
    let (sender, destroyed) = mpsc::channel();
    let sender: Mutex<Sender<_>> = Mutex::new(sender);
    let key = WordKey::with_destructor(move |value: i32| {
        let name = thread::current().name().map(str::to_owned);
        sender.lock().unwrap().send((value, name)).unwrap();
    })
    .unwrap();
    let scheduling = home.scheduling.clone();
    home.serve(move |step| {
        key.set(step).unwrap();
        if step == 2 {
            let current = scheduling.current();
            current.distributable_thread()?.cancel()?;
            current.scheduling_point()?;
        }
        Ok(0)
    });
    let visitors = Arc::clone(home.scheduling.retained_storage());
    let clock = home.scheduling.clone();
    let spec = ThreadSpec::new(Housekeeper::NAME);
    let _housekeeper = Housekeeper::start(visitors, spec, move || clock.now()).unwrap();
    let place = driver.reaches(&home);
    let by_housekeeper = |value| (value, Some(Housekeeper::NAME.to_owned()));
    // Oneway: a thread of its own, which ends with the request. Often, because the housekeeper may be faster
    // than the lane.
    for _ in 0..200 {
        driver.begin(|| place.leave(1)).unwrap();
        assert_eq!(destroyed.recv_timeout(TIMEOUT).unwrap(), by_housekeeper(1));
    }
    // Cancelled there.
    let cancelled = driver.begin(|| place.visit(2)).unwrap_err();
    assert_eq!(cancelled.kind, SystemExceptionKind::ThreadCancelled);
    assert_eq!(destroyed.recv_timeout(TIMEOUT).unwrap(), by_housekeeper(2));
    // And one that may come back is kept.
    driver.begin(|| place.visit(3)).unwrap();
    until(|| home.scheduling.retained_storage().len() == 1);
    assert!(destroyed.try_recv().is_err());
    assert_eq!(home.scheduling.retained_storage().destroyed_by_lanes(), 0);
}

/// An object that is a resource serves one thread at a time, and that one also when it is called back.
#[test]
fn an_object_that_is_a_resource_serves_one_thread_at_a_time() {
    let (home, away) = (Host::start(), Host::start());
    home.scheduling
        .set_scheduling_parameter(home.place.as_object(), important(9))
        .unwrap();
    let refused = home.scheduling.set_scheduling_parameter(
        home.place.as_object(),
        SchedulingParameters::FixedPriority {
            priority: punctual::Priority::MAX,
        },
    );
    assert!(matches!(
        refused,
        Err(SchedulingError::UnsupportedSchedulingDiscipline { .. })
    ));
    let (to_away, to_home) = (home.reaches(&away), away.reaches(&home));
    let inside = Arc::new(AtomicI32::new(0));
    let most = Arc::new(AtomicI32::new(0));
    home.serve({
        let (inside, most) = (Arc::clone(&inside), Arc::clone(&most));
        let scheduling = home.scheduling.clone();
        move |step| {
            scheduling
                .current()
                .id()
                .expect("a thread, also where the client has none");
            if step == 1 {
                return Ok(inside.load(Ordering::SeqCst));
            }
            most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(1));
            // Leaves this host, and is called back on another thread of the lane.
            let seen = to_away.visit(0);
            inside.fetch_sub(1, Ordering::SeqCst);
            seen
        }
    });
    away.serve(move |_| to_home.visit(1));
    let (driver, plain) = (Host::start(), Orb::builder().lock_memory(false).build().unwrap());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let place = driver.reaches(&home);
                driver
                    .begin(|| {
                        for _ in 0..10 {
                            assert_eq!(place.visit(0)?, 1);
                        }
                        Ok(())
                    })
                    .unwrap();
            });
        }
        scope.spawn(|| {
            let place: PlaceRef = plain.resolve(&home.place.to_ior()).unwrap();
            for _ in 0..10 {
                assert_eq!(place.visit(0).unwrap(), 1);
            }
        });
    });
    // On the caller's own thread, too.
    assert_eq!(home.place.visit(0).unwrap(), 1);
    assert_eq!(most.load(Ordering::SeqCst), 1);
    assert_eq!(home.scheduling.threads(), 0);
}

/// A request without a distributable thread on an OS thread has no storage.
#[test]
fn plain_requests_have_no_storage() {
    let home = Host::start();
    let key = WordKey::<i32>::new().unwrap();
    home.serve(move |_| Ok(i32::from(key.get().is_err())));
    let client = Orb::builder().lock_memory(false).build().unwrap();
    let place: PlaceRef = client.resolve(&home.place.to_ior()).unwrap();
    assert_eq!(place.visit(0).unwrap(), 1);
}
