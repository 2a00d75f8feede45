//! The limit of open files, which are also sockets and pipes.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

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
