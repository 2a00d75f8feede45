//! Counts of handshakes.

use std::sync::atomic::{AtomicU64, Ordering};

/// Handshakes of the acceptors of a [`Tls`](crate::Tls) and of its clones.
///
/// ```
/// use punctual_tls::HandshakeCounts;
///
/// let counts = HandshakeCounts { completed: 2, ..HandshakeCounts::default() };
/// assert_eq!(counts.failed + counts.expired + counts.displaced, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct HandshakeCounts {
    /// Handshakes that led to a connection.
    pub completed: u64,
    /// Handshakes whose peer sent something else, or was not trusted, or ended the connection.
    pub failed: u64,
    /// Handshakes that took longer than
    /// [`TlsSettings::handshake_timeout`](crate::TlsSettings::handshake_timeout).
    pub expired: u64,
    /// Handshakes that gave way to others: an acceptor has 64 at a time, or as many as a 32nd
    /// of the limit of open files, and a quarter of them of one other host.
    pub displaced: u64,
}

/// Counts of all acceptors.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) completed: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) expired: AtomicU64,
    pub(crate) displaced: AtomicU64,
}

impl Counters {
    pub(crate) fn counts(&self) -> HandshakeCounts {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        HandshakeCounts {
            completed: of(&self.completed),
            failed: of(&self.failed),
            expired: of(&self.expired),
            displaced: of(&self.displaced),
        }
    }
}

pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
