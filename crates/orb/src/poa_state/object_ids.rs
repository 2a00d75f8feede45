//! Map from the ids of objects to their slots, for objects whose keys contain the id.

use punctual_poa::{IdMap, SlotId};

use crate::poa_state::partitioned_map::PartitionedMap;

/// Objects whose keys contain their ids, by adapter and id. Lanes look up only those.
pub(crate) struct ObjectIds(PartitionedMap<IdMap>);

impl ObjectIds {
    pub(crate) fn new() -> Self {
        Self(PartitionedMap::new())
    }

    /// Returns the slot of the object with this id. Takes one lock and computes three hashes.
    pub(crate) fn get(&self, adapter: &[u8], id: &[u8]) -> Option<SlotId> {
        self.0.part(id)?.lock().get(adapter, id)
    }

    /// Inserts an object with a new id. Callers insert one object at a time.
    pub(crate) fn insert(&self, adapter: &[u8], id: &[u8], slot: SlotId) {
        let part = self.0.part_or_new(id);
        // Copied before the lock is taken.
        let id = Box::from(id);
        part.lock().insert(adapter, id, slot);
    }

    /// Removes an object.
    pub(crate) fn remove(&self, adapter: &[u8], id: &[u8]) {
        if let Some(part) = self.0.part(id) {
            part.lock().remove(adapter, id);
        }
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
}
