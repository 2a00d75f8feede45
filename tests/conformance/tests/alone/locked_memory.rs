//! Locking of all memory, which changes the whole process.

use punctual_os::{
    ThreadSpec,
    memory::{self, LockDenied},
};

pub fn locked_memory_is_resident_before_it_is_touched() {
    match memory::lock_all() {
        Ok(()) => {}
        Err(LockDenied::Limited { limit_bytes }) => {
            let reason = format!("at most {limit_bytes} octets may be locked");
            return punctual_fixtures::skip(punctual_fixtures::Missing::Right, reason);
        }
        Err(refused) => panic!("{refused}"),
    }
    const BYTES: u64 = 16 * 1024 * 1024;
    let (locked, resident) = (memory::locked_bytes().unwrap(), memory::resident_bytes().unwrap());
    assert!(locked > 0);
    let later = std::hint::black_box(Vec::<u8>::with_capacity(BYTES as usize));
    assert!(
        memory::locked_bytes().unwrap() >= locked + BYTES,
        "later allocations are locked, too"
    );
    assert!(memory::resident_bytes().unwrap() >= resident + BYTES * 9 / 10);
    drop(later);
    prefaulted_stacks_take_what_they_touch();
    assert!(memory::keep_freed_memory());
}

/// The kernel makes other stacks resident as a whole.
fn prefaulted_stacks_take_what_they_touch() {
    const THREADS: usize = 8;
    const TOUCHED: usize = 64 * 1024;
    let ends = std::sync::Arc::new(std::sync::Barrier::new(THREADS + 1));
    let before = memory::resident_bytes().unwrap();
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let ends = std::sync::Arc::clone(&ends);
            let spec = ThreadSpec::new("shallow").prefault_bytes(TOUCHED);
            spec.spawn(move || ends.wait().is_leader()).unwrap()
        })
        .collect();
    let each = (memory::resident_bytes().unwrap() - before) as usize / THREADS;
    // The allocator has memory for each thread, too.
    let most = TOUCHED + 256 * 1024;
    assert!((TOUCHED..most).contains(&each), "{each} octets for each thread");
    let used = threads[0].stack().unwrap().used_bytes().unwrap();
    assert!(used < TOUCHED, "{used} of {TOUCHED}");
    ends.wait();
    threads.into_iter().for_each(|thread| {
        thread.join().unwrap();
    });
}
