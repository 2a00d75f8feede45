//! Locking memory, keeping freed memory, and reading how much is resident.

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
};

use rustix::mm::MlockAllFlags;
use rustix::process::{Resource, getrlimit};
use rustix::thread::CapabilitySet;

/// Locks all present and future memory of the process, so that none is paged out or faulted in late.
///
/// Refused under a limit on locked memory: later allocations and thread starts would fail as soon as the
/// limit is reached. Locked memory is resident in full, used or not. Stacks of threads with
/// [`prefault_bytes`](crate::ThreadSpec::prefault_bytes) that start later are the exception: only what is
/// prefaulted, and what has been touched, is resident and locked. So call it before they start.
///
/// # Errors
/// [`LockDenied`]; nothing is locked.
pub fn lock_all() -> Result<(), LockDenied> {
    may_lock_all()?;
    rustix::mm::mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE)
        .map_err(|error| LockDenied::Refused(error.into()))?;
    LOCKED.store(true, Ordering::Relaxed);
    Ok(())
}

static LOCKED: AtomicBool = AtomicBool::new(false);

/// Returns whether [`lock_all`] has locked all memory.
pub fn is_locked() -> bool {
    LOCKED.load(Ordering::Relaxed)
}

/// Checks whether [`lock_all`] is permitted, without locking.
///
/// # Errors
/// [`LockDenied::Limited`].
pub fn may_lock_all() -> Result<(), LockDenied> {
    let limit = getrlimit(Resource::Memlock).current;
    match limit {
        Some(limit_bytes) if !crate::capability::has_capability(CapabilitySet::IPC_LOCK) => {
            Err(LockDenied::Limited { limit_bytes })
        }
        _ => Ok(()),
    }
}

/// Error of [`lock_all`].
#[derive(thiserror::Error)]
pub enum LockDenied {
    /// The process may lock only a limited amount.
    #[error(
        "memory not locked: without CAP_IPC_LOCK the limit is {limit_bytes} bytes, beyond which every allocation \
         would fail; run `sudo setcap cap_sys_nice,cap_ipc_lock+ep BINARY`, or set `ulimit -l` to unlimited"
    )]
    Limited {
        /// The limit of locked memory (RLIMIT_MEMLOCK) in bytes.
        limit_bytes: u64,
    },
    /// The kernel refused.
    #[error(
        "memory not locked: {0}; check that the machine has enough for the whole process with its thread stacks"
    )]
    Refused(#[source] io::Error),
}

punctual_types::debug_as_display!(LockDenied);

/// Makes the C library keep freed memory, so that allocating it again causes no system call and no page
/// fault. Permanent. Returns false if the library refused, as musl does, which has no such setting.
///
/// Blocks of 2 MiB or more, which only unusually large messages need, are returned to the system.
#[cfg(target_env = "gnu")]
pub fn keep_freed_memory() -> bool {
    // SAFETY: `mallopt` takes numbers; the C library serialises it with allocations of other threads.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, -1) == 1
            && libc::mallopt(libc::M_MMAP_THRESHOLD, RETURNED_FROM) == 1
    }
}

#[cfg(not(target_env = "gnu"))]
pub fn keep_freed_memory() -> bool {
    false
}

/// Octets from which freed blocks are returned to the system; also ends the library's own adjustment.
#[cfg(target_env = "gnu")]
const RETURNED_FROM: libc::c_int = 2 << 20;

/// Returns the resident memory of this process in bytes.
///
/// # Errors
/// `/proc` is not mounted.
pub fn resident_bytes() -> io::Result<u64> {
    status_bytes("VmRSS:")
}

/// Returns the peak resident memory of this process in bytes.
///
/// # Errors
/// `/proc` is not mounted.
pub fn peak_resident_bytes() -> io::Result<u64> {
    status_bytes("VmHWM:")
}

/// Returns the locked memory of this process in bytes.
///
/// # Errors
/// `/proc` is not mounted.
pub fn locked_bytes() -> io::Result<u64> {
    status_bytes("VmLck:")
}

fn status_bytes(field: &str) -> io::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let kibibytes = status
        .lines()
        .find_map(|line| {
            line.strip_prefix(field)?
                .split_whitespace()
                .next()?
                .parse::<u64>()
                .ok()
        })
        .ok_or_else(|| {
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
            return punctual_fixtures::skip(
                punctual_fixtures::Missing::Machine,
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
