//! Orders of dispatch within a level: `RtecScheduler::Dispatching_Type_t`.

/// Order of the operations of one level.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Queue {
    /// Order of arrival: `STATIC_DISPATCHING`.
    Static,
    /// Earliest deadline first: `DEADLINE_DISPATCHING`.
    Deadline,
    /// Least laxity first, and what can no longer be in time last: `LAXITY_DISPATCHING`.
    Laxity,
}
