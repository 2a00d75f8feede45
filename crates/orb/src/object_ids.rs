use std::{
    hash::{BuildHasher as _, RandomState},
    sync::OnceLock,
};

use punctual_os::PiMutex;
use punctual_poa::{IdMap, SlotId};

/// The objects whose keys name them, by adapter and id. Lanes look in it for those only.
///
/// In many parts, each under a lock of its own. A map that grows moves all it has: in one part, a million ids would keep every lane
/// that looks for one waiting for 0.2 s, whatever its priority. So it is a thousandth of that, for a thousandth of the ids.
pub(crate) struct ObjectIds {
    /// Made with the first id: most ORBs have none.
    parts: OnceLock<Box<[PiMutex<IdMap>]>>,
    /// With a secret: who chooses ids, which may be peers, must not choose the part.
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

    /// The object with this id. A lock, and three hashes.
    pub(crate) fn get(&self, adapter: &[u8], id: &[u8]) -> Option<SlotId> {
        let parts = self.parts.get()?;
        parts[self.part_of(id)].lock().get(adapter, id)
    }

    /// Enters an object; one at a time, and of an id that is not there.
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

    /// Forgets an object.
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

    /// What one growth can keep others waiting for.
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
