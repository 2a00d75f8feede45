//! Peers, and the highest priorities that an adapter accepts from them.

use std::net::IpAddr;

use punctual_transport::Peer;
use punctual_types::Priority;

use crate::{OnExcess, bound_band::BoundBand};

/// Set of peers, for rules about the priorities that they may request. A peer is identified by its
/// connection, not by claims in its requests; but an attacker who can forge network addresses can pose as any
/// host of the network.
///
/// ```
/// # mod punctual { pub use {punctual_orb::*, punctual_types::*}; }
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual::{Orb, Peers, Priority, PriorityModel, SystemExceptionKind};
///
/// let server = Orb::builder().build()?;
/// let pool = server.threadpool().build()?;
/// let poa = server
///     .root_poa()
///     .child("tracks")
///     .threadpool(&pool)
///     .priority_model(PriorityModel::ClientPropagated { default: Priority::MIN })
///     .accept_priorities(Peers::SameHost, Priority::new(20_000)?)
///     .accept_priorities(Peers::network("10.1.0.0".parse()?, 16), Priority::new(10_000)?)
///     .highest_priority(Priority::MIN)
///     .build()?;
/// let doubler: DoublerRef = poa.activate(Doubler)?;
///
/// let client = Orb::builder().build()?;
/// # use punctual_stub::Interface;
/// let doubler: DoublerRef = client.resolve(&doubler.as_object().to_ior())?;
/// client.current().set_priority(Priority::new(20_000)?)?;
/// assert_eq!(doubler.twice(3)?, 6);
/// client.current().set_priority(Priority::MAX)?;
/// assert_eq!(doubler.twice(3).unwrap_err().kind, SystemExceptionKind::NoPermission);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Peers {
    /// All peers.
    Everyone,
    /// Processes of this host, over any transport; over TCP from a loopback address.
    SameHost,
    /// Processes of this user on this host, as identified by the kernel: over Unix sockets and shared memory.
    User(
        /// User id.
        u32,
    ),
    /// All peers that are not on this host.
    Remote,
    /// Hosts of a network, created by [`Self::network`].
    Network {
        /// Address in the network.
        address: IpAddr,
        /// Number of leading bits that are common to the network.
        prefix: u8,
    },
}

impl Peers {
    /// Returns the set of other hosts whose addresses begin with the first `prefix` bits of `address`, such
    /// as 10.1.0.0 and 16. A prefix longer than the address denotes that one host.
    ///
    /// ```
    /// # use punctual_orb as punctual;
    /// use punctual::Peers;
    ///
    /// let machine_room = Peers::network("192.168.7.0".parse()?, 24);
    /// # Ok::<(), std::net::AddrParseError>(())
    /// ```
    pub const fn network(address: IpAddr, prefix: u8) -> Self {
        Self::Network { address, prefix }
    }

    /// Returns whether the set includes this peer.
    pub fn include(self, peer: Peer) -> bool {
        match self {
            Self::Everyone => true,
            Self::SameHost => peer.is_local(),
            Self::User(user) => peer == Peer::SameHost { user: Some(user) },
            Self::Remote => !peer.is_local(),
            Self::Network { address, prefix } => {
                matches!(peer, Peer::Network(peer)
                    if is_in_network(peer.to_canonical(), address.to_canonical(), prefix))
            }
        }
    }
}

fn is_in_network(peer: IpAddr, network: IpAddr, prefix: u8) -> bool {
    // Aligned at the most significant bit, so that one shift serves both families.
    let bits = |address: IpAddr| match address {
        IpAddr::V4(address) => u128::from(address.to_bits()) << 96,
        IpAddr::V6(address) => address.to_bits(),
    };
    let differing = bits(peer) ^ bits(network);
    let prefix = u32::from(prefix).min(if network.is_ipv4() { 32 } else { 128 });
    peer.is_ipv4() == network.is_ipv4() && differing.leading_zeros() >= prefix
}

/// Origin of the requests of a connection.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) peer: Peer,
    /// Highest priority accepted at the endpoint of the connection.
    pub(crate) highest: Priority,
    /// Band that the peer has bound the connection to.
    pub(crate) band: BoundBand,
}

/// Highest priorities that an adapter accepts from peers.
#[derive(Clone, Debug)]
pub(crate) struct AcceptedPriorities {
    /// Rules; the first one that includes the peer applies.
    pub(crate) rules: Vec<(Peers, Priority)>,
    /// Highest priority of peers without a rule.
    pub(crate) others: Priority,
    pub(crate) on_excess: OnExcess,
}

/// Priority 0 only.
impl Default for AcceptedPriorities {
    fn default() -> Self {
        Self {
            rules: Vec::new(),
            others: Priority::MIN,
            on_excess: OnExcess::Refuse,
        }
    }
}

impl AcceptedPriorities {
    /// Returns the highest priority that requests from this origin may have.
    pub(crate) fn highest(&self, origin: &Origin) -> Priority {
        let rule = self.rules.iter().find(|(peers, _)| peers.include(origin.peer));
        rule.map_or(self.others, |(_, highest)| *highest)
            .min(origin.highest)
    }

    /// Returns the priority at which a request with the propagated `priority` is served; `None` if it is
    /// refused.
    pub(crate) fn admit(&self, origin: &Origin, priority: Priority) -> Option<Priority> {
        let highest = self.highest(origin);
        match self.on_excess {
            _ if priority <= highest => Some(priority),
            OnExcess::Clamp => Some(highest),
            OnExcess::Refuse => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn peers_are_told_apart_by_their_connection() {
        let network = |text, prefix| Peers::network(ip(text), prefix);
        for (peers, included) in [
            (Peers::Everyone, [true, true, true, true, true, true]),
            (Peers::SameHost, [true, true, true, false, false, false]),
            (Peers::User(1000), [true, false, false, false, false, false]),
            (Peers::Remote, [false, false, false, true, true, true]),
            (network("10.1.2.0", 24), [false, false, false, true, false, false]),
            (
                network("10.1.2.3", 200),
                [false, false, false, true, false, false],
            ),
            (
                network("10.1.2.4", 32),
                [false, false, false, false, false, false],
            ),
            (network("0.0.0.0", 0), [false, false, false, true, false, false]),
            (network("fd00::", 8), [false, false, false, false, true, false]),
            (network("::", 0), [false, false, false, false, true, false]),
            (
                network("::ffff:10.0.0.0", 8),
                [false, false, false, true, false, false],
            ),
        ] {
            let all = [
                Peer::SameHost { user: Some(1000) },
                Peer::SameHost { user: None },
                Peer::Loopback,
                Peer::Network(ip("10.1.2.3")),
                Peer::Network(ip("fd00::1")),
                Peer::Unknown,
            ];
            assert_eq!(all.map(|peer| peers.include(peer)), included, "{peers:?}");
        }
    }

    #[test]
    fn the_first_rule_that_includes_the_peer_holds() {
        let priority = |value| Priority::new(value).unwrap();
        let rules = vec![
            (Peers::User(1000), priority(300)),
            (Peers::SameHost, priority(200)),
            (Peers::User(1000), priority(1000)),
        ];
        for (peer, highest) in [
            (Peer::SameHost { user: Some(1000) }, priority(300)),
            (Peer::SameHost { user: Some(7) }, priority(200)),
            (Peer::Unknown, priority(100)),
        ] {
            let accepted = |on_excess| AcceptedPriorities {
                rules: rules.clone(),
                others: priority(100),
                on_excess,
            };
            let from = |highest| Origin {
                peer,
                highest,
                band: BoundBand::among(&Default::default()),
            };
            let above = priority(highest.value() + 1);
            for on_excess in [OnExcess::Refuse, OnExcess::Clamp] {
                assert_eq!(
                    accepted(on_excess).admit(&from(Priority::MAX), highest),
                    Some(highest)
                );
            }
            let admit = |on_excess, origin: &Origin| accepted(on_excess).admit(origin, above);
            assert_eq!(admit(OnExcess::Refuse, &from(Priority::MAX)), None);
            assert_eq!(admit(OnExcess::Clamp, &from(Priority::MAX)), Some(highest));
            let (endpoint, below) = (&from(priority(50)), priority(51));
            assert_eq!(accepted(OnExcess::Refuse).admit(endpoint, below), None);
            assert_eq!(admit(OnExcess::Clamp, endpoint), Some(priority(50)));
        }
    }
}
