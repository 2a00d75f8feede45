//! The storage of distributable threads, as the runtime and applications use it.

use std::cell::Cell;
use std::sync::{
    Arc, Barrier,
    atomic::{AtomicU32, Ordering},
    mpsc,
};
use std::thread;

use punctual_os::PiMutex;
use punctual_rtsched::storage::{
    ObjectKey, RetainedStorage, RetentionLimits, StorageError, StorageKey, ThreadStorage, WordKey,
    panicked_destructors,
};
use punctual_sched::dynamic::Time;
use punctual_types::DistributableThreadId;

const DT1: DistributableThreadId = DistributableThreadId(1);
const DT2: DistributableThreadId = DistributableThreadId(2);

/// A host: OS threads that run any distributable thread, and the storage of threads that have left.
struct Host {
    retained: RetainedStorage,
    key: WordKey<u32>,
}

impl Host {
    fn new() -> Self {
        Self {
            retained: RetainedStorage::new(RetentionLimits::default()),
            key: WordKey::new().unwrap(),
        }
    }

    /// Runs a distributable thread on the calling OS thread.
    fn visit<R>(&self, id: DistributableThreadId, work: impl FnOnce(&WordKey<u32>) -> R) -> R {
        let storage = self.retained.restore(id, Time(0)).unwrap_or_default();
        let result = storage.enter(|| work(&self.key));
        self.retained.retain(id, storage, Time(0));
        result
    }
}

/// Figure 5 of [Gill 2004]: DT1 writes on host 1 in OS thread 1 and goes to host 2; DT2 arrives from there
/// and runs in OS thread 1; DT1 returns and runs in OS thread 2, where it reads. Distributable threads always
/// find their values, OS threads only by chance.
#[test]
fn figure_5_two_threads_cross_between_two_hosts() {
    let (host1, host2) = (&Host::new(), &Host::new());
    thread_local! { static NATIVE: Cell<usize> = const { Cell::new(0) } }
    let turn = &Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(move || {
            // OS thread 1.
            host1.visit(DT1, |key| {
                key.set(10).unwrap();
                NATIVE.set(10);
            });
            host2.visit(DT2, |key| key.set(20).unwrap());
            host2.visit(DT1, |key| {
                assert_eq!(key.get(), Ok(None), "its value is local to host 1");
                key.set(11).unwrap();
            });
            let found = host1.visit(DT2, |key| {
                let found = (key.get(), NATIVE.get());
                key.set(21).unwrap();
                found
            });
            assert_eq!(
                found,
                (Ok(None), 10),
                "DT2 finds the value of DT1 in the storage of the OS thread"
            );
            turn.wait();
        });
        scope.spawn(move || {
            // OS thread 2.
            turn.wait();
            let found = host1.visit(DT1, |key| (key.get(), NATIVE.get()));
            assert_eq!(found, (Ok(Some(10)), 0), "where DT1 does not find it");
            assert_eq!(host1.visit(DT2, |key| key.get()), Ok(Some(21)));
            assert_eq!(host2.visit(DT1, |key| key.get()), Ok(Some(11)));
            assert_eq!(host2.visit(DT2, |key| key.get()), Ok(Some(20)));
        });
    });
}

/// A calls B, and B calls A back while A's OS thread waits.
#[test]
fn a_callback_on_another_os_thread_finds_the_value() {
    let key = WordKey::<i16>::new().unwrap();
    let storage = ThreadStorage::new();
    storage.enter(|| {
        key.set(-3).unwrap();
        let away = storage.clone();
        thread::scope(|scope| {
            let calls_back = || {
                assert_eq!(key.get(), Ok(Some(-3)));
                key.set(4).unwrap();
            };
            scope.spawn(move || away.enter(calls_back));
        });
        assert_eq!(key.get(), Ok(Some(4)));
    });
}

#[test]
fn nested_threads_regain_their_storage_even_after_a_panic() {
    let key = StorageKey::new().unwrap();
    ThreadStorage::new().enter(|| {
        key.set(1).unwrap();
        let panicked = std::panic::catch_unwind(|| {
            ThreadStorage::new().enter(|| {
                assert_eq!(key.get(), Ok(None));
                key.set(2).unwrap();
                std::panic::panic_any("out");
            })
        });
        assert!(panicked.is_err());
        assert_eq!(key.get(), Ok(Some(1)));
    });
    assert_eq!(key.get(), Err(StorageError::NoDistributableThread));
}

#[test]
fn storage_requires_a_distributable_thread() {
    let key = StorageKey::new().unwrap();
    let outside = StorageError::NoDistributableThread;
    assert_eq!(key.get(), Err(outside));
    assert_eq!(key.set(1), Err(outside));
    assert_eq!(key.take(), Err(outside));
    assert_eq!(
        ObjectKey::<String>::new(1).unwrap().set(String::new()),
        Err(outside)
    );
    assert!(outside.to_string().contains("begin a scheduling segment"));
}

#[test]
fn stale_keys_are_refused_and_their_values_invisible_to_new_keys() {
    let storage = ThreadStorage::new();
    storage.enter(|| {
        let stale = StorageKey::new().unwrap();
        stale.set(1).unwrap();
        stale.delete().unwrap();
        // At least one of these reuses the entry of the stale key; other tests may take it once.
        for key in [(); 3].map(|()| StorageKey::new().unwrap()) {
            assert_eq!(key.get(), Ok(None));
            key.set(2).unwrap();
        }
        assert_eq!(stale.get(), Err(StorageError::StaleKey));
        assert_eq!(stale.set(3), Err(StorageError::StaleKey));
        assert_eq!(stale.take(), Err(StorageError::StaleKey));
        assert_eq!(stale.delete(), Err(StorageError::StaleKey));
    });
}

#[test]
fn destructors_are_called_for_the_newest_key_first() {
    let order = Arc::new(PiMutex::new(Vec::new()));
    let keys: Vec<_> = (0..4)
        .map(|number| {
            let order = Arc::clone(&order);
            StorageKey::with_destructor(move |word| order.lock().push((number, word))).unwrap()
        })
        .collect();
    let storage = ThreadStorage::new();
    let alive = storage.clone();
    storage.enter(|| {
        for (key, word) in keys.iter().zip(10..) {
            key.set(word).unwrap();
        }
        keys[0].set(20).unwrap();
        assert_eq!(keys[1].take(), Ok(Some(11)), "the caller owns it");
        keys[2].delete().unwrap();
    });
    drop(storage);
    assert!(order.lock().is_empty(), "a clone still exists");
    drop(alive);
    assert_eq!(*order.lock(), [(3, 13), (0, 20)]);
}

#[test]
fn destructors_find_older_values_and_may_set_others() {
    let seen = Arc::new(PiMutex::new(Vec::new()));
    let of_older = Arc::clone(&seen);
    let older = StorageKey::with_destructor(move |word| of_older.lock().push(("older", word))).unwrap();
    let of_newer = Arc::clone(&seen);
    let newer = StorageKey::with_destructor(move |word| {
        of_newer.lock().push(("finds", older.get().unwrap().unwrap_or(0)));
        older.set(word + 1).unwrap();
    })
    .unwrap();
    let again = Arc::new(AtomicU32::new(0));
    let of_endless = Arc::clone(&again);
    let place = Arc::new(PiMutex::new(None::<StorageKey>));
    let own = Arc::clone(&place);
    let endless = StorageKey::with_destructor(move |word| {
        of_endless.fetch_add(1, Ordering::Relaxed);
        own.lock().unwrap().set(word).unwrap();
    })
    .unwrap();
    *place.lock() = Some(endless);
    let storage = ThreadStorage::new();
    storage.enter(|| {
        older.set(5).unwrap();
        newer.set(7).unwrap();
        endless.set(1).unwrap();
    });
    drop(storage);
    assert_eq!(*seen.lock(), [("finds", 5), ("older", 8)]);
    assert_eq!(
        again.load(Ordering::Relaxed),
        ThreadStorage::DESTRUCTOR_PASSES as u32
    );
}

#[test]
fn a_panicking_destructor_does_not_stop_the_others() {
    let (sender, destroyed) = mpsc::channel();
    let last = StorageKey::with_destructor(move |word| sender.send(word).unwrap()).unwrap();
    let panics = StorageKey::with_destructor(|_| std::panic::panic_any("a destructor")).unwrap();
    let storage = ThreadStorage::new();
    storage.enter(|| {
        last.set(1).unwrap();
        panics.set(2).unwrap();
    });
    let before = panicked_destructors();
    drop(storage);
    assert_eq!(destroyed.try_recv(), Ok(1));
    assert_eq!(panicked_destructors() - before, 1);
}

#[test]
fn reused_storage_is_empty() {
    let key = StorageKey::new().unwrap();
    for _ in 0..3 {
        let storage = ThreadStorage::new();
        assert!(storage.is_empty());
        storage.enter(|| {
            assert_eq!(key.get(), Ok(None));
            key.set(1).unwrap();
        });
        assert!(!storage.is_empty());
    }
}

#[test]
fn ten_thousand_keys_have_ten_thousand_values() {
    let keys: Vec<_> = (0..10_000).map(|_| WordKey::<usize>::new().unwrap()).collect();
    let storage = ThreadStorage::new();
    storage.enter(|| {
        for (value, key) in keys.iter().enumerate() {
            key.set(value).unwrap();
        }
        for (value, key) in keys.iter().enumerate() {
            assert_eq!(key.get(), Ok(Some(value)));
        }
    });
    drop(storage);
    ThreadStorage::new().enter(|| assert!(keys.iter().all(|key| key.get() == Ok(None))));
    for key in keys {
        key.delete().unwrap();
    }
}

#[test]
fn objects_are_dropped_with_their_thread_or_their_key() {
    let object = Arc::new(());
    let key = ObjectKey::new(2).unwrap();
    let storages = [(); 3].map(|()| ThreadStorage::new());
    for storage in &storages {
        storage.enter(|| {
            key.set(Arc::clone(&object)).unwrap();
            key.set(Arc::clone(&object)).unwrap();
        });
    }
    assert_eq!(Arc::strong_count(&object), 4);
    let [first, second, _third] = storages;
    drop(first);
    assert_eq!(Arc::strong_count(&object), 3);
    second.enter(|| assert!(key.take().unwrap().is_some()));
    assert_eq!(Arc::strong_count(&object), 2);
    second.enter(|| key.get_or_set(|| Arc::clone(&object)).unwrap());
    assert_eq!(Arc::strong_count(&object), 3);
    key.delete().unwrap();
    assert_eq!(Arc::strong_count(&object), 1);
    assert!(matches!(second.enter(|| key.get()), Err(StorageError::StaleKey)));
}
