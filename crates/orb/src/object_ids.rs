//! Map from the ids of objects to their slots, for objects whose keys contain the id.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::OnceLock,
};

use punctual_os::PiMutex;
use punctual_poa::{IdMap, SlotId};

/// Objects whose keys contain their ids, by adapter and id. Lanes look up only those. The map is divided into
/// many parts with one lock each, because a map that grows moves all entries: with a million ids in one part,
/// growing would delay all lanes by 0.2 s, regardless of their priority. With 1024 parts it delays a
/// thousandth of the lookups by a thousandth of that time.
pub(crate) struct ObjectIds {
    /// Created with the first id: most ORBs have none.
    parts: OnceLock<Box<[PiMutex<IdMap>]>>,
    /// Randomly seeded, so that peers that choose ids cannot choose the part.
    hasher: RandomState,
}

const PARTS: u64 = 1024;

impl ObjectIds {
    pub(crate) fn new() -> Self {
        Self {
            parts: OnceLock::new(),
            hasher: RandomState::new(),
        }
    }

    /// Returns the slot of the object with this id. Takes one lock and computes three hashes.
    pub(crate) fn get(&self, adapter: &[u8], id: &[u8]) -> Option<SlotId> {
        let parts = self.parts.get()?;
        parts[self.part_of(id)].lock().get(adapter, id)
    }

    /// Inserts an object with a new id. Callers insert one object at a time.
    pub(crate) fn insert(&self, adapter: &[u8], id: &[u8], slot: SlotId) {
        let parts = self.parts.get_or_init(|| {
            let parts = (0..PARTS).map(|_| PiMutex::new(IdMap::default()));
            parts.collect()
        });
        let part = &parts[self.part_of(id)];
        // Copied before the lock is taken.
        let id = Box::from(id);
        part.lock().insert(adapter, id, slot);
    }

    /// Removes an object.
    pub(crate) fn remove(&self, adapter: &[u8], id: &[u8]) {
        if let Some(parts) = self.parts.get() {
            parts[self.part_of(id)].lock().remove(adapter, id);
        }
    }

    fn part_of(&self, id: &[u8]) -> usize {
        (self.hasher.hash_one(id) % PARTS) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(index: u32) -> SlotId {
        SlotId { index, generation: 1 }
    }

    #[test]
    fn ids_are_found_until_they_are_forgotten() {
        let ids = ObjectIds::new();
        assert_eq!(ids.get(b"poa", b"radar"), None);
        ids.remove(b"poa", b"radar");
        ids.insert(b"poa", b"radar", slot(1));
        ids.insert(b"other", b"radar", slot(2));
        assert_eq!(ids.get(b"poa", b"radar"), Some(slot(1)));
        assert_eq!(ids.get(b"other", b"radar"), Some(slot(2)));
        ids.remove(b"poa", b"radar");
        assert_eq!(ids.get(b"poa", b"radar"), None);
        assert_eq!(ids.get(b"other", b"radar"), Some(slot(2)));
    }

    /// The size of a part limits how long its growth delays others.
    #[test]
    fn no_part_has_much_more_than_its_share() {
        const IDS: u32 = 200_000;
        let ids = ObjectIds::new();
        let mut shares = vec![0; PARTS as usize];
        for index in 0..IDS {
            shares[ids.part_of(format!("object-{index}").as_bytes())] += 1;
        }
        let most = shares.iter().max().copied();
        assert!(most < Some(2 * IDS / PARTS as u32), "{most:?}");
    }
}
