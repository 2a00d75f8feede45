use std::collections::{HashMap, hash_map::Entry};

use crate::SlotId;

/// Objects by adapter and object id, for keys that name them so: user ids and persistent objects.
///
/// Its owner keeps it under a lock that inherits priority; a look-up hashes twice and allocates nothing.
#[derive(Debug, Default)]
pub struct IdMap {
    adapters: HashMap<Box<[u8]>, Objects>,
}

type Objects = HashMap<Box<[u8]>, SlotId>;

impl IdMap {
    /// Enters an object; `false`, with nothing changed, where the id is taken.
    pub fn insert(&mut self, adapter: &[u8], id: Box<[u8]>, slot: SlotId) -> bool {
        let objects = match self.adapters.get_mut(adapter) {
            Some(objects) => objects,
            None => self.adapters.entry(adapter.into()).or_default(),
        };
        match objects.entry(id) {
            Entry::Occupied(_) => false,
            Entry::Vacant(place) => {
                place.insert(slot);
                true
            }
        }
    }

    /// The object with this id.
    pub fn get(&self, adapter: &[u8], id: &[u8]) -> Option<SlotId> {
        self.adapters.get(adapter)?.get(id).copied()
    }

    /// Forgets an object.
    pub fn remove(&mut self, adapter: &[u8], id: &[u8]) -> Option<SlotId> {
        self.adapters.get_mut(adapter)?.remove(id)
    }
}
