/// Whose connection a call goes over.
///
/// ```
/// use punctual_stub::{ConnectionMode, PolicyOverrides};
///
/// assert_eq!(ConnectionMode::default(), ConnectionMode::Exclusive);
/// let shared = PolicyOverrides::new().connection_mode(ConnectionMode::Shared);
/// assert_eq!(shared.in_force().connection_mode, ConnectionMode::Shared);
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum ConnectionMode {
    /// The calling thread has it for itself until the reply is there, and reads that itself: two system calls. As many
    /// connections as there are calls at a time.
    #[default]
    Exclusive,
    /// All callers of a lane share one for each server (and band, and reference with a private connection). It stands in the
    /// waiting place of that lane, whose threads read the replies and hand each to its caller: two system calls of
    /// the caller (three where no priority was set for its thread) and three of the lane's thread (four where several threads
    /// of a real-time class take turns), and a switch between the two. Writes never wait: what the server does not take
    /// at once follows when it does.
    ///
    /// Threads that serve a lane use their own one. Where a reply could find nobody there to read it in time, such a
    /// call is an exclusive one: where all other threads of the lane wait like that already, where the caller's priority is
    /// above the lane's, in lanes that block in `read`, and for threads that are lent. With
    /// [`crate::WaitStrategy::Serving`] the caller itself may read its reply, or another's. Other threads need a pool for
    /// it, `Orb::set_reply_threadpool`, and use the lowest lane that is not below their priority; INV_POLICY where there is
    /// none.
    ///
    /// Calls whose policies bind connections to their bands are exclusive ones. Asynchronous ones ([`crate::AsyncCall`]) share
    /// connections under either mode, or fail.
    ///
    /// A lane whose threads are all in upcalls reads no replies until one is back, unless it buffers requests: let
    /// those that have hard deadlines be exclusive, or give the replies a pool of their own.
    Shared,
}
