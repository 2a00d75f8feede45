use serde::{Deserialize, Serialize};

/// What calls travel over, and the raw exchange of the same kind.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub(crate) enum Transport {
    Tcp,
    Unix,
    Shm,
}

impl Transport {
    /// The name in the rows.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Unix => "unix",
            Self::Shm => "shm",
        }
    }

    /// Where the server listens.
    pub(super) fn endpoint(self) -> &'static str {
        match self {
            Self::Tcp => "iiop://127.0.0.1:0",
            Self::Unix => "uiop://",
            Self::Shm => "shmiop://",
        }
    }

    /// What the raw exchange is.
    pub(super) fn raw(self) -> &'static str {
        match self {
            Self::Tcp => "blocking TCP ping-pong",
            Self::Unix => "blocking Unix socket ping-pong",
            Self::Shm => "ping-pong by shared memory and futexes",
        }
    }

    /// Whether the raw exchange can go without a reply: through shared memory it is one request at a time.
    pub(super) fn has_raw_oneway(self) -> bool {
        self != Self::Shm
    }
}
