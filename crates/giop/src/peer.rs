//! The peer of a connection.

use core::{
    fmt,
    net::{IpAddr, Ipv6Addr},
};

/// The peer of a connection, as far as its transport can identify it.
///
/// ```
/// # mod punctual { pub(crate) use punctual_giop as transport; }
/// use punctual::transport::Peer;
///
/// // What the predicate of `Peers` and `Upcall::peer` get.
/// let of_root = |peer: Peer| peer == Peer::SameHost { user: Some(0) };
/// assert!(of_root(Peer::SameHost { user: Some(0) }));
/// assert!(Peer::Loopback.is_local());
/// assert!(!Peer::Network([192, 0, 2, 1].into()).is_local());
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Peer {
    /// A process of this host, over a Unix socket or shared memory.
    SameHost {
        /// Effective user id at the time of the connection, as reported by the kernel.
        user: Option<u32>,
    },
    /// A process of this host, over TCP: its address is a loopback address, or the one it connected to.
    Loopback,
    /// A host of the network. Addresses can be forged.
    Network(IpAddr),
    /// A peer that the transport cannot identify.
    Unknown,
}

impl Peer {
    /// Returns whether the peer is a process of this host.
    pub const fn is_local(self) -> bool {
        matches!(self, Self::SameHost { .. } | Self::Loopback)
    }

    /// Returns the peer as limits on each peer count it: a host of IPv6 has all addresses of a network with
    /// 64 bits (RFC 7421) and is represented by the first one. All others are returned unchanged.
    ///
    /// ```
    /// # mod punctual { pub(crate) use punctual_giop as transport; }
    /// use punctual::transport::Peer;
    ///
    /// let of = |address: &str| Peer::Network(address.parse().unwrap()).for_limits();
    /// assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:0:0:1"));
    /// assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    /// ```
    #[must_use]
    pub fn for_limits(self) -> Self {
        match self {
            Self::Network(IpAddr::V6(address)) => {
                let network = u128::from(address) >> 64 << 64;
                Self::Network(Ipv6Addr::from(network).into())
            }
            other => other,
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SameHost { user: Some(user) } => write!(f, "a process of user {user} on this host"),
            Self::SameHost { user: None } => f.write_str("a process on this host"),
            Self::Loopback => f.write_str("a process on this host over TCP"),
            Self::Network(address) => address.fmt(f),
            Self::Unknown => f.write_str("an unknown peer"),
        }
    }
}

/// Returns whether the host of an address is the loopback interface of the host that reads it: `localhost`,
/// or a numeric loopback address.
///
/// ```
/// use punctual_giop::is_loopback;
///
/// assert!(["localhost", "127.0.0.1", "::1"].into_iter().all(is_loopback));
/// assert!(!is_loopback("192.0.2.1") && !is_loopback("host.example"));
/// ```
pub fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse().is_ok_and(|host: IpAddr| host.is_loopback())
}
