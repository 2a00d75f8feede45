//! Limits on what clients may make the service store and do.

use std::time::Duration;

/// Limits of a [`NamingService`](crate::NamingService). A request beyond one gets IMP_LIMIT, and has no other
/// effect.
///
/// ```
/// use punctual::Orb;
/// use punctual_naming::{NamingLimits, NamingService};
///
/// let limits = NamingLimits { contexts: 100, octets: 1 << 20, ..NamingLimits::default() };
/// let service = NamingService::builder().limits(limits).build(&Orb::builder().build()?)?;
/// assert_eq!(service.statistics().contexts, 1, "the root");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NamingLimits {
    /// Maximum number of contexts, including the root; default 10,000.
    pub contexts: usize,
    /// Maximum number of bindings in one context; default 65,536.
    pub bindings: usize,
    /// Maximum number of octets of all bindings and contexts: their names, references and bookkeeping;
    /// default 64 MiB. This bounds the memory, and bounds the file of a store to a small multiple of it.
    pub octets: usize,
    /// Maximum number of components of a name; default 64.
    pub components: usize,
    /// Maximum number of octets of id and kind of one component together; default 1,024.
    pub component: usize,
    /// Maximum number of octets of a reference; default 16 KiB.
    pub reference: usize,
    /// Maximum number of iterators; default 1,024. The one that has not been used for the longest time gives
    /// way to a new one, so clients that abandon their iterators do no harm.
    pub iterators: usize,
    /// Time after its last use at which an iterator ends; default 5 min.
    pub iterator_idle: Duration,
    /// Maximum number of bindings in one reply; default 1,000. Clients that ask for more get this many, and
    /// an iterator for the rest.
    pub batch: usize,
    /// Maximum number of changes that wait for the disk at a time; default 8. Others get TRANSIENT, "not
    /// completed"; [`NamingContext`](crate::NamingContext) tries again until its timeout. The service lowers
    /// it so that, besides, one thread serves lookups ([`foreign_calls`](Self::foreign_calls) are occupied,
    /// too), but not below 1. Without a store, changes do not wait.
    pub changes: usize,
    /// Maximum number of requests that wait for contexts of other servers at a time; default 2. Others get
    /// CannotProceed, with which clients continue at that context themselves. The service lowers it below
    /// the number of threads that serve: otherwise, contexts that do not answer could occupy all of them.
    pub foreign_calls: usize,
    /// Longest wait for a context of another server; default 2 s.
    pub foreign_timeout: Duration,
}

impl NamingLimits {
    /// Lowers the numbers of requests that wait so that one of the threads remains, if possible.
    pub(crate) fn for_threads(mut self, threads: usize) -> Self {
        let others = threads.saturating_sub(1);
        self.foreign_calls = self.foreign_calls.min(others);
        self.changes = self.changes.min(others - self.foreign_calls).max(1);
        self
    }
}

impl Default for NamingLimits {
    fn default() -> Self {
        Self {
            contexts: 10_000,
            bindings: 65_536,
            octets: 64 << 20,
            components: 64,
            component: 1_024,
            reference: 16 << 10,
            iterators: 1_024,
            iterator_idle: Duration::from_secs(300),
            batch: 1_000,
            changes: 8,
            foreign_calls: 2,
            foreign_timeout: Duration::from_secs(2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_remains_for_lookups() {
        for (threads, foreign_calls, changes) in
            [(0, 0, 1), (1, 0, 1), (2, 1, 1), (4, 2, 1), (8, 2, 5), (99, 2, 8)]
        {
            let limits = NamingLimits::default().for_threads(threads);
            assert_eq!(
                (limits.foreign_calls, limits.changes),
                (foreign_calls, changes),
                "{threads}"
            );
        }
    }
}
