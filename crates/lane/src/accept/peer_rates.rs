//! Rates at which single peers connect to a lane, in a fixed amount of memory.

use std::{
    hash::{BuildHasher, RandomState},
    net::IpAddr,
    time::{Duration, Instant},
};

use punctual_transport::{Origin, Peer};

/// A peer that can be distinguished from others: a host, or a process of this host.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum PeerKey {
    Host(IpAddr),
    Process { user: Option<u32>, process: u32 },
}

impl PeerKey {
    /// `None`: the transport cannot distinguish it from others. Processes of this host that use TCP are such
    /// peers.
    pub(crate) fn of(origin: Origin) -> Option<Self> {
        match (origin.peer.for_limits(), origin.process) {
            (Peer::SameHost { user }, Some(process)) => Some(Self::Process { user, process }),
            (Peer::Network(address), _) => Some(Self::Host(address)),
            _ => None,
        }
    }
}

/// Token bucket of each peer that has connected recently.
///
/// Two peers may share a bucket; which ones differs from lane to lane, so that no peer can choose a victim.
pub(crate) struct PeerRates {
    buckets: Box<[Bucket; BUCKETS]>,
    hasher: RandomState,
    /// Time after which another connection is permitted.
    interval: Duration,
    /// Connections that are permitted at once.
    burst: u32,
}

/// More peers share buckets.
const BUCKETS: usize = 256;

#[derive(Clone, Copy)]
struct Bucket {
    /// Time at which it is full again; in the past: it is full.
    full: Instant,
}

impl PeerRates {
    /// Rates of `per_second` connections, at least 1, after `burst` at once.
    pub(crate) fn new(per_second: u32, burst: usize) -> Self {
        let full = Instant::now();
        Self {
            buckets: Box::new([Bucket { full }; BUCKETS]),
            hasher: RandomState::new(),
            interval: Duration::from_secs(1) / per_second.max(1),
            burst: u32::try_from(burst).unwrap_or(u32::MAX).max(1),
        }
    }

    /// Returns whether a peer may connect now; counts it if so.
    pub(crate) fn admit(&mut self, peer: PeerKey, now: Instant) -> bool {
        let index = self.hasher.hash_one(peer) as usize % BUCKETS;
        let bucket = &mut self.buckets[index];
        let full = bucket.full.max(now) + self.interval;
        let admitted = full - now <= self.interval.saturating_mul(self.burst);
        if admitted {
            bucket.full = full;
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(process: u32) -> PeerKey {
        PeerKey::Process {
            user: Some(0),
            process,
        }
    }

    #[test]
    fn a_peer_is_limited_to_its_rate_after_a_burst_and_others_are_not() {
        let mut rates = PeerRates::new(100, 10);
        let start = Instant::now();
        let admitted =
            |rates: &mut PeerRates, peer, now| (0..1000).filter(|_| rates.admit(peer, now)).count();
        assert_eq!(admitted(&mut rates, process(1), start), 10);
        let later = start + Duration::from_millis(50);
        assert_eq!(admitted(&mut rates, process(1), later), 5);
        let others = (2..20).filter(|own| rates.admit(process(*own), later)).count();
        assert!(others > 9, "hardly any shares a bucket: {others} of 18");
        let much_later = start + Duration::from_secs(3600);
        assert_eq!(admitted(&mut rates, process(1), much_later), 10);
    }

    #[test]
    fn peers_are_told_apart_as_far_as_possible() {
        let of = |peer, process| PeerKey::of(Origin { peer, process });
        assert_eq!(of(Peer::Loopback, None), None);
        assert_eq!(of(Peer::Unknown, None), None);
        let local = Peer::SameHost { user: Some(1) };
        assert_ne!(of(local, Some(2)), of(local, Some(3)));
        let v6 = |text: &str| of(Peer::Network(text.parse().unwrap()), None);
        assert_eq!(v6("2001:db8::1"), v6("2001:db8::ffff:0:0:1"));
        assert_ne!(v6("2001:db8::1"), v6("2001:db8:0:1::1"));
        assert_ne!(v6("192.0.2.1"), v6("192.0.2.2"));
    }
}
