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
    /// Maximum number of requests that wait for contexts of other servers at a time; default 2. Further
    /// requests get CannotProceed, with which clients continue at that context themselves. It should be below
    /// the number of serving threads: otherwise, contexts that do not answer can occupy all of them.
    pub foreign_calls: usize,
    /// Longest wait for a context of another server; default 2 s.
    pub foreign_timeout: Duration,
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
            foreign_calls: 2,
            foreign_timeout: Duration::from_secs(2),
        }
    }
}
