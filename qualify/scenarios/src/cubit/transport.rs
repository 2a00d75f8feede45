//! The transport between client and server, and how the server's lane waits.

use serde::{Deserialize, Serialize};

use super::operation::{OPERATIONS, Operation};

/// The transport of calls, and of the raw exchange of the same kind.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub(crate) enum Transport {
    Tcp,
    Unix,
    Shm,
}

impl Transport {
    /// Name in rows.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Unix => "unix",
            Self::Shm => "shm",
        }
    }

    /// Returns the endpoint of the server.
    pub(crate) fn endpoint(self) -> &'static str {
        match self {
            Self::Tcp => "iiop://127.0.0.1:0",
            Self::Unix => "uiop://",
            Self::Shm => "shmiop://",
        }
    }

    /// Description of the raw exchange.
    pub(super) fn raw(self) -> &'static str {
        match self {
            Self::Tcp => "blocking TCP ping-pong",
            Self::Unix => "blocking Unix socket ping-pong",
            Self::Shm => "ping-pong by shared memory and futexes",
        }
    }

    /// Returns whether the raw exchange can omit the reply; shared memory holds one request at a time.
    pub(super) fn has_raw_oneway(self) -> bool {
        self != Self::Shm
    }
}

/// How the lane's thread waits for requests.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum LaneWait {
    /// In the lane's poller.
    Polled,
    /// In a read of its only connection.
    Blocking,
}

impl LaneWait {
    /// Returns the operations to measure. With a blocking lane one is enough, since the differences between
    /// operations do not depend on how the lane waits.
    pub(super) fn operations(self) -> &'static [Operation] {
        match self {
            Self::Polled => OPERATIONS,
            Self::Blocking => &[Operation::Long],
        }
    }

    /// Name in rows.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Polled => "polled",
            Self::Blocking => "blocking",
        }
    }
}
