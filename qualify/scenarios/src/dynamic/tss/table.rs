//! Storage that is searched from its start, for the control of `dyn.tss`.

use punctual_os::PiMutex;

/// Values by key in the order of creation; an access locks the table and searches for the key.
pub(super) struct Table {
    places: PiMutex<Vec<(usize, u64)>>,
}

impl Table {
    /// Creates an empty table with room for this number of keys.
    pub(super) fn with_room_for(keys: usize) -> Self {
        Self {
            places: PiMutex::new(Vec::with_capacity(keys)),
        }
    }

    /// Creates a key that is not in the table yet.
    pub(super) fn create(&self) -> usize {
        let mut places = self.places.lock();
        let free = places.iter().map(|(key, _)| key + 1).max().unwrap_or(0);
        places.push((free, 0));
        free
    }

    /// Adds a key, which must not be in the table yet.
    pub(super) fn insert(&self, key: usize) {
        self.places.lock().push((key, 0));
    }

    pub(super) fn get(&self, key: usize) -> Option<u64> {
        let places = self.places.lock();
        places
            .iter()
            .find(|(its, _)| *its == key)
            .map(|(_, value)| *value)
    }

    pub(super) fn set(&self, key: usize, value: u64) {
        let mut places = self.places.lock();
        if let Some((_, stored)) = places.iter_mut().find(|(its, _)| *its == key) {
            *stored = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_by_its_key() {
        let table = Table::with_room_for(2);
        let [first, second] = [(); 2].map(|()| table.create());
        table.set(second, 7);
        assert_eq!(
            (table.get(first), table.get(second), table.get(9)),
            (Some(0), Some(7), None)
        );
    }
}
