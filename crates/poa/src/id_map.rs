//! Objects by adapter and object id.
//!
//! A growing map moves all its entries, which takes 0.2 s for a million of them. The owner therefore divides
//! objects among many maps, each under its own priority-inheriting lock.

use std::collections::{HashMap, hash_map::Entry};

use crate::SlotId;

/// Objects by adapter and object id, for the keys of persistent objects and of objects with user ids.
///
/// Its owner protects it by a lock that inherits priority. A lookup hashes twice and allocates nothing.
#[derive(Debug, Default)]
pub struct IdMap {
    adapters: HashMap<Box<[u8]>, Objects>,
}

type Objects = HashMap<Box<[u8]>, SlotId>;

impl IdMap {
    /// Adds an object. Returns `false` without effect if the id is in use.
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

    /// Returns the object with this id.
    pub fn get(&self, adapter: &[u8], id: &[u8]) -> Option<SlotId> {
        self.adapters.get(adapter)?.get(id).copied()
    }

    /// Removes an object.
    pub fn remove(&mut self, adapter: &[u8], id: &[u8]) -> Option<SlotId> {
        self.adapters.get_mut(adapter)?.remove(id)
    }
}
