//! Capabilities of the calling thread.

use rustix::thread::CapabilitySet;

/// Returns whether a capability is in the calling thread's effective set.
pub(crate) fn has_capability(capability: CapabilitySet) -> bool {
    rustix::thread::capabilities(None).is_ok_and(|sets| sets.effective.contains(capability))
}
