//! References published under keys that the user chooses, for `corbaloc`.

use std::{
    collections::HashMap,
    hash::{BuildHasher as _, RandomState},
    sync::Arc,
};

use arc_swap::ArcSwapOption;
use punctual_cdr::Ior;

/// References by key. Lanes look them up without a lock; publishing copies the part of the map that changes.
pub(crate) struct Published {
    hasher: RandomState,
    parts: Box<[ArcSwapOption<Part>]>,
}

type Part = HashMap<Arc<[u8]>, Arc<Ior>>;

const PARTS: u64 = 256;

impl Published {
    pub(crate) fn new() -> Self {
        Self {
            hasher: RandomState::new(),
            parts: (0..PARTS).map(|_| ArcSwapOption::empty()).collect(),
        }
    }

    /// Returns the reference with this key. Hashes the key twice: callers limit its length.
    pub(crate) fn get(&self, key: &[u8]) -> Option<Arc<Ior>> {
        self.part_of(key).load().as_deref()?.get(key).cloned()
    }

    /// Publishes a reference, instead of an earlier one with this key.
    pub(crate) fn insert(&self, key: &[u8], ior: Ior) {
        let (key, ior) = (Arc::<[u8]>::from(key), Arc::new(ior));
        self.part_of(&key).rcu(|part| {
            let mut part = part.as_deref().cloned().unwrap_or_default();
            part.insert(Arc::clone(&key), Arc::clone(&ior));
            Some(Arc::new(part))
        });
    }

    /// Withdraws the reference with this key. `false`: there is none.
    pub(crate) fn remove(&self, key: &[u8]) -> bool {
        let before = self.part_of(key).rcu(|part| {
            let mut part = part.as_deref().cloned()?;
            part.remove(key);
            (!part.is_empty()).then(|| Arc::new(part))
        });
        before.is_some_and(|part| part.contains_key(key))
    }

    fn part_of(&self, key: &[u8]) -> &ArcSwapOption<Part> {
        &self.parts[(self.hasher.hash_one(key) % PARTS) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(type_id: &str) -> Ior {
        Ior {
            type_id: type_id.to_owned(),
            ..Ior::default()
        }
    }

    #[test]
    fn the_last_reference_under_a_key_counts() {
        let published = Published::new();
        assert_eq!(published.get(b"radar"), None);
        for name in ["first", "second"] {
            published.insert(b"radar", named(name));
            published.insert(name.as_bytes(), named(name));
        }
        assert_eq!(published.get(b"radar").unwrap().type_id, "second");
        assert_eq!(published.get(b"first").unwrap().type_id, "first");
        assert_eq!(published.get(b"third"), None);
        assert!(published.remove(b"radar") && !published.remove(b"radar") && !published.remove(b"third"));
        assert_eq!(published.get(b"radar"), None);
        assert_eq!(published.get(b"first").unwrap().type_id, "first");
    }
}
