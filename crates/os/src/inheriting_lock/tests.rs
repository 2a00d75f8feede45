//! Ownership, deadlocks, timeouts, abandoned locks and inheritance.

use std::sync::Arc;
use std::time::Instant;

use super::*;
use crate::{PiCondvar, PiMutex, Thread, ThreadSpec};

/// Longer than any scheduling delay.
const FOR_EVER: Duration = Duration::from_secs(100);

fn spawn<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> Thread<T> {
    ThreadSpec::new("locker").spawn(f).unwrap()
}

fn on_another_thread<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> T {
    spawn(f).join().unwrap()
}

#[test]
fn counts_of_many_threads_are_not_lost() {
    struct Shared(InheritingLock, AtomicU32);
    let shared = Arc::new(Shared(InheritingLock::new(), AtomicU32::new(0)));
    let add = |shared: Arc<Shared>| {
        move || {
            for _ in 0..5_000 {
                assert_eq!(shared.0.lock(), Ok(Acquired::Released));
                // Two steps, so that two owners would lose increments.
                let before = shared.1.load(Ordering::Relaxed);
                shared.1.store(before + 1, Ordering::Relaxed);
                shared.0.unlock().unwrap();
            }
        }
    };
    let threads: Vec<_> = (0..4).map(|_| spawn(add(Arc::clone(&shared)))).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(shared.1.load(Ordering::Relaxed), 20_000);
    assert!(!shared.0.is_locked());
}

#[test]
fn a_wait_ends_at_its_deadline_and_not_before() {
    let lock = Arc::new(InheritingLock::new());
    lock.lock().unwrap();
    for wait in [0, 1, 5].map(Duration::from_millis) {
        let other = Arc::clone(&lock);
        let (outcome, waited) = on_another_thread(move || {
            let began = Instant::now();
            (other.try_lock_for(wait), began.elapsed())
        });
        assert_eq!(outcome, Err(Refused::TimedOut));
        assert!(waited >= wait, "{waited:?}");
    }
    lock.unlock().unwrap();
    assert_eq!(lock.try_lock_for(Duration::ZERO), Ok(Acquired::Released));
}

#[test]
fn a_timeout_beyond_the_clock_is_no_limit() {
    let lock = Arc::new(InheritingLock::new());
    lock.lock().unwrap();
    let other = Arc::clone(&lock);
    let waiter = spawn(move || other.try_lock_for(Duration::MAX));
    lock.unlock().unwrap();
    assert_eq!(waiter.join().unwrap(), Ok(Acquired::Released));
}

#[test]
fn only_the_owner_unlocks() {
    let lock = Arc::new(InheritingLock::new());
    assert_eq!(lock.unlock(), Err(NotOwner));
    lock.lock().unwrap();
    let other = Arc::clone(&lock);
    assert_eq!(on_another_thread(move || other.unlock()), Err(NotOwner));
    assert_eq!(lock.unlock(), Ok(()));
}

#[test]
fn locking_twice_is_a_deadlock() {
    let lock = InheritingLock::new();
    lock.lock().unwrap();
    assert_eq!(lock.lock(), Err(Refused::Deadlock));
    assert_eq!(lock.try_lock_for(Duration::ZERO), Err(Refused::Deadlock));
    assert_eq!(lock.try_lock_for(FOR_EVER), Err(Refused::Deadlock));
    lock.unlock().unwrap();
}

#[test]
fn a_circle_of_two_threads_is_a_deadlock() {
    struct Shared {
        first: InheritingLock,
        second: InheritingLock,
        has_second: (PiMutex<bool>, PiCondvar),
    }
    let shared = Arc::new(Shared {
        first: InheritingLock::new(),
        second: InheritingLock::new(),
        has_second: (PiMutex::new(false), PiCondvar::new()),
    });
    shared.first.lock().unwrap();
    let its = Arc::clone(&shared);
    let other = spawn(move || {
        its.second.lock().unwrap();
        *its.has_second.0.lock() = true;
        its.has_second.1.notify_one();
        let outcome = its.first.lock();
        let _ = its.first.unlock();
        its.second.unlock().unwrap();
        outcome
    });
    shared
        .has_second
        .1
        .wait_while(&mut shared.has_second.0.lock(), |has| !*has);
    // The thread that closes the circle gets the error; the other one gets the lock when the first unlocks.
    let outcome = shared.second.lock();
    if outcome.is_ok() {
        shared.second.unlock().unwrap();
    }
    shared.first.unlock().unwrap();
    let outcomes = [outcome, other.join().unwrap()];
    assert!(outcomes.contains(&Err(Refused::Deadlock)), "{outcomes:?}");
    assert!(outcomes.contains(&Ok(Acquired::Released)), "{outcomes:?}");
}

#[test]
fn a_lock_abandoned_without_waiters_can_be_acquired() {
    // No thread waited when the owner ended.
    let lock = Arc::new(InheritingLock::new());
    let other = Arc::clone(&lock);
    on_another_thread(move || other.lock()).unwrap();
    assert_eq!(lock.try_lock_for(Duration::ZERO), Ok(Acquired::Abandoned));
    lock.unlock().unwrap();
    assert_eq!(lock.lock(), Ok(Acquired::Released), "reported only once");
    lock.unlock().unwrap();
}

#[test]
fn the_waiter_acquires_a_lock_abandoned_by_its_owner() {
    let lock = Arc::new(InheritingLock::new());
    let end = Arc::new((PiMutex::new(false), PiCondvar::new()));
    let (its_lock, its_end) = (Arc::clone(&lock), Arc::clone(&end));
    let owner = spawn(move || {
        its_lock.lock().unwrap();
        its_end.1.wait_while(&mut its_end.0.lock(), |end| !*end);
    });
    while !lock.is_locked() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let its_lock = Arc::clone(&lock);
    let waiter = spawn(move || {
        let outcome = its_lock.lock();
        its_lock.unlock().unwrap();
        outcome
    });
    while lock.word.load(Ordering::Relaxed) & WAITERS == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    *end.0.lock() = true;
    end.1.notify_all();
    owner.join().unwrap();
    assert_eq!(waiter.join().unwrap(), Ok(Acquired::Abandoned));
    assert_eq!(lock.try_lock_for(FOR_EVER), Ok(Acquired::Released));
}

/// Makes a thread own a lock and end, then runs `f` in a new thread with the same id.
fn with_the_id_of_an_ended_owner<T: Send + 'static>(
    f: impl Fn(&InheritingLock) -> T + Send + Sync + 'static,
) -> Option<T> {
    const LAST_ID: &str = "/proc/sys/kernel/ns_last_pid";
    const ATTEMPTS: u32 = 1_000;
    let (lock, f) = (Arc::new(InheritingLock::new()), Arc::new(f));
    let leaks = Arc::clone(&lock);
    let owner = on_another_thread(move || leaks.lock().map(|_| crate::TaskId::current_thread()));
    let owner = owner.unwrap();
    // The kernel states start times in hundredths of a second.
    std::thread::sleep(Duration::from_millis(30));
    for _ in 0..ATTEMPTS {
        if let Err(error) = std::fs::write(LAST_ID, (owner.get() - 1).to_string()) {
            let reason = format!("cannot choose the next thread id in {LAST_ID}: {error}");
            punctual_fixtures::skip(punctual_fixtures::Missing::Right, reason);
            return None;
        }
        let (lock, f) = (Arc::clone(&lock), Arc::clone(&f));
        // Other processes take ids, too.
        let outcome = on_another_thread(move || (crate::TaskId::current_thread() == owner).then(|| f(&lock)));
        if outcome.is_some() {
            return outcome;
        }
    }
    panic!("no thread got the id {owner} in {ATTEMPTS} attempts");
}

#[test]
fn a_thread_with_the_id_of_an_ended_owner_is_not_the_owner() {
    let outcome = with_the_id_of_an_ended_owner(|lock| {
        (
            lock.unlock(),
            lock.lock(),
            lock.lock(),
            lock.unlock(),
            lock.is_locked(),
        )
    });
    if let Some(outcome) = outcome {
        let expected = (
            Err(NotOwner),
            Ok(Acquired::Abandoned),
            Err(Refused::Deadlock),
            Ok(()),
            false,
        );
        assert_eq!(outcome, expected);
    }
}

#[test]
fn nobody_waits_for_a_thread_with_the_id_of_an_ended_owner() {
    let outcome = with_the_id_of_an_ended_owner(|lock| {
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                let acquired = lock.try_lock_for(Duration::from_secs(10));
                (acquired, lock.unlock())
            });
            waiter.join().unwrap()
        })
    });
    if let Some(outcome) = outcome {
        assert_eq!(outcome, (Ok(Acquired::Abandoned), Ok(())));
    }
}

#[test]
fn an_owner_that_has_lost_its_place_in_the_table_is_still_the_owner() {
    let lock = Arc::new(InheritingLock::new());
    lock.lock().unwrap();
    Owner::current().forget();
    let other = Arc::clone(&lock);
    let waiter = on_another_thread(move || other.try_lock_for(Duration::from_millis(5)));
    assert_eq!(waiter, Err(Refused::TimedOut));
    lock.unlock().unwrap();
}
