//! All keys of a process.

use punctual_os::alloc_counter::count_allocations;
use punctual_rtsched::storage::{MAX_KEYS, StorageError, StorageKey, ThreadStorage};
use punctual_types::{SystemException, SystemExceptionKind};

pub fn all_keys_can_be_created_and_deleted_again() {
    let mut keys = Vec::with_capacity(MAX_KEYS);
    // Now and then a chunk of 64 entries, and no memory that grows with the number of keys.
    let mut most = 0;
    let error = loop {
        let (key, allocations) = count_allocations(StorageKey::new);
        most = most.max(allocations);
        match key {
            Ok(key) => keys.push(key),
            Err(error) => break error,
        }
    };
    assert_eq!((most, error), (1, StorageError::TooManyKeys));
    let count = keys.len();
    assert!(count > MAX_KEYS - 100, "other tests have only a few: {count}");
    assert!(error.to_string().contains("16384"), "{error}");
    assert_eq!(SystemException::from(error).kind, SystemExceptionKind::ImpLimit);

    let storage = ThreadStorage::new();
    let last = *keys.last().unwrap();
    storage.enter(|| last.set(1)).unwrap();
    let (_, allocations) = count_allocations(|| {
        for key in keys.drain(..) {
            key.delete().unwrap();
        }
        for _ in 0..count {
            keys.push(StorageKey::new().unwrap());
        }
    });
    assert_eq!(allocations, 0, "entries are reused");
    storage.enter(|| {
        assert_eq!(last.get(), Err(StorageError::StaleKey));
        assert!(keys.iter().all(|key| key.get() == Ok(None)));
    });
    for key in keys {
        key.delete().unwrap();
    }
}
