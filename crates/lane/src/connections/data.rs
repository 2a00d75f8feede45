//! Data that the layer above a lane keeps with connections.

/// Data that the layer above a lane keeps with connections.
pub trait ConnectionData: Send + Sync + Sized + 'static {
    /// Data that the handler keeps with each connection over which a peer may call.
    type PeerData: Send + Sync;
    /// Purpose of a connection over which this side calls: which calls may share it.
    type Purpose: Send + Sync;
    /// Right to have a connection to a server open; dropped when the lane closes the connection.
    type Permit: Send;
    /// Notes that an accepted connection is in use; [`Self::disconnected`] follows.
    fn connected(peer: &Self::PeerData);

    /// Notes that an accepted connection has been closed.
    fn disconnected(peer: &Self::PeerData);
}
