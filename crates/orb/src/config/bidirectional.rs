//! Rules for bidirectional connections: permitted peers and the addresses they may claim. Source: CORBA 3.3
//! part 2, 9.8.

use punctual_giop::{ListenPoint, TAG_INTERNET_IOP, is_loopback};
use punctual_lane::Acceptors;
use punctual_transport::Peer;

use crate::Peers;

/// Rule under which a server calls clients back over the connections that they have opened, for
/// [`crate::OrbBuilder::accept_bidirectional`].
///
/// A client states the addresses of its objects; calls to these addresses then use its connection. A client
/// that may claim any address can make itself the recipient of calls to others.
///
/// ```
/// # use punctual_orb as punctual;
/// use punctual::{BidirectionalRule, Orb, Peers};
///
/// let rule = BidirectionalRule::own_addresses(Peers::SameHost);
/// let orb = Orb::builder().accept_bidirectional(rule).build()?;
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BidirectionalRule {
    peers: Peers,
    any_address: bool,
}

impl BidirectionalRule {
    /// Permits these peers to claim numeric addresses of the host from which their connections come.
    /// Processes of one host can claim each other's ports.
    pub const fn own_addresses(peers: Peers) -> Self {
        Self {
            peers,
            any_address: false,
        }
    }

    /// Permits these peers to claim any address: for hosts behind gateways that translate addresses, or
    /// addresses with host names. All of the peers must be trusted not to claim the addresses of others.
    pub const fn any_address(peers: Peers) -> Self {
        Self {
            peers,
            any_address: true,
        }
    }

    /// Returns those of the claimed addresses that this peer may serve, in the form of references.
    pub(crate) fn permitted(self, peer: Peer, points: &[ListenPoint]) -> Vec<String> {
        if !self.peers.include(peer) {
            return Vec::new();
        }
        let points = points.iter();
        let permitted = points.filter(|point| self.any_address || is_of(peer, &point.host));
        permitted.map(address).collect()
    }
}

/// Returns whether `host` is the host of the peer.
fn is_of(peer: Peer, host: &str) -> bool {
    match peer {
        Peer::Network(peer) => host
            .parse()
            .is_ok_and(|host: std::net::IpAddr| host.to_canonical() == peer.to_canonical()),
        Peer::Loopback | Peer::SameHost { .. } => is_loopback(host),
        _ => false,
    }
}

/// Formats an address for TCP: an IPv6 host is in brackets.
fn address(point: &ListenPoint) -> String {
    let ListenPoint { host, port } = point;
    if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

/// Returns the TCP addresses at which a lane listens: those of the objects that it serves over its
/// connections. JacORB takes several addresses for those of one object.
pub(crate) fn listen_points(lane: &Acceptors) -> Vec<ListenPoint> {
    let tcp = lane
        .iter()
        .filter(|acceptor| acceptor.transport.profile_tag() == TAG_INTERNET_IOP);
    tcp.filter_map(|acceptor| listen_point(acceptor.address()))
        .collect()
}

/// Returns whether a peer can reach none of these addresses: it is on another host, and they are of the
/// loopback interface.
pub(crate) fn are_out_of_reach(points: &[ListenPoint], peer: Peer) -> bool {
    matches!(peer, Peer::Network(_)) && points.iter().all(|point| is_loopback(&point.host))
}

/// Inverse of [`address`].
fn listen_point(address: &str) -> Option<ListenPoint> {
    let (host, port) = address.rsplit_once(':')?;
    Some(ListenPoint {
        host: host.trim_start_matches('[').trim_end_matches(']').to_owned(),
        port: port.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_may_claim_its_own_addresses_only() {
        let point = |host: &str| ListenPoint {
            host: host.to_owned(),
            port: 7,
        };
        let points = [
            "10.0.0.1",
            "10.0.0.2",
            "127.0.0.1",
            "localhost",
            "::1",
            "peer.example",
        ]
        .map(point);
        let own = BidirectionalRule::own_addresses(Peers::Everyone);
        let any = BidirectionalRule::any_address(Peers::Remote);
        let remote = Peer::Network("10.0.0.1".parse().unwrap());
        assert_eq!(own.permitted(remote, &points), ["10.0.0.1:7"]);
        assert_eq!(
            own.permitted(Peer::Loopback, &points),
            ["127.0.0.1:7", "localhost:7", "[::1]:7"]
        );
        assert!(own.permitted(Peer::Unknown, &points).is_empty());
        assert_eq!(any.permitted(remote, &points).len(), points.len());
        assert!(any.permitted(Peer::Loopback, &points).is_empty());
        let local = [&points[2..5], &points[..5], &points[5..]];
        assert_eq!(
            local.map(|points| are_out_of_reach(points, remote)),
            [true, false, false]
        );
        assert!(!are_out_of_reach(&points[2..5], Peer::Loopback));
        for point in points {
            assert_eq!(listen_point(&address(&point)), Some(point));
        }
    }
}
