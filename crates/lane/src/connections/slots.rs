//! Slots of a lane's connections, in the order in which the connections became idle.

use std::{collections::HashMap, sync::Arc, time::Instant};

use slab::Slab;

use crate::accept::peer_rates::PeerKey;

/// Connections under their tokens. All operations take constant time, and only [`Self::insert`] allocates.
pub(crate) struct Slots<C> {
    slots: Slab<Slot<C>>,
    oldest: Option<usize>,
    newest: Option<usize>,
    /// Number of connections of each distinguishable peer that has any.
    peers: HashMap<PeerKey, usize>,
}

struct Slot<C> {
    connection: Arc<C>,
    peer: Option<PeerKey>,
    /// Time since which the connection is known to be idle, or its last use was noticed.
    idle_since: Instant,
    older: Option<usize>,
    newer: Option<usize>,
}

impl<C> Slots<C> {
    pub(crate) fn new() -> Self {
        Self {
            slots: Slab::with_capacity(16),
            oldest: None,
            newest: None,
            peers: HashMap::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Index behind all connections.
    pub(crate) fn end(&self) -> usize {
        self.slots.capacity()
    }

    /// Index of the connection that is inserted next.
    pub(crate) fn vacant(&self) -> usize {
        self.slots.vacant_key()
    }

    pub(crate) fn get(&self, index: usize) -> Option<&Arc<C>> {
        Some(&self.slots.get(index)?.connection)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<C>> {
        self.slots.iter().map(|(_, slot)| &slot.connection)
    }

    /// Returns the number of connections of a peer.
    pub(crate) fn of_peer(&self, peer: PeerKey) -> usize {
        self.peers.get(&peer).copied().unwrap_or(0)
    }

    /// Adds a connection, idle from now on.
    pub(crate) fn insert(&mut self, connection: Arc<C>, peer: Option<PeerKey>) {
        if let Some(peer) = peer {
            *self.peers.entry(peer).or_default() += 1;
        }
        let index = self.slots.insert(Slot {
            connection,
            peer,
            idle_since: Instant::now(),
            older: None,
            newer: None,
        });
        self.append(index);
    }

    pub(crate) fn remove(&mut self, index: usize) -> Arc<C> {
        self.unlink(index);
        let Slot { connection, peer, .. } = self.slots.remove(index);
        if let Some(peer) = peer
            && let Some(count) = self.peers.get_mut(&peer)
        {
            *count -= 1;
            if *count == 0 {
                self.peers.remove(&peer);
            }
        }
        connection
    }

    /// Removes all connections.
    pub(crate) fn take_all(&mut self) -> Vec<Arc<C>> {
        self.peers.clear();
        (self.oldest, self.newest) = (None, None);
        self.slots.drain().map(|slot| slot.connection).collect()
    }

    /// Returns the first connection in the order of idleness, and the time since which it is idle.
    pub(crate) fn oldest(&self) -> Option<(usize, Instant)> {
        let index = self.oldest?;
        Some((index, self.slots[index].idle_since))
    }

    /// Notes that a connection has been used: it becomes the last in the order of idleness.
    pub(crate) fn renew(&mut self, index: usize) {
        self.unlink(index);
        self.slots[index].idle_since = Instant::now();
        self.append(index);
    }

    /// Indices of the connections in the order of idleness: of one peer, or all.
    pub(crate) fn in_order(&self, peer: Option<PeerKey>, examined: usize) -> impl Iterator<Item = usize> {
        let all = std::iter::successors(self.oldest, |index| self.slots[*index].newer);
        all.take(examined)
            .filter(move |index| peer.is_none() || self.slots[*index].peer == peer)
    }

    fn append(&mut self, index: usize) {
        self.slots[index].older = self.newest;
        self.slots[index].newer = None;
        match self.newest {
            Some(newest) => self.slots[newest].newer = Some(index),
            None => self.oldest = Some(index),
        }
        self.newest = Some(index);
    }

    fn unlink(&mut self, index: usize) {
        let Slot { older, newer, .. } = self.slots[index];
        match older {
            Some(older) => self.slots[older].newer = newer,
            None => self.oldest = newer,
        }
        match newer {
            Some(newer) => self.slots[newer].older = older,
            None => self.newest = older,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: PeerKey = PeerKey::Process {
        user: None,
        process: 1,
    };

    fn order(slots: &Slots<char>) -> String {
        slots
            .in_order(None, 100)
            .map(|index| **slots.get(index).unwrap())
            .collect()
    }

    #[test]
    fn connections_are_in_the_order_in_which_they_were_last_used() {
        let mut slots = Slots::new();
        for (number, name) in ['a', 'b', 'c', 'd'].into_iter().enumerate() {
            assert_eq!(slots.vacant(), number);
            slots.insert(Arc::new(name), (number % 2 == 0).then_some(PEER));
        }
        slots.renew(0);
        assert_eq!(order(&slots), "bcda");
        assert_eq!((slots.of_peer(PEER), slots.len()), (2, 4));
        assert_eq!(slots.in_order(Some(PEER), 10).collect::<Vec<_>>(), [2, 0]);
        assert_eq!(slots.in_order(Some(PEER), 1).count(), 0, "no further than that");
        assert_eq!(*slots.remove(2), 'c');
        slots.renew(3);
        assert_eq!((order(&slots), slots.of_peer(PEER)), (String::from("bad"), 1));
        slots.insert(Arc::new('e'), None);
        assert_eq!(order(&slots), "bade");
        for index in [0, 1, 3] {
            slots.remove(index);
        }
        assert_eq!((order(&slots), slots.of_peer(PEER)), (String::from("e"), 0));
        assert!(slots.peers.is_empty(), "peers that have gone take no memory");
        assert_eq!(slots.take_all().len(), 1);
        assert_eq!(slots.oldest(), None);
    }
}
