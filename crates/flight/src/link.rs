//! Which connection a record is about, as both of its ends see it.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;

use rustix::{
    io::Errno,
    net::{getpeername, getsockname},
};

use crate::record::fnv;

/// A connection: the ports of both ends, own one first, and a number made of both addresses.
///
/// One end's link is the other's [`reversed`](Self::reversed).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Link {
    local: u16,
    peer: u16,
    addresses: u32,
}

impl Link {
    /// A connection without ports, or none at all.
    pub const NONE: Self = Self {
        local: 0,
        peer: 0,
        addresses: 0,
    };

    /// The link of a socket; [`Self::NONE`] for what has no ports. Two system calls while the recorder is on, none otherwise.
    pub fn of(socket: BorrowedFd<'_>) -> Self {
        if !crate::is_on() {
            return Self::NONE;
        }
        let local = getsockname(socket).and_then(SocketAddr::try_from);
        let peer = getpeername(socket).and_then(|peer| peer.ok_or(Errno::NOTCONN)?.try_into());
        let (Ok(local), Ok(peer)): (_, Result<SocketAddr, _>) = (local, peer) else {
            return Self::NONE;
        };
        Self {
            local: local.port(),
            peer: peer.port(),
            // The same from both ends.
            addresses: number_of(local.ip()).wrapping_add(number_of(peer.ip())),
        }
    }

    /// The link of a connection between two ports of one address.
    pub fn of_ports(local: u16, peer: u16) -> Self {
        Self {
            local,
            peer,
            addresses: 0,
        }
    }

    /// Whether it says which connection it is.
    pub fn is_known(self) -> bool {
        self != Self::NONE
    }

    /// The same connection, seen from the other end.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self {
            local: self.peer,
            peer: self.local,
            ..self
        }
    }

    /// The port of this end.
    pub fn local_port(self) -> u16 {
        self.local
    }

    /// The port of the other end.
    pub fn peer_port(self) -> u16 {
        self.peer
    }

    pub(crate) fn to_word(self) -> u64 {
        u64::from(self.local) | u64::from(self.peer) << 16 | u64::from(self.addresses) << 32
    }

    pub(crate) fn from_word(word: u64) -> Self {
        Self {
            local: word as u16,
            peer: (word >> 16) as u16,
            addresses: (word >> 32) as u32,
        }
    }
}

fn number_of(address: IpAddr) -> u32 {
    // A socket for both versions of IP shows addresses of the old one as mapped ones; its peer does not.
    let hash = match address.to_canonical() {
        IpAddr::V4(address) => fnv(&address.octets()),
        IpAddr::V6(address) => fnv(&address.octets()),
    };
    (hash ^ hash >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_have_the_same_link_reversed() {
        let link = Link::of_ports(2809, 40_000);
        assert_eq!(link.reversed().reversed(), link);
        assert_eq!(
            (link.reversed().local_port(), link.reversed().peer_port()),
            (40_000, 2809)
        );
        assert_eq!(Link::from_word(link.to_word()), link);
        assert!(link.is_known() && !Link::NONE.is_known());
    }

    #[test]
    fn mapped_addresses_are_the_addresses() {
        let (old, mapped) = ("127.0.0.1", "::ffff:127.0.0.1");
        assert_eq!(
            number_of(old.parse().unwrap()),
            number_of(mapped.parse().unwrap())
        );
        assert_ne!(
            number_of(old.parse().unwrap()),
            number_of("127.0.0.2".parse().unwrap())
        );
    }
}
