use punctual_types::Priority;

/// Changes priorities where requests come into a server and where its servants call further: `RTCORBA::PriorityTransform`.
///
/// Source: Real-time CORBA 1.2, `RTCORBA::PriorityTransform`. Lanes ask it from several threads, on the path of requests: it
/// must not block or allocate.
///
/// ```
/// use punctual_sched::PriorityTransform;
/// use punctual_types::Priority;
///
/// /// What arrives runs at half its priority; what the servant calls gets the client's back.
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
    /// The priority at which a request that came with `priority` runs in the object with this id; `None`: it is refused.
    fn inbound(&self, priority: Priority, object_id: &[u8]) -> Option<Priority>;

    /// The priority that a call carries which the servant of the object with this id makes at `priority`; `None`: it fails.
    fn outbound(&self, priority: Priority, object_id: &[u8]) -> Option<Priority>;
}
