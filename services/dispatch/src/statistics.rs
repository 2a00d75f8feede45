//! Counters of a level.

/// Outcomes of the commands of one level. Every command ends in exactly one of `executed`, `rejected`,
/// `dropped`, `cancelled_before`, `cancelled_at_checkpoint`, `panicked` and `discarded`, or is still `queued`
/// or running.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LevelStatistics {
    /// Preemption priority of the level.
    pub preemption_priority: u32,
    /// Number of commands that are queued now, deferred retries included.
    pub queued: usize,
    /// Largest number of commands that were queued at the same time.
    pub high_water: usize,
    /// Number of commands that were executed to their end.
    pub executed: u64,
    /// Number of executed commands that ended after their deadline.
    pub late: u64,
    /// Number of commands that were returned to their suppliers because the queue was full.
    pub rejected: u64,
    /// Number of commands that gave way to newer ones ([`Overflow::DropOldest`](crate::Overflow::DropOldest)).
    pub dropped: u64,
    /// Number of hopeless commands that were cancelled instead of being executed.
    pub cancelled_before: u64,
    /// Number of commands that ended at a checkpoint because they had become hopeless.
    pub cancelled_at_checkpoint: u64,
    /// Number of additional attempts that hopeless commands were granted.
    pub retried: u64,
    /// Number of commands that panicked.
    pub panicked: u64,
    /// Number of commands that were cancelled by a shutdown.
    pub discarded: u64,
    /// Number of commands whose preemption priority had no level: the lowest level took them.
    pub misdirected: u64,
}

impl LevelStatistics {
    pub(crate) fn of(preemption_priority: u32) -> Self {
        Self {
            preemption_priority,
            ..Self::default()
        }
    }
}
