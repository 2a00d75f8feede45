//! Identification of an open connection.

/// Identifies an open connection among those of all lanes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ConnectionId(pub(crate) usize);
