//! All keys of a process. Alone in its process.

use punctual_os::{CountingAllocator, alloc_counter::count_allocations};
use punctual_rtsched::storage::{MAX_KEYS, StorageError, StorageKey, ThreadStorage};
use punctual_types::{SystemException, SystemExceptionKind};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn all_keys_can_be_had_and_given_back_again() {
    let mut keys = Vec::with_capacity(MAX_KEYS);
    // A chunk of 64 entries now and then, and nothing that grows with the number of keys.
    let mut most = 0;
    for _ in 0..MAX_KEYS {
        let (key, allocations) = count_allocations(StorageKey::new);
        most = most.max(allocations);
        keys.push(key.unwrap());
    }
    assert_eq!(most, 1);
    let error = StorageKey::new().unwrap_err();
    assert_eq!(error, StorageError::TooManyKeys);
    assert!(error.to_string().contains("16384"), "{error}");
    assert_eq!(SystemException::from(error).kind, SystemExceptionKind::ImpLimit);

    let storage = ThreadStorage::new();
    let last = *keys.last().unwrap();
    storage.enter(|| last.set(1)).unwrap();
    let (_, allocations) = count_allocations(|| {
        for key in keys.drain(..) {
            key.delete().unwrap();
        }
        for _ in 0..MAX_KEYS {
            keys.push(StorageKey::new().unwrap());
        }
    });
    assert_eq!(allocations, 0, "places are used again");
    storage.enter(|| {
        assert_eq!(last.get(), Err(StorageError::StaleKey));
        assert!(keys.iter().all(|key| key.get() == Ok(None)));
    });
}
