//! A map in many parts with one lock each.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::OnceLock,
};

use punctual_os::PiMutex;

/// Map `M` in many parts with one lock each, because a map that grows moves all entries: with a million ids
/// in one part, growing would delay all lanes by 0.2 s, regardless of their priority. With 1024 parts it
/// delays a thousandth of the lookups by a thousandth of that time.
pub(crate) struct PartitionedMap<M> {
    /// Created with the first id: most maps have none.
    parts: OnceLock<Box<[PiMutex<M>]>>,
    /// Randomly seeded, so that peers that choose ids cannot choose the part.
    hasher: RandomState,
}

const PARTS: u64 = 1024;

impl<M: Default> PartitionedMap<M> {
    pub(crate) fn new() -> Self {
        Self {
            parts: OnceLock::new(),
            hasher: RandomState::new(),
        }
    }

    /// Returns the part that has this id, if any has.
    pub(crate) fn part(&self, id: &[u8]) -> Option<&PiMutex<M>> {
        let parts = self.parts.get()?;
        Some(&parts[self.part_of(id)])
    }

    /// Returns the part for this id, which is created if there is none.
    pub(crate) fn part_or_new(&self, id: &[u8]) -> &PiMutex<M> {
        let parts = self.parts.get_or_init(|| {
            let parts = (0..PARTS).map(|_| PiMutex::new(M::default()));
            parts.collect()
        });
        &parts[self.part_of(id)]
    }

    fn part_of(&self, id: &[u8]) -> usize {
        (self.hasher.hash_one(id) % PARTS) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The size of a part limits how long its growth delays others.
    #[test]
    fn no_part_has_much_more_than_its_share() {
        const IDS: u32 = 200_000;
        let map = PartitionedMap::<()>::new();
        let mut shares = vec![0; PARTS as usize];
        for index in 0..IDS {
            shares[map.part_of(format!("object-{index}").as_bytes())] += 1;
        }
        let most = shares.iter().max().copied();
        assert!(most < Some(2 * IDS / PARTS as u32), "{most:?}");
    }
}
