//! The limit of open files, which are also sockets and pipes.

use rustix::{
    event::{EventfdFlags, eventfd},
    io::{Errno, fcntl_dupfd_cloexec},
    process::{Resource, Rlimit, getrlimit, setrlimit},
};

/// Returns the number of descriptors that this process may have open (RLIMIT_NOFILE); [`u64::MAX`]: any.
pub fn limit() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Raises the limit of this process to `wanted` if it is lower, as far as the hard limit permits. Returns the
/// limit that applies then.
pub fn raise_limit(wanted: u64) -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let Some(present) = current.filter(|current| *current < wanted) else {
        return limit();
    };
    let raised = maximum.map_or(wanted, |maximum| maximum.min(wanted)).max(present);
    let raised = Rlimit {
        current: Some(raised),
        maximum,
    };
    // Refused: the present limit remains.
    let _ = setrlimit(Resource::Nofile, raised);
    limit()
}

/// Makes the kernel's table of descriptors of this process long enough for this many, as far as the limit
/// permits.
///
/// The table grows when a descriptor does not fit. In a process of several threads the kernel then waits for
/// a quiescent state of all CPUs (10 to 20 ms), and all threads that open a file wait with it, regardless of
/// their priorities. It never shrinks, so it is better to do this before threads with deadlines start.
pub fn provide_table(descriptors: u64) {
    let last = descriptors.min(limit()).saturating_sub(1);
    // Without a descriptor for the purpose the table grows later.
    if let (Ok(last), Ok(descriptor)) = (i32::try_from(last), eventfd(0, EventfdFlags::CLOEXEC)) {
        drop(fcntl_dupfd_cloexec(&descriptor, last));
    }
}

/// Returns whether no further file can be opened now, because of the limit of this process or that of the
/// system.
pub fn are_exhausted() -> bool {
    matches!(
        eventfd(0, EventfdFlags::CLOEXEC),
        Err(Errno::MFILE | Errno::NFILE)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries of the table, from `FDSize` in `/proc/self/status`.
    fn entries() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("FDSize:"));
        line.unwrap().trim().parse().unwrap()
    }

    #[test]
    fn the_table_is_as_long_as_asked_for() {
        let wanted = (entries() * 2).min(limit());
        provide_table(wanted);
        assert!(entries() >= wanted, "{} of {wanted}", entries());
    }
}
