//! Allocations of thread storage.

use punctual_os::alloc_counter::count_allocations;
use punctual_rtsched::{
    RtScheduling, SchedulingError,
    storage::{ObjectKey, RetainedStorage, RetentionLimits, ThreadStorage, WordKey},
};
use punctual_sched::dynamic::{SchedulingParameters, Time};
use punctual_types::DistributableThreadId;

pub fn threads_that_begin_store_and_end_allocate_nothing() {
    let scheduling = RtScheduling::builder().build().unwrap();
    let keys = [(); 3].map(|()| WordKey::with_destructor(|_: u32| ()).unwrap());
    let thread = || {
        let importance = SchedulingParameters::Importance { importance: 1 };
        let stores = scheduling.current().segment("stores", importance, |_| {
            for key in keys {
                assert_eq!(key.get(), Ok(None));
                key.set(1).unwrap();
                assert_eq!(key.get(), Ok(Some(1)));
            }
            Ok::<_, SchedulingError>(())
        });
        stores.unwrap();
    };
    (0..10).for_each(|_| thread());
    let (_, allocations) = count_allocations(|| (0..100).for_each(|_| thread()));
    assert_eq!(allocations, 0);
}

/// A thread of another host that arrives, stores values and leaves; threads that begin and end here.
pub fn retained_and_new_storage_allocate_nothing() {
    const ID: DistributableThreadId = DistributableThreadId(1);
    let key = WordKey::with_destructor(|_: u64| ()).unwrap();
    let object = ObjectKey::new(1).unwrap();
    let retained = RetainedStorage::new(RetentionLimits::default());
    let visit = |now: u64| {
        let storage = retained.restore(ID, Time(now)).unwrap_or_default();
        storage.enter(|| {
            let count = key.get().unwrap().unwrap_or(0);
            key.set(count + 1).unwrap();
            object.get_or_set(|| 1).unwrap();
        });
        retained.retain(ID, storage, Time(now));
    };
    let ends = || {
        let storage = ThreadStorage::new();
        storage.enter(|| key.set(1).unwrap());
    };
    for round in 0..2 {
        visit(round);
        ends();
    }
    // Tests beside take storage out of the pool: from here on this one's is enough for it.
    let kept: Vec<_> = (0..4)
        .map(|_| {
            let storage = ThreadStorage::new();
            storage.enter(|| key.set(1).unwrap());
            storage
        })
        .collect();
    drop(kept);
    let (_, allocations) = count_allocations(|| (0..100).for_each(&visit));
    assert_eq!(allocations, 0);
}
