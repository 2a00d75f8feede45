//! Helpers shared by the tests of several modules.

/// Drops all capabilities of the calling thread, and of the threads that it starts. Run it in a thread of the
/// test's.
pub(crate) fn give_up_capabilities() {
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
    let none = CapabilitySet::empty();
    set_capabilities(
        None,
        CapabilitySets {
            effective: none,
            permitted: none,
            inheritable: none,
        },
    )
    .unwrap();
}
