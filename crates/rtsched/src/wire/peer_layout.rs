//! Layouts of service context 30 of other ORBs.

/// Contexts of TAO's example schedulers: those that are read besides our own, and sent to servers of TAO
/// instead of our own, which they would misread. They have no mark and do not agree with each other, so the
/// layout of the peers must be configured.
///
/// Their ids are counters of the process that creates them: see [`Reader::peer`](super::Reader::peer). Their
/// parameters are those of the thread; implicit parameters are not transmitted.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum PeerLayout {
    /// Own layout only: contexts of others are ignored, and none is sent to servers of TAO.
    #[default]
    OwnOnly,
    /// The Fixed_Priority example: an id of 4 or 8 octets (8 are sent). The priority is in service context
    /// 10, if anywhere.
    FixedPriority,
    /// The MIF example: an id of 4 or 8 octets (8 are sent), then the importance in 4 octets.
    MostImportantFirst,
    /// FP over Kokyu, only read: id and priority of `Kokyu::Svc_Ctxt_DSRT_QoS`; the sender does not
    /// initialise the rest.
    KokyuFixedPriority,
    /// MIF over Kokyu, only read: id and importance of `Kokyu::Svc_Ctxt_DSRT_QoS`.
    KokyuMostImportantFirst,
    /// MUF over Kokyu, only read: id, criticality, deadline and execution time of `Kokyu::Svc_Ctxt_DSRT_QoS`.
    KokyuMaximumUrgencyFirst,
}
