//! `RTCORBA::Mutex` as programs see it: after TAO's regression test RTMutex, and who runs before whom.

use punctual_fixtures::{asleep, priority, realtime_or_skip, skip_error};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI32, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use punctual::{
    LinearMapping, LockError, Mutex, MutexInUse, Orb, Priority, PriorityMapping, SchedulingClass,
    SystemException, SystemExceptionKind,
};
use punctual_os::{CpuSet, Scheduling, TaskId, ThreadSpec, affinity, scheduling};
use punctual_system::perf::Counter;

/// Longer than any scheduling delay.
const FOR_EVER: Duration = Duration::from_secs(60);

fn orb() -> Orb {
    Orb::builder().lock_memory(false).build().expect("an ORB")
}

const LOW: i16 = 5_000;
const MEDIUM: i16 = 15_000;
const HIGH: i16 = 25_000;

pub fn lock_and_unlock() {
    let mutex = orb().create_mutex();
    for _ in 0..3 {
        let guard = mutex.lock().unwrap();
        assert!(!guard.is_abandoned());
    }
}

pub fn without_contention_it_makes_no_system_call() {
    let mutex = orb().create_mutex();
    let counter = match Counter::syscalls(TaskId::current_thread(), false) {
        Ok(counter) => counter,
        Err(error) => return skip_error(&error),
    };
    let lock_both_ways = || {
        drop(mutex.lock().unwrap());
        drop(mutex.try_lock(FOR_EVER).unwrap().unwrap());
    };
    lock_both_ways();
    counter.enable().unwrap();
    (0..100).for_each(|_| lock_both_ways());
    counter.disable().unwrap();
    // Without the call that pauses the counter.
    assert_eq!(counter.read().unwrap() - 1, 0);
}

pub fn try_lock_without_wait_returns_at_once() {
    let mutex = orb().create_mutex();
    assert!(mutex.try_lock(Duration::ZERO).unwrap().is_some());
    let guard = mutex.lock().unwrap();
    on_another_thread(|| assert!(mutex.try_lock(Duration::ZERO).unwrap().is_none()));
    drop(guard);
    on_another_thread(|| assert!(mutex.try_lock(Duration::ZERO).unwrap().is_some()));
}

pub fn try_lock_waits_as_long_as_it_was_told() {
    let mutex = orb().create_mutex();
    let guard = mutex.lock().unwrap();
    // The unit of the CORBA operation, and more.
    for wait in [Duration::from_nanos(100), Duration::from_millis(5)] {
        on_another_thread(|| {
            let began = Instant::now();
            assert!(mutex.try_lock(wait).unwrap().is_none());
            assert!(began.elapsed() >= wait);
        });
    }
    // It does not wait to the end where the mutex becomes free.
    thread::scope(|scope| {
        let waiter = scope.spawn(|| mutex.try_lock(FOR_EVER).unwrap().is_some());
        drop(guard);
        assert!(waiter.join().unwrap());
    });
}

pub fn one_thread_at_a_time() {
    let mutex = orb().create_mutex();
    let (inside, entered) = (AtomicI32::new(0), AtomicI32::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..1_000 {
                    let guard = mutex.lock().unwrap();
                    assert_eq!(inside.fetch_add(1, Ordering::Relaxed), 0);
                    entered.fetch_add(1, Ordering::Relaxed);
                    inside.fetch_sub(1, Ordering::Relaxed);
                    drop(guard);
                }
            });
        }
    });
    assert_eq!(entered.load(Ordering::Relaxed), 4_000);
}

pub fn a_panic_unlocks() {
    let mutex = orb().create_mutex();
    let its = mutex.clone();
    let panicked = thread::spawn(move || {
        let _guard = its.lock().unwrap();
        panic!("this panic belongs to a test");
    });
    assert!(panicked.join().is_err());
    assert!(!mutex.lock().unwrap().is_abandoned());
}

pub fn a_thread_that_ends_with_it_is_succeeded() {
    let mutex = orb().create_mutex();
    let its = mutex.clone();
    thread::spawn(move || std::mem::forget(its.lock()))
        .join()
        .unwrap();
    assert!(mutex.try_lock(Duration::ZERO).unwrap().unwrap().is_abandoned());
    assert!(!mutex.lock().unwrap().is_abandoned());
}

pub fn named_mutexes_are_one_for_each_name_and_orb() {
    let (orb, other) = (orb(), orb());
    assert!(orb.open_named_mutex("a").is_err());
    let (first, created) = orb.create_named_mutex("a");
    assert!(created);
    let (again, created) = orb.create_named_mutex("a");
    assert!(!created);
    let guard = first.lock().unwrap();
    for same in [again, orb.open_named_mutex("a").unwrap()] {
        assert!(matches!(same.lock(), Err(LockError::Deadlock)));
    }
    let (different, created) = orb.create_named_mutex("b");
    assert!(created && different.lock().is_ok());
    assert!(other.create_named_mutex("a").1, "another ORB has other names");
    drop(guard);
}

pub fn a_destroyed_mutex_is_gone_for_all() {
    let orb = orb();
    let (mutex, _) = orb.create_named_mutex("a");
    let shared = mutex.clone();
    let guard = mutex.lock().unwrap();
    assert_eq!(orb.destroy_mutex(&shared), Err(MutexInUse));
    assert!(orb.open_named_mutex("a").is_ok(), "nothing has changed");
    drop(guard);
    assert_eq!(orb.destroy_mutex(&shared), Ok(()));
    assert_eq!(orb.destroy_mutex(&shared), Ok(()), "again is no error");
    let refused = mutex.lock().map(drop).unwrap_err();
    assert_eq!(refused, LockError::Destroyed);
    let exception = SystemException::from(refused);
    assert_eq!(exception.kind, SystemExceptionKind::ObjectNotExist);
    assert!(orb.open_named_mutex("a").is_err());
    assert!(orb.create_named_mutex("a").1);
}

pub fn waiters_get_it_by_priority() {
    if !realtime_or_skip() {
        return;
    }
    let orb = orb();
    let mutex = orb.create_mutex();
    let (served, order) = mpsc::channel();
    let guard = mutex.lock().unwrap();
    let waiters: Vec<_> = [MEDIUM, LOW, HIGH]
        .map(|own| {
            let (orb, mutex, served) = (orb.clone(), mutex.clone(), served.clone());
            let (waiting, is_waiting) = mpsc::channel();
            let waiter = thread::spawn(move || {
                orb.current().set_priority(priority(own)).unwrap();
                waiting.send(TaskId::current_thread().get()).unwrap();
                let _guard = mutex.lock().unwrap();
                served.send(own).unwrap();
            });
            // After its last message, it sleeps in the lock.
            asleep(is_waiting.recv().unwrap());
            waiter
        })
        .into();
    drop(guard);
    waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
    assert_eq!(order.try_iter().collect::<Vec<_>>(), [HIGH, MEDIUM, LOW]);
}

pub fn inheritance_keeps_medium_from_running_before_high() {
    if !realtime_or_skip() {
        return;
    }
    let orb = orb();
    let mutex = orb.create_mutex();
    let order = order_of_events(&orb, move |inside| run_locked(&mutex, inside));
    assert_eq!(order, ["low leaves", "high enters", "medium runs"]);
}

pub fn a_ceiling_keeps_medium_from_running_before_high() {
    if !realtime_or_skip() {
        return;
    }
    let orb = orb();
    let mutex = orb.create_mutex_with_ceiling(priority(HIGH)).unwrap();
    let order = order_of_events(&orb, move |inside| run_locked(&mutex, inside));
    assert_eq!(order, ["low leaves", "high enters", "medium runs"]);
}

/// Shows that the two tests above can fail.
pub fn without_either_medium_runs_before_high() {
    if !realtime_or_skip() {
        return;
    }
    let plain = Arc::new(std::sync::Mutex::new(()));
    let order = order_of_events(&orb(), move |inside| {
        let _guard = plain.lock().unwrap();
        inside();
    });
    assert_eq!(order, ["medium runs", "low leaves", "high enters"]);
}

pub fn the_owner_runs_at_the_ceiling_and_afterwards_as_before() {
    if !realtime_or_skip() {
        return;
    }
    let orb = orb();
    let own = |orb: &Orb, value: i16| {
        orb.current().set_priority(priority(value)).unwrap();
        scheduling::current()
    };
    on_another_thread(|| {
        let (high, medium, low) = (own(&orb, HIGH), own(&orb, MEDIUM), own(&orb, LOW));
        let outer = orb.create_mutex_with_ceiling(priority(MEDIUM)).unwrap();
        let inner = orb.create_mutex_with_ceiling(priority(HIGH)).unwrap();
        let outer_guard = outer.lock().unwrap();
        assert_eq!(scheduling::current(), medium);
        let inner_guard = inner.try_lock(Duration::ZERO).unwrap().unwrap();
        assert_eq!(scheduling::current(), high);
        assert_eq!(
            orb.current().priority(),
            Ok(priority(LOW)),
            "its calls carry its own"
        );
        // Not in the order of a stack.
        drop(outer_guard);
        assert_eq!(scheduling::current(), high);
        drop(inner_guard);
        assert_eq!(scheduling::current(), low);
    });
}

pub fn a_wait_in_vain_for_a_ceiling_restores_the_priority() {
    if !realtime_or_skip() {
        return;
    }
    let orb = orb();
    let mutex = orb.create_mutex_with_ceiling(priority(HIGH)).unwrap();
    let guard = on_another_thread(|| mutex.lock().map(std::mem::forget));
    guard.unwrap();
    // That thread has ended: take it over, so that a thread owns it.
    let guard = mutex.lock().unwrap();
    on_another_thread(|| {
        let before = scheduling::current();
        assert!(mutex.try_lock(Duration::ZERO).unwrap().is_none());
        assert!(mutex.try_lock(Duration::from_millis(1)).unwrap().is_none());
        assert_eq!(scheduling::current(), before);
    });
    drop(guard);
}

pub fn in_the_ordinary_class_a_ceiling_raises_nobody() {
    let orb = Orb::builder()
        .scheduling_class(SchedulingClass::Other)
        .build()
        .unwrap();
    let mutex = orb.create_mutex_with_ceiling(priority(LOW)).unwrap();
    let before = scheduling::current();
    let guard = mutex.lock().unwrap();
    assert_eq!(scheduling::current(), before);
    drop(guard);
}

pub fn a_caller_above_the_ceiling_is_told() {
    if !realtime_or_skip() {
        return;
    }
    let orb = orb();
    let mutex = orb.create_mutex_with_ceiling(priority(MEDIUM)).unwrap();
    on_another_thread(|| {
        orb.current().set_priority(priority(HIGH)).unwrap();
        let error = mutex.lock().map(drop).unwrap_err();
        assert!(matches!(error, LockError::AboveCeiling { .. }));
        assert!(
            error.to_string().contains("create the mutex with the highest"),
            "{error}"
        );
        assert_eq!(SystemException::from(error).kind, SystemExceptionKind::BadParam);
        orb.current().set_priority(priority(MEDIUM)).unwrap();
        assert!(mutex.lock().is_ok());
    });
}

fn run_locked(mutex: &Mutex, inside: &dyn Fn()) {
    let _guard = mutex.lock().unwrap();
    inside();
}

/// Low has the lock when high comes for it and medium for the CPU, the only one they have.
///
/// A director above all three says who becomes runnable when.
fn order_of_events<L>(orb: &Orb, with_lock: L) -> Vec<&'static str>
where
    L: Fn(&dyn Fn()) + Clone + Send + 'static,
{
    let cpu = affinity::current_cpu();
    let orb = orb.clone();
    // On its one CPU, and at its priority from its first instruction on.
    let start = move |name: &str, own: i16, f: Box<dyn FnOnce() + Send>| {
        let native = LinearMapping::new(1..=99).to_native(priority(own)).unwrap();
        let spec = ThreadSpec::new(name)
            .affinity(CpuSet::single(cpu))
            .scheduling(Scheduling::fifo(native));
        let orb = orb.clone();
        let run = move || {
            orb.current().set_priority(priority(own)).unwrap();
            f();
        };
        spec.spawn(run).unwrap()
    };
    let (event, events) = mpsc::channel();
    let direct = {
        let start = start.clone();
        move || {
            let has_it = Arc::new(AtomicBool::new(false));
            let (lock, say, its) = (with_lock.clone(), event.clone(), Arc::clone(&has_it));
            let inside = move || {
                its.store(true, Ordering::Release);
                // So long that the two others are there before it ends.
                burn(Duration::from_millis(25));
                say.send("low leaves").unwrap();
            };
            let low = start("low", LOW, Box::new(move || lock(&inside)));
            while !has_it.load(Ordering::Acquire) {
                thread::sleep(Duration::from_micros(200));
            }
            let (lock, say) = (with_lock, event.clone());
            let inside = move || say.send("high enters").unwrap();
            let high = start("high", HIGH, Box::new(move || lock(&inside)));
            let run = move || {
                event.send("medium runs").unwrap();
            };
            let medium = start("medium", MEDIUM, Box::new(run));
            for thread in [low, high, medium] {
                thread.join().unwrap();
            }
        }
    };
    start("director", Priority::MAX.value(), Box::new(direct))
        .join()
        .unwrap();
    events.iter().collect()
}

fn burn(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        std::hint::spin_loop();
    }
}

fn on_another_thread<T: Send>(f: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(f).join().unwrap())
}
