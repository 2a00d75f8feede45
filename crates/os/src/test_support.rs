//! What the tests of several modules share.

use punctual_types::NativePriority;

use crate::{Granted, Scheduling, ThreadSpec};

/// Whether a real-time class can be had here; if not, says that the test is skipped and why.
pub(crate) fn realtime_or_skip(test: &str) -> bool {
    let probe = ThreadSpec::new("probe")
        .scheduling(Scheduling::fifo(NativePriority(30)))
        .spawn(|| ())
        .unwrap();
    match probe.granted() {
        Granted::RealTime => true,
        refused => {
            say_skipped(test, &format!("no real-time scheduling class: {refused:?}"));
            false
        }
    }
}

/// Tests may write to the terminal; the lanes that the lint protects do not run them.
#[expect(clippy::disallowed_macros)]
pub(crate) fn say_skipped(test: &str, reason: &str) {
    eprintln!("skipped {test}: {reason}");
}

/// For the calling thread, which a test starts for the purpose, and the threads it starts in turn.
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
