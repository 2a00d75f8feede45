use std::{fmt, net::IpAddr};

/// Who is at the other end of a connection, as far as its transport can tell.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Peer {
    /// A process of this host, over a Unix socket or shared memory, and the user it ran as when it connected, as the kernel says.
    SameHost {
        /// The effective user id.
        user: Option<u32>,
    },
    /// A process of this host, over TCP: from a loopback address, or from the one it connected to.
    Loopback,
    /// A host of the network, or one that says so: addresses can be forged.
    Network(IpAddr),
    /// The transport does not say.
    Unknown,
}

impl Peer {
    /// Whether it is a process of this host.
    pub const fn is_local(self) -> bool {
        matches!(self, Self::SameHost { .. } | Self::Loopback)
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SameHost { user: Some(user) } => write!(f, "a process of user {user} of this host"),
            Self::SameHost { user: None } => f.write_str("a process of this host"),
            Self::Loopback => f.write_str("a process of this host over TCP"),
            Self::Network(address) => address.fmt(f),
            Self::Unknown => f.write_str("an unknown peer"),
        }
    }
}
