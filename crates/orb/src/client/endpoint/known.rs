//! The endpoints of an ORB's references, by address.

use std::{
    collections::HashMap,
    hash::{BuildHasher as _, RandomState},
    sync::{Arc, Weak},
};

use punctual_cdr::CodeSets;
use punctual_os::PiMutex;
use punctual_transport::Transport;

use super::{Endpoint, EndpointKey};

/// The endpoints that references name.
///
/// They are divided into parts with one lock each, and each enters and leaves in constant time: references of
/// one lane do not delay those of another, however many endpoints they name.
pub(crate) struct Endpoints {
    own: Weak<Self>,
    /// Randomly seeded, so that peers that choose addresses cannot choose the part.
    hasher: RandomState,
    parts: Box<[PiMutex<Part>]>,
}

type Part = HashMap<Arc<EndpointKey>, Weak<Endpoint>>;

const PARTS: u64 = 256;

impl Endpoints {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new_cyclic(|own| Self {
            own: Weak::clone(own),
            hasher: RandomState::new(),
            parts: (0..PARTS).map(|_| PiMutex::default()).collect(),
        })
    }

    /// Returns the endpoint with this address: the one that other references name, or a new one.
    pub(crate) fn get(
        &self,
        transport: &Arc<dyn Transport>,
        address: String,
        code_sets: Option<CodeSets>,
    ) -> Arc<Endpoint> {
        let key = Arc::new(EndpointKey {
            profile_tag: transport.profile_tag(),
            address,
            code_sets,
        });
        let part = self.part_of(&key);
        let known = part.lock().get(&key).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            // Made outside the lock. If another thread is faster, its endpoint is the one.
            let new = Arc::new(Endpoint::new(transport, Arc::clone(&key), Weak::clone(&self.own)));
            let mut part = part.lock();
            match part.get(&key).and_then(Weak::upgrade) {
                Some(other) => {
                    drop(part);
                    other
                }
                None => {
                    part.insert(key, Arc::downgrade(&new));
                    new
                }
            }
        })
    }

    /// Removes an endpoint that no reference names any longer; a new one with the same key remains.
    pub(super) fn forget(&self, key: &EndpointKey) {
        let mut part = self.part_of(key).lock();
        if part.get(key).is_some_and(|known| known.strong_count() == 0) {
            part.remove(key);
        }
    }

    fn part_of(&self, key: &EndpointKey) -> &PiMutex<Part> {
        &self.parts[(self.hasher.hash_one(key) % PARTS) as usize]
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use punctual_transport::Tcp;

    use super::*;

    fn get(endpoints: &Endpoints, address: &str) -> Arc<Endpoint> {
        let tcp: Arc<dyn Transport> = Arc::new(Tcp);
        endpoints.get(&tcp, address.to_owned(), None)
    }

    fn known(endpoints: &Endpoints) -> usize {
        endpoints.parts.iter().map(|part| part.lock().len()).sum()
    }

    #[test]
    fn an_address_is_one_endpoint_and_leaves_with_its_last_reference() {
        let endpoints = Endpoints::new();
        let first = get(&endpoints, "radar:1");
        assert!(Arc::ptr_eq(&first, &get(&endpoints, "radar:1")));
        assert!(!Arc::ptr_eq(&first, &get(&endpoints, "radar:2")));
        assert_eq!(known(&endpoints), 1, "radar:2 has left");
        drop(first);
        assert_eq!(known(&endpoints), 0);
    }

    /// Each new endpoint used to look at all others.
    #[test]
    fn the_cost_of_an_endpoint_does_not_grow_with_their_number() {
        const BATCH: usize = 1_000;
        let endpoints = Endpoints::new();
        let mut named = Vec::new();
        let batches: Vec<_> = (0..60)
            .map(|batch| {
                let start = Instant::now();
                named.extend((0..BATCH).map(|index| get(&endpoints, &format!("radar{batch}:{index}"))));
                start.elapsed()
            })
            .collect();
        let (first, last) = (batches[..10].iter().min(), batches[50..].iter().min());
        assert!(
            last < first.map(|first| *first * 8).as_ref(),
            "{first:?} to {last:?}"
        );
    }
}
