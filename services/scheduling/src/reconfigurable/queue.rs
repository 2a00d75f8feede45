//! Orders of dispatch within a level: `RtecScheduler::Dispatching_Type_t`.

/// Order of the operations of one level.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Queue {
    /// In the order of arrival: `STATIC_DISPATCHING`.
    Static,
    /// The earliest deadline first: `DEADLINE_DISPATCHING`.
    Deadline,
    /// The least laxity first: `LAXITY_DISPATCHING`.
    Laxity,
}
