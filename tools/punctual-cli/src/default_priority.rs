//! Priority of the calls of commands that state none.

use punctual::{ObjectRef, Orb, PriorityModel, SystemException};

/// Gives this thread's calls the priority that the object's adapter gives to requests without one: an adapter
/// that propagates priorities may have no lane for priority 0.
pub fn apply(orb: &Orb, object: &ObjectRef) -> Result<(), SystemException> {
    match object.exposed_policies().priority_model {
        Some(PriorityModel::ClientPropagated { default }) => orb.current().set_priority(default),
        _ => Ok(()),
    }
}
