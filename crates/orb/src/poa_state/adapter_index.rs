//! Adapters by path: those that can serve objects which are not active, or make adapters, and those that are
//! being destroyed.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use arc_swap::ArcSwapOption;
use punctual_poa::SlotId;

use crate::poa_state::core::PoaCore;

/// Adapters that requests for objects which are not active are checked against.
#[derive(Default)]
pub(crate) struct AdapterIndex {
    /// Adapters with a servant source or an adapter activator.
    pub(crate) managed: ByPath,
    /// Adapters whose destruction, together with those below them, has begun and not ended.
    pub(crate) ending: ByPath,
    /// Objects of these whose keys do not contain the path.
    pub(crate) ending_slots: Slots,
}

/// Slots of objects. Lanes look them up without a lock; a change copies the set.
#[derive(Default)]
pub(crate) struct Slots(ArcSwapOption<HashSet<SlotId>>);

impl Slots {
    pub(crate) fn contains(&self, slot: SlotId) -> bool {
        self.0
            .load()
            .as_deref()
            .is_some_and(|slots| slots.contains(&slot))
    }

    pub(crate) fn insert(&self, slots: &[SlotId]) {
        self.change(|all| all.extend(slots));
    }

    pub(crate) fn remove(&self, slots: &[SlotId]) {
        self.change(|all| {
            for slot in slots {
                all.remove(slot);
            }
        });
    }

    fn change(&self, change: impl Fn(&mut HashSet<SlotId>)) {
        self.0.rcu(|slots| {
            let mut slots = slots.as_deref().cloned().unwrap_or_default();
            change(&mut slots);
            (!slots.is_empty()).then(|| Arc::new(slots))
        });
    }
}

/// Adapters of one kind. Lanes look them up without a lock; adding one copies the map.
#[derive(Default)]
pub(crate) struct ByPath(ArcSwapOption<HashMap<Arc<str>, Arc<PoaCore>>>);

impl ByPath {
    /// Returns the adapter of this path.
    pub(crate) fn get(&self, path: &[u8]) -> Option<Arc<PoaCore>> {
        let path = std::str::from_utf8(path).ok()?;
        self.0.load().as_deref()?.get(path).cloned()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.load().is_none()
    }

    /// Returns whether this path is that of one of the adapters, or of one below them.
    pub(crate) fn covers(&self, path: &[u8]) -> bool {
        let adapters = self.0.load();
        let covers = |above: &Arc<str>| {
            path.strip_prefix(above.as_bytes())
                .is_some_and(|below| matches!(below.first(), None | Some(b'/')))
        };
        adapters
            .as_deref()
            .is_some_and(|adapters| adapters.keys().any(covers))
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
            (!adapters.is_empty()).then(|| Arc::new(adapters))
        });
    }
}
