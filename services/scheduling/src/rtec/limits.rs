//! Bounds of what clients may make the scheduler keep.

/// Limits of a [`SchedulerServant`](super::SchedulerServant): a request beyond one gets IMP_LIMIT, and what is
/// there remains.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SchedulerLimits {
    /// Number of operations. Default: 10,000.
    pub operations: usize,
    /// Number of dependencies. Default: 100,000.
    pub dependencies: usize,
    /// Number of rate tuples of one operation. Default: 64.
    pub tuples: usize,
    /// Octets of a name. Default: 256.
    pub name: usize,
}

impl Default for SchedulerLimits {
    fn default() -> Self {
        Self {
            operations: 10_000,
            dependencies: 100_000,
            tuples: 64,
            name: 256,
        }
    }
}
