//! The children that end with the run.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::process_killer::Killer;

/// Registry of the children that end with the run.
pub(crate) struct RunningChildren(Mutex<Registry>);

struct Registry {
    ending: bool,
    /// Created on first use, because a map cannot be created in a constant.
    killers: Option<HashMap<u64, Killer>>,
}

pub(crate) static CHILDREN: RunningChildren = RunningChildren(Mutex::new(Registry {
    ending: false,
    killers: None,
}));

/// Entry of the registry, removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Registration(u64);

impl RunningChildren {
    /// Returns whether the run is ending, so that no more children may be started.
    pub(crate) fn are_ending(&self) -> bool {
        self.lock().ending
    }

    /// Registers a child; kills it at once if the run is ending.
    pub(crate) fn add(&self, killer: Killer) -> Registration {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut registry = self.lock();
        if registry.ending {
            let _ = killer.kill();
        }
        registry.killers.get_or_insert_default().insert(id, killer);
        Registration(id)
    }

    /// Kills all registered children, and those that are registered later.
    pub(crate) fn end_all(&self) {
        let mut registry = self.lock();
        registry.ending = true;
        for killer in registry.killers.iter().flat_map(HashMap::values) {
            let _ = killer.kill();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Registry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        if let Some(killers) = &mut CHILDREN.lock().killers {
            killers.remove(&self.0);
        }
    }
}
