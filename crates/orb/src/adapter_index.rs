//! Adapters that can serve objects which are not active, or make adapters, by path.

use std::{collections::HashMap, sync::Arc};

use arc_swap::ArcSwapOption;

use crate::poa_core::PoaCore;

/// Adapters with a servant source or an adapter activator. Lanes look them up without a lock; adding one
/// copies the map.
#[derive(Default)]
pub(crate) struct AdapterIndex(ArcSwapOption<HashMap<Arc<str>, Arc<PoaCore>>>);

impl AdapterIndex {
    /// Returns the adapter of this path.
    pub(crate) fn get(&self, path: &[u8]) -> Option<Arc<PoaCore>> {
        let path = std::str::from_utf8(path).ok()?;
        self.0.load().as_deref()?.get(path).cloned()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.load().is_none()
    }

    pub(crate) fn insert(&self, poa: &Arc<PoaCore>) {
        self.change(|adapters| {
            adapters.insert(poa.path.as_str().into(), Arc::clone(poa));
        });
    }

    pub(crate) fn remove(&self, poa: &Arc<PoaCore>) {
        if self
            .get(poa.path.as_bytes())
            .is_some_and(|known| Arc::ptr_eq(&known, poa))
        {
            self.change(|adapters| {
                adapters.remove(poa.path.as_str());
            });
        }
    }

    fn change(&self, change: impl Fn(&mut HashMap<Arc<str>, Arc<PoaCore>>)) {
        self.0.rcu(|adapters| {
            let mut adapters = adapters.as_deref().cloned().unwrap_or_default();
            change(&mut adapters);
            Some(Arc::new(adapters))
        });
    }
}
