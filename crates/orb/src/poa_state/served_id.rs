//! The id of the object that a thread serves by a servant that stands for many.

use std::cell::RefCell;

use punctual_poa::ObjectKey;
use punctual_stub::Upcall;

/// Returns the id of the object that the calling thread serves through a stand-in.
pub(crate) fn current_id() -> Option<Vec<u8>> {
    SERVED.with_borrow(Clone::clone)
}

thread_local!(static SERVED: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) });

/// Notes the id until the result is dropped.
pub(crate) fn serving_id(id: &[u8]) -> impl Drop + use<> {
    let before = SERVED.replace(Some(id.to_vec()));
    scopeguard::guard(before, |before| {
        SERVED.replace(before);
    })
}

/// Returns the id in the key of the request.
pub(crate) fn id_of<'m>(upcall: &Upcall<'m, '_>) -> &'m [u8] {
    match upcall.object_key().and_then(ObjectKey::parse) {
        Some(ObjectKey::Named { id, .. }) => id,
        _ => &[],
    }
}
