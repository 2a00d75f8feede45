//! The interface of priority transforms.

use punctual_types::Priority;

/// Transform of the priorities of requests to a server and of calls from its servants: RTCORBA 1.2,
/// `RTCORBA::PriorityTransform`.
///
/// Several threads call it on the path of requests: it must not block or allocate.
///
/// ```
/// # mod punctual { pub use {punctual_sched::*, punctual_types::*}; }
/// use punctual::{Priority, PriorityTransform};
///
/// /// Requests run at half their priority; calls of servants carry the client's priority again.
/// struct Half;
///
/// impl PriorityTransform for Half {
///     fn inbound(&self, priority: Priority, _object_id: &[u8]) -> Option<Priority> {
///         Priority::new(priority.value() / 2).ok()
///     }
///
///     fn outbound(&self, priority: Priority, _object_id: &[u8]) -> Option<Priority> {
///         Priority::new(priority.value().saturating_mul(2)).ok()
///     }
/// }
/// assert_eq!(Half.inbound(Priority::MAX, b"radar").map(Priority::value), Some(16_383));
/// ```
pub trait PriorityTransform: Send + Sync {
    /// Returns the priority at which the object executes a request received with `priority`; `None`: it is
    /// refused.
    fn inbound(&self, priority: Priority, object_id: &[u8]) -> Option<Priority>;

    /// Returns the priority of a call that the servant of the object makes at `priority`; `None`: the call
    /// fails.
    fn outbound(&self, priority: Priority, object_id: &[u8]) -> Option<Priority>;
}
