//! Keeping memory resident.

use std::io;

use rustix::mm::MlockAllFlags;
use rustix::process::{Resource, getrlimit};
use rustix::thread::CapabilitySet;

/// Locks all memory that the process has and will have, so that none of it is paged out or paged in late.
///
/// Done only when it is safe: under a limit of locked memory, later allocations and thread starts would fail once
/// the limit is reached, so a process that has one is refused instead. Call it before starting threads whose stacks
/// are to be locked. Locked memory counts in full, whether it is used or not: choose sizes of stacks accordingly.
///
/// # Errors
/// [`LockDenied`]; nothing is locked then.
pub fn lock_all() -> Result<(), LockDenied> {
    may_lock_all()?;
    rustix::mm::mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE)
        .map_err(|error| LockDenied::Refused(error.into()))
}

/// Whether [`lock_all`] would be safe, without doing it.
///
/// # Errors
/// [`LockDenied::Limited`] when it would not.
pub fn may_lock_all() -> Result<(), LockDenied> {
    let limit = getrlimit(Resource::Memlock).current;
    match limit {
        Some(limit_bytes) if !crate::rights::has_capability(CapabilitySet::IPC_LOCK) => {
            Err(LockDenied::Limited { limit_bytes })
        }
        _ => Ok(()),
    }
}

/// Why memory was not locked.
#[derive(Debug, thiserror::Error)]
pub enum LockDenied {
    /// The process may lock a limited amount only.
    #[error(
        "memory is not locked: without CAP_IPC_LOCK at most {limit_bytes} bytes may be, and every allocation \
         beyond would fail; grant it with `sudo setcap cap_ipc_lock+ep BINARY` or raise `ulimit -l` to unlimited"
    )]
    Limited {
        /// The limit of locked memory (RLIMIT_MEMLOCK) in bytes.
        limit_bytes: u64,
    },
    /// The kernel refused.
    #[error(
        "memory is not locked: {0}; is there enough memory for all of the process, its thread stacks included?"
    )]
    Refused(#[source] io::Error),
}

/// Makes the C library keep memory that is freed, so that allocating it again takes no system call and no page fault.
/// For the life of the process; the process does not shrink any more. False when the library did not accept it.
pub fn keep_freed_memory() -> bool {
    // SAFETY: `mallopt` takes numbers; the C library serialises it with allocations of other threads.
    unsafe { libc::mallopt(libc::M_TRIM_THRESHOLD, -1) == 1 && libc::mallopt(libc::M_MMAP_MAX, 0) == 1 }
}

/// The memory of this process that is resident now, in bytes.
///
/// # Errors
/// `/proc` is not mounted.
pub fn resident_bytes() -> io::Result<u64> {
    status_bytes("VmRSS:")
}

/// The most memory of this process that has ever been resident, in bytes.
///
/// # Errors
/// `/proc` is not mounted.
pub fn peak_resident_bytes() -> io::Result<u64> {
    status_bytes("VmHWM:")
}

/// The memory of this process that is locked now, in bytes.
///
/// # Errors
/// `/proc` is not mounted.
pub fn locked_bytes() -> io::Result<u64> {
    status_bytes("VmLck:")
}

fn status_bytes(field: &str) -> io::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let kibibytes = crate::process::status_field(&status, field).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("/proc/self/status has no line `{field}`"),
        )
    })?;
    Ok(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ThreadSpec;

    #[test]
    fn the_peak_holds_what_was_touched() {
        const BYTES: usize = 32 * 1024 * 1024;
        let memory = std::hint::black_box(vec![1u8; BYTES]);
        assert!(resident_bytes().unwrap() >= BYTES as u64);
        drop(memory);
        assert!(peak_resident_bytes().unwrap() >= BYTES as u64);
    }

    #[test]
    fn a_limit_without_the_capability_is_refused_and_nothing_is_locked() {
        let Some(limit) = getrlimit(Resource::Memlock).current else {
            return crate::test_support::say_skipped(
                "a_limit_without_the_capability",
                "RLIMIT_MEMLOCK is unlimited",
            );
        };
        let denied = ThreadSpec::new("no-rights").spawn(|| {
            crate::test_support::give_up_capabilities();
            lock_all()
        });
        let denied = denied.unwrap().join().unwrap().unwrap_err();
        assert!(matches!(denied, LockDenied::Limited { limit_bytes } if limit_bytes == limit));
        assert_eq!(locked_bytes().unwrap(), 0);
    }
}
