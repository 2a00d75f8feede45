//! Connection modes.

/// Use of connections by calls: exclusive or shared.
///
/// ```
/// # use punctual_stub as punctual;
/// use punctual::{ConnectionMode, PolicyOverrides};
///
/// assert_eq!(ConnectionMode::default(), ConnectionMode::Exclusive);
/// let shared = PolicyOverrides::new().connection_mode(ConnectionMode::Shared);
/// assert_eq!(shared.in_force().connection_mode, ConnectionMode::Shared);
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum ConnectionMode {
    /// The calling thread uses the connection alone until the reply arrives, and reads the reply itself: two
    /// system calls. One connection for each concurrent call.
    #[default]
    Exclusive,
    /// All callers of a lane share one connection for each server (and band, and reference with a private
    /// connection). It is in the poller of that lane, whose threads read the replies and hand each to its
    /// caller: two system calls of the caller (three if its thread has no priority set), three of the lane
    /// thread (four if several threads of a real-time class take turns), and a switch between the two. Writes
    /// never block: the rest is sent when the server reads.
    ///
    /// Threads that serve a lane use their own lane. A call is exclusive nevertheless if its reply might not
    /// be read in time: if all other threads of the lane already wait in this way, if the caller's priority
    /// is above the lane's, in lanes that block in `read`, and on borrowed threads. With
    /// [`crate::WaitStrategy::Serving`] the caller may read its own reply or another's. Other threads need a
    /// reply pool, `Orb::set_reply_threadpool`, and use its lowest lane that is not below their priority;
    /// INV_POLICY if none exists.
    ///
    /// Calls whose policies bind connections to bands are exclusive. Asynchronous calls
    /// ([`crate::AsyncCall`]) share connections under either mode, or fail.
    ///
    /// A lane whose threads are all in upcalls reads no replies until one of them returns, unless it buffers
    /// requests: use exclusive connections for hard deadlines, or a separate pool for replies.
    Shared,
}
