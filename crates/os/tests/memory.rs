//! Locking of all memory, which changes the whole process and therefore has a separate test process.

use punctual_os::memory::{self, LockDenied};

#[test]
fn locked_memory_is_resident_before_it_is_touched() {
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
    assert!(memory::keep_freed_memory());
}
