//! Descriptors of the connections of all lanes of the process: each lane has its share, so that clients of
//! one lane cannot take those of another one.

use std::sync::atomic::{AtomicU64, Ordering};

use punctual_os::{Notice, PiMutex, open_files};

/// Number of descriptors that all listening lanes want.
static WANTED: AtomicU64 = AtomicU64::new(0);
/// Descriptors that they may have: three quarters of the limit. The rest is for files and connections of the
/// program, and for connections to servers.
static AVAILABLE: AtomicU64 = AtomicU64::new(u64::MAX);
/// Connections that a lane may have however little is available.
const LEAST: u64 = 16;
/// Lanes enter one after the other.
static ENTERING: PiMutex<()> = PiMutex::new(());

/// A lane's claim to descriptors, until it is dropped.
pub(crate) struct DescriptorShare {
    connections: u64,
    wanted: u64,
}

impl DescriptorShare {
    /// Claims descriptors for this number of connections, and raises the process's limit of open files if
    /// necessary. If the hard limit is too low, reports it once.
    pub(crate) fn claim(connections: usize, descriptors_per_connection: usize) -> Self {
        let wanted = (connections as u64).saturating_mul(descriptors_per_connection as u64);
        let _turn = ENTERING.lock();
        let all = WANTED.fetch_add(wanted, Ordering::SeqCst) + wanted;
        let limit = open_files::raise_limit(limit_for(all));
        AVAILABLE.store(available(limit), Ordering::SeqCst);
        open_files::provide_table(limit_for(all));
        let share = Self {
            connections: connections as u64,
            wanted,
        };
        if available(limit) < all {
            share.report(limit, all);
        }
        share
    }

    /// Returns the number of connections for which the lane has descriptors.
    pub(crate) fn connections(&self) -> usize {
        let (wanted, available) = (WANTED.load(Ordering::Relaxed), AVAILABLE.load(Ordering::Relaxed));
        share(self.connections, wanted, available) as usize
    }

    #[cold]
    fn report(&self, limit: u64, all: u64) {
        static REPORTED: PiMutex<bool> = PiMutex::new(false);
        let mut reported = REPORTED.lock();
        if !*reported {
            *reported = true;
            let (connections, needed) = (self.connections(), limit_for(all));
            Notice::formatted(format!(
                "punctual: the limit of {limit} open files leaves a lane {connections} instead of {} \
                 connections; raise it before the start with `ulimit -n {needed}` (as a service: \
                 `LimitNOFILE={needed}`), or lower `Limits::max_connections`\n",
                self.connections
            ))
            .send();
        }
    }
}

impl Drop for DescriptorShare {
    fn drop(&mut self) {
        WANTED.fetch_sub(self.wanted, Ordering::SeqCst);
    }
}

fn available(limit: u64) -> u64 {
    limit / 4 * 3
}

/// Limit of open files under which so many are available.
fn limit_for(wanted: u64) -> u64 {
    wanted.div_ceil(3).saturating_mul(4)
}

/// Share of `connections`, at least [`LEAST`], if fewer descriptors are available than wanted.
fn share(connections: u64, wanted: u64, available: u64) -> u64 {
    if wanted <= available {
        return connections;
    }
    let part = u128::from(connections) * u128::from(available) / u128::from(wanted);
    u64::try_from(part)
        .unwrap_or(u64::MAX)
        .max(connections.min(LEAST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_share_what_is_available_in_proportion() {
        assert_eq!(share(1024, 3072, 3072), 1024);
        assert_eq!(share(1024, 3072, 768), 256);
        assert_eq!(share(100, 3088, 768), 24);
        assert_eq!(share(2, 1_000_000, 8), 2, "a small lane loses nothing");
        assert_eq!(share(1024, 1_000_000, 8), LEAST);
        assert!(available(limit_for(3072)) >= 3072);
    }
}
