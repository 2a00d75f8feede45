//! Layouts of service context 30 of other ORBs.

/// Contexts of TAO's example schedulers that are read besides our own. They have no mark and do not agree
/// with each other, so the layout of the peers must be configured.
///
/// Their ids are counters of the process that creates them: see [`Reader::peer`](super::Reader::peer). Their
/// parameters are those of the thread; implicit parameters are not transmitted.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum PeerLayout {
    /// No other layout: contexts that are not ours are ignored.
    #[default]
    OwnOnly,
    /// The Fixed_Priority example: an id of 4 or 8 octets. The priority is in service context 10, if
    /// anywhere.
    FixedPriority,
    /// The MIF example: an id of 4 or 8 octets, then the importance in 4 octets.
    MostImportantFirst,
    /// FP over Kokyu: id and priority of `Kokyu::Svc_Ctxt_DSRT_QoS`; the sender does not initialise the rest.
    KokyuFixedPriority,
    /// MIF over Kokyu: id and importance of `Kokyu::Svc_Ctxt_DSRT_QoS`.
    KokyuMostImportantFirst,
    /// MUF over Kokyu: id, criticality, deadline and execution time of `Kokyu::Svc_Ctxt_DSRT_QoS`.
    KokyuMaximumUrgencyFirst,
}
