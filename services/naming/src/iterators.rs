//! Places of iterators over the bindings of contexts. Each takes the memory of one name.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use punctual::{SystemExceptionKind, naming::NameComponent};
use punctual_os::random;

use crate::{refusal::Refusal, tree::ContextNumber};

/// Iterators by object id.
#[derive(Debug, Default)]
pub(crate) struct Iterators(HashMap<Id, Place>);

/// A random number: clients cannot guess the iterators of others.
pub(crate) type Id = [u8; 16];

/// Where an iterator is.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) context: ContextNumber,
    /// The last binding that it has returned.
    pub(crate) after: Option<NameComponent>,
    pub(crate) used: Instant,
}

impl Iterators {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn remove(&mut self, id: &Id) -> Option<Place> {
        self.0.remove(id)
    }

    /// Adds an iterator, instead of those that have expired, or the one unused for the longest time.
    pub(crate) fn add(&mut self, place: Place, limit: usize, idle: Duration) -> Result<Id, Refusal> {
        let now = place.used;
        self.0.retain(|_, place| now.duration_since(place.used) < idle);
        while self.0.len() >= limit.max(1) {
            let oldest = self.0.iter().min_by_key(|(_, place)| place.used);
            let Some(id) = oldest.map(|(id, _)| *id) else {
                break;
            };
            self.0.remove(&id);
        }
        let mut id = Id::default();
        random::fill(&mut id).map_err(|_| Refusal::system(SystemExceptionKind::NoResources))?;
        self.0.insert(id, place);
        Ok(id)
    }

    /// The place of an iterator that has not ended.
    pub(crate) fn get(&mut self, id: &Id, idle: Duration) -> Option<&mut Place> {
        let is_over = |place: &Place| place.used.elapsed() >= idle;
        if self.0.get(id).is_some_and(is_over) {
            self.0.remove(id);
        }
        self.0.get_mut(id)
    }
}
