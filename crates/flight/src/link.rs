//! Identification of connections, matching at both ends.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::{
    io::Errno,
    net::{getpeername, getsockname},
};

use crate::fnv::fnv;

/// A connection: the ports of both ends, local one first, and a hash of both addresses. The link of one end
/// is that of the other end [`reversed`](Self::reversed).
///
/// A connection without ports (a Unix socket, shared memory) has a number that is unique in its process and
/// unknown to the other end.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Link {
    local: u16,
    peer: u16,
    addresses: u32,
}

impl Link {
    /// No connection.
    pub const NONE: Self = Self {
        local: 0,
        peer: 0,
        addresses: 0,
    };

    /// Returns the link of a new connection: two system calls while the recorder is on, and otherwise
    /// [`Self::NONE`] without a system call.
    pub fn of(socket: BorrowedFd<'_>) -> Self {
        if !crate::is_on() {
            return Self::NONE;
        }
        let local = getsockname(socket).and_then(SocketAddr::try_from);
        let peer = getpeername(socket).and_then(|peer| peer.ok_or(Errno::NOTCONN)?.try_into());
        let (Ok(local), Ok(peer)): (_, Result<SocketAddr, _>) = (local, peer) else {
            return Self::without_ports(NEXT.fetch_add(1, Ordering::Relaxed));
        };
        Self {
            local: local.port(),
            peer: peer.port(),
            // The same at both ends.
            addresses: hash_of(local.ip()).wrapping_add(hash_of(peer.ip())),
        }
    }

    /// Creates the link of a connection between two ports of one address.
    pub fn of_ports(local: u16, peer: u16) -> Self {
        Self {
            local,
            peer,
            addresses: 0,
        }
    }

    /// Creates the link of a connection without ports from its number in its process, which is not 0.
    pub fn without_ports(number: u32) -> Self {
        Self {
            addresses: number,
            ..Self::NONE
        }
    }

    /// Returns whether the other end has the same link, reversed.
    pub fn has_ports(self) -> bool {
        self.local != 0
    }

    /// Returns the link of the other end, if it [has ports](Self::has_ports).
    #[must_use]
    pub fn reversed(self) -> Self {
        Self {
            local: self.peer,
            peer: self.local,
            ..self
        }
    }

    /// Returns the hash of both addresses, or the number of a connection without ports.
    pub fn number(self) -> u32 {
        self.addresses
    }

    /// Returns the port of this end.
    pub fn local_port(self) -> u16 {
        self.local
    }

    /// Returns the port of the other end.
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

/// Number of the next connection without ports.
static NEXT: AtomicU32 = AtomicU32::new(1);

fn hash_of(address: IpAddr) -> u32 {
    // A dual-stack socket returns IPv4 addresses as mapped ones; its peer does not.
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
        assert!(link.has_ports() && !Link::NONE.has_ports() && !Link::without_ports(7).has_ports());
    }

    #[test]
    fn mapped_addresses_equal_ipv4_addresses() {
        let (old, mapped) = ("127.0.0.1", "::ffff:127.0.0.1");
        assert_eq!(hash_of(old.parse().unwrap()), hash_of(mapped.parse().unwrap()));
        assert_ne!(
            hash_of(old.parse().unwrap()),
            hash_of("127.0.0.2".parse().unwrap())
        );
    }
}
