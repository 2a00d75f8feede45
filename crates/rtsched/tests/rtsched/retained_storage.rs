//! Storage of distributable threads that have left, and the threads that call its destructors.

use std::{
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use punctual_os::ThreadSpec;
use punctual_rtsched::storage::{Housekeeper, RetainedStorage, RetentionLimits, ThreadStorage, WordKey};
use punctual_sched::dynamic::Time;
use punctual_types::DistributableThreadId;

/// A key that reports which values were destroyed, and by which OS thread.
fn key() -> (WordKey<u64>, mpsc::Receiver<(u64, Option<String>)>) {
    let (sender, destroyed) = mpsc::channel();
    let key = WordKey::with_destructor(move |value| {
        let name = thread::current().name().map(str::to_owned);
        let _ = sender.send((value, name));
    });
    (key.unwrap(), destroyed)
}

fn storage_with(key: WordKey<u64>, value: u64) -> ThreadStorage {
    let storage = ThreadStorage::new();
    storage.enter(|| key.set(value)).unwrap();
    storage
}

fn leaves(retained: &RetainedStorage, key: WordKey<u64>, id: u64, at: u64) {
    retained.retain(DistributableThreadId(id.into()), storage_with(key, id), Time(at));
}

fn returns(retained: &RetainedStorage, key: WordKey<u64>, id: u64, at: u64) -> Option<u64> {
    let storage = retained.restore(DistributableThreadId(id.into()), Time(at))?;
    let value = storage.enter(|| key.take()).unwrap();
    Some(value.expect("storage without values is not retained"))
}

fn limits(max_threads: usize, max_age: Duration) -> RetentionLimits {
    RetentionLimits { max_threads, max_age }
}

const LONG: Duration = Duration::from_secs(3600);

#[test]
fn the_thread_that_left_first_is_displaced() {
    let (key, destroyed) = key();
    let retained = RetainedStorage::new(limits(3, LONG));
    for id in 1..=3 {
        leaves(&retained, key, id, id);
    }
    assert_eq!(returns(&retained, key, 1, 4), Some(1));
    leaves(&retained, key, 1, 5);
    leaves(&retained, key, 4, 6);
    assert_eq!(retained.len(), 3);
    assert_eq!(returns(&retained, key, 2, 7), None);
    assert!(destroyed.try_recv().is_err(), "not by the thread that left");
    assert_eq!(retained.destroy_forgotten(Time(7)), 1);
    assert_eq!(destroyed.try_recv().unwrap().0, 2);
    for id in [1, 3, 4] {
        assert_eq!(returns(&retained, key, id, 8), Some(id));
    }
    assert!(retained.is_empty());
}

#[test]
fn storage_is_forgotten_after_the_maximum_age() {
    let (key, destroyed) = key();
    let retained = RetainedStorage::new(limits(8, Duration::from_nanos(100)));
    leaves(&retained, key, 1, 0);
    leaves(&retained, key, 2, 50);
    assert_eq!(returns(&retained, key, 1, 101), None);
    assert_eq!(returns(&retained, key, 2, 150), Some(2));
    assert_eq!(retained.destroy_forgotten(Time(150)), 1);
    assert_eq!(destroyed.try_recv().unwrap().0, 1);
}

#[test]
fn ended_threads_are_forgotten_and_empty_storage_is_not_retained() {
    let (key, destroyed) = key();
    let retained = RetainedStorage::new(limits(8, LONG));
    retained.retain(DistributableThreadId(9), ThreadStorage::new(), Time(0));
    assert!(retained.is_empty());
    leaves(&retained, key, 1, 0);
    retained.forget(DistributableThreadId(1));
    retained.forget(DistributableThreadId(2));
    assert_eq!(retained.destroy_forgotten(Time(0)), 1);
    assert_eq!(destroyed.try_recv().unwrap().0, 1);
}

/// Two departures with one id, as a peer can forge them.
#[test]
fn an_id_that_leaves_twice_is_retained_once() {
    let (key, destroyed) = key();
    let retained = RetainedStorage::new(limits(8, LONG));
    let id = DistributableThreadId(1);
    retained.retain(id, storage_with(key, 10), Time(0));
    retained.retain(id, storage_with(key, 20), Time(1));
    assert_eq!(retained.len(), 1);
    assert_eq!(returns(&retained, key, 1, 2), Some(20));
    retained.destroy_forgotten(Time(2));
    assert_eq!(
        destroyed.try_iter().map(|(value, _)| value).collect::<Vec<_>>(),
        [10]
    );
}

#[test]
fn without_a_housekeeper_memory_stays_bounded_and_lanes_are_counted() {
    let (key, destroyed) = key();
    let retained = RetainedStorage::new(limits(2, LONG));
    for id in 1..=10 {
        leaves(&retained, key, id, id);
    }
    // Two are retained, two wait.
    assert_eq!(destroyed.try_iter().count(), 6);
    assert_eq!(retained.destroyed_by_lanes(), 6);
    assert_eq!(retained.destroy_forgotten(Time(10)), 2);
    let keeps_none = RetainedStorage::new(limits(0, LONG));
    leaves(&keeps_none, key, 11, 0);
    assert_eq!(returns(&keeps_none, key, 11, 0), None);
    assert_eq!(
        destroyed.try_iter().map(|(value, _)| value).collect::<Vec<_>>(),
        [7, 8, 11]
    );
}

#[test]
fn a_housekeeper_destroys_what_is_forgotten() {
    let (key, destroyed) = key();
    let began = Instant::now();
    let now = move || Time(began.elapsed().as_nanos() as u64);
    let retained = Arc::new(RetainedStorage::new(limits(1, Duration::from_millis(20))));
    let spec = ThreadSpec::new(Housekeeper::NAME);
    let _housekeeper = Housekeeper::start(Arc::clone(&retained), spec, now).unwrap();
    leaves(&retained, key, 1, now().0);
    leaves(&retained, key, 2, now().0);
    // The first one is displaced, the second one ages.
    for id in [1, 2] {
        let (value, thread) = destroyed.recv_timeout(Duration::from_secs(60)).unwrap();
        assert_eq!((value, thread.as_deref()), (id, Some(Housekeeper::NAME)));
    }
    assert_eq!(retained.destroyed_by_lanes(), 0);
}
