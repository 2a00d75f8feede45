//! Purpose of a connection to a server: calls of the same purpose may share it.

use std::sync::{Arc, Weak};

use super::endpoint::Endpoint;

/// Kind of the calls that a connection serves.
///
/// Source: the key of TAO's connection cache: the endpoint's address, and the policies that forbid sharing.
pub(crate) struct ConnectionKey<'r> {
    pub(crate) endpoint: &'r Arc<Endpoint>,
    /// Reference that the connection belongs to, if it is private.
    pub(crate) owner: Option<&'r Arc<Identity>>,
    pub(crate) band: Option<Band>,
}

/// The key that a connection was opened for, in a form that keeps no reference alive.
pub(crate) struct Purpose {
    endpoint: Arc<Endpoint>,
    /// The only reference that it serves.
    owner: Option<Weak<Identity>>,
    band: Option<Band>,
}

/// Distinguishes references.
pub(crate) struct Identity;

/// The lowest and the highest priority of a band, as references state them.
pub(crate) type Band = (i16, i16);

impl Purpose {
    pub(crate) fn new(key: &ConnectionKey<'_>) -> Self {
        Self {
            endpoint: Arc::clone(key.endpoint),
            owner: key.owner.map(Arc::downgrade),
            band: key.band,
        }
    }

    /// Returns whether calls of this kind may share the connection.
    pub(crate) fn is_for(&self, key: &ConnectionKey<'_>) -> bool {
        let owner = self.owner.as_ref().map(Weak::as_ptr);
        Arc::ptr_eq(&self.endpoint, key.endpoint)
            && self.band == key.band
            && owner == key.owner.map(Arc::as_ptr)
    }

    /// Returns whether the same calls may share either connection.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        let owner = |purpose: &Self| purpose.owner.as_ref().map(Weak::as_ptr);
        Arc::ptr_eq(&self.endpoint, &other.endpoint) && self.band == other.band && owner(self) == owner(other)
    }

    /// Returns whether the only reference that it served has been dropped.
    pub(crate) fn is_orphan(&self) -> bool {
        self.owner.as_ref().is_some_and(|owner| owner.strong_count() == 0)
    }

    pub(super) fn endpoint(&self) -> &Arc<Endpoint> {
        &self.endpoint
    }

    pub(super) fn band(&self) -> Option<Band> {
        self.band
    }
}
