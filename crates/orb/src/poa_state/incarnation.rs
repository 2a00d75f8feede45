//! Data for a servant activator at the end of an object.

use std::{collections::HashMap, sync::Arc};

use crate::{
    AnyServant,
    poa_state::{core::PoaCore, request_processing::Incarnate},
};

/// The servant of an object whose servant activator learns of its end.
pub(crate) struct Incarnation {
    /// `None` after the activator has got it.
    servant: Option<AnyServant>,
    activator: Arc<dyn Incarnate>,
    identity: (usize, usize),
}

impl Incarnation {
    /// Returns the servant's incarnation if the adapter has a servant activator, which learns of the end of
    /// all objects, including those that the program has activated.
    pub(crate) fn of(poa: &Arc<PoaCore>, servant: &AnyServant) -> Option<Self> {
        let activator = Arc::clone(poa.processing.activator()?);
        let identity = (Arc::as_ptr(poa).addr(), Arc::as_ptr(&servant.servant).addr());
        Some(Self {
            servant: Some(servant.clone()),
            activator,
            identity,
        })
    }

    /// Returns what objects of one adapter with the same servant have in common.
    pub(crate) fn identity(&self) -> (usize, usize) {
        self.identity
    }

    /// Calls the servant activator.
    pub(crate) fn etherealize(mut self, id: &[u8], cleanup: bool, remaining_activations: bool) {
        if let Some(servant) = self.servant.take() {
            self.activator
                .etherealize(id, servant, cleanup, remaining_activations);
        }
    }

    /// Drops the servant without a call of the activator.
    pub(crate) fn forget(mut self) {
        self.servant = None;
    }
}

/// Numbers of objects with the same servant.
#[derive(Default)]
pub(crate) struct Sharers(HashMap<(usize, usize), usize>);

impl Sharers {
    pub(crate) fn add(&mut self, servant: (usize, usize)) {
        *self.0.entry(servant).or_default() += 1;
    }

    /// Removes one object. Returns whether others have its servant.
    pub(crate) fn remove(&mut self, servant: (usize, usize)) -> bool {
        let Some(number) = self.0.get_mut(&servant) else {
            return false;
        };
        *number -= 1;
        let others = *number > 0;
        if !others {
            self.0.remove(&servant);
        }
        others
    }
}
