//! Segments whose threads store something, in steady state. Alone in its process: tests beside take storage out of the pool.

use punctual_os::{CountingAllocator, alloc_counter::count_allocations};
use punctual_rtsched::{RtScheduling, SchedulingError, storage::WordKey};
use punctual_sched::dynamic::SchedulingParameters;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn threads_that_begin_store_and_end_allocate_nothing() {
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
