//! Time for which the caller of a oneway operation waits.

/// `Messaging::SyncScopePolicy` (24): the point until which a oneway call waits, and so the errors that its
/// caller sees.
///
/// ```
/// # use punctual_stub as punctual;
/// use punctual::{PolicyOverrides, SyncScope};
///
/// assert_eq!(SyncScope::default(), SyncScope::Transport);
/// let accepted = PolicyOverrides::new().sync_scope(SyncScope::Server);
/// assert_eq!(accepted.in_force().sync_scope, SyncScope::Server);
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum SyncScope {
    /// SYNC_NONE (0): there is no guarantee. The same as [`Self::Transport`]: a request is never buffered in
    /// the caller's process. Over a shared connection its rest may be sent later, so the caller never waits.
    None,
    /// SYNC_WITH_TRANSPORT (1): until the transport has accepted the request.
    #[default]
    Transport,
    /// SYNC_WITH_SERVER (2): until the server has found the object, before the servant is called. Exceptions
    /// that are raised before that reach the caller. As [`Self::Target`] before GIOP 1.2, which cannot
    /// express it.
    Server,
    /// SYNC_WITH_TARGET (3): until the servant has returned. System exceptions reach the caller.
    Target,
}
