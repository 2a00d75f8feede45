//! The storage of distributable threads, as the runtime and its users see it.

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

/// A host: threads of the system that run whatever distributable thread comes, and what visitors leave behind.
struct Host {
    visitors: RetainedStorage,
    key: WordKey<u32>,
}

impl Host {
    fn new() -> Self {
        Self {
            visitors: RetainedStorage::new(RetentionLimits::default()),
            key: WordKey::new().unwrap(),
        }
    }

    /// A visit on the calling thread of the system.
    fn visit<R>(&self, id: DistributableThreadId, work: impl FnOnce(&WordKey<u32>) -> R) -> R {
        let storage = self.visitors.restore(id, Time(0)).unwrap_or_default();
        let result = storage.enter(|| work(&self.key));
        self.visitors.retain(id, storage, Time(0));
        result
    }
}

/// Figure 5 of [S4]: DT1 writes on host 1 in OS thread 1 and goes to host 2; DT2 comes from there and runs in OS thread 1; DT1
/// comes back and runs in OS thread 2, where it reads. OS threads find what is theirs by chance only, distributable ones always.
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
                assert_eq!(key.get(), Ok(None), "what it wrote is host 1's");
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
                "the system's storage shows DT2 what DT1 wrote"
            );
            turn.wait();
        });
        scope.spawn(move || {
            // OS thread 2.
            turn.wait();
            let found = host1.visit(DT1, |key| (key.get(), NATIVE.get()));
            assert_eq!(found, (Ok(Some(10)), 0), "and does not show it to DT1");
            assert_eq!(host1.visit(DT2, |key| key.get()), Ok(Some(21)));
            assert_eq!(host2.visit(DT1, |key| key.get()), Ok(Some(11)));
            assert_eq!(host2.visit(DT2, |key| key.get()), Ok(Some(20)));
        });
    });
}

/// A calls B, and B calls A back while A's thread of the system waits.
#[test]
fn a_call_back_on_another_thread_of_the_system_finds_it() {
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
fn nested_threads_get_their_storage_back_also_after_a_panic() {
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
fn outside_of_a_distributable_thread_there_is_none() {
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
fn stale_keys_are_refused_and_the_next_key_sees_nothing_of_theirs() {
    let storage = ThreadStorage::new();
    storage.enter(|| {
        let stale = StorageKey::new().unwrap();
        stale.set(1).unwrap();
        stale.delete().unwrap();
        // Of these one at least has the place of the stale one; tests beside may take it away once.
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
        assert_eq!(keys[1].take(), Ok(Some(11)), "it is the caller's now");
        keys[2].delete().unwrap();
    });
    drop(storage);
    assert!(order.lock().is_empty(), "it is still somebody's");
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
fn a_destructor_that_panics_ends_alone() {
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
fn storage_is_used_again_without_what_was_in_it() {
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
fn ten_thousand_keys_are_ten_thousand_values() {
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
