//! Locking all memory changes the whole process, so it has a test process of its own.

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
        "what is allocated later is locked too"
    );
    assert!(memory::resident_bytes().unwrap() >= resident + BYTES * 9 / 10);
    drop(later);
    assert!(memory::keep_freed_memory());
}
