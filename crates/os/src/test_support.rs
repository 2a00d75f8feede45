//! Helpers shared by the tests of several modules.

use punctual_types::NativePriority;

use crate::{Granted, Scheduling, ThreadSpec};

/// Returns whether threads may be in a real-time class; if not, prints that the test is skipped.
pub(crate) fn realtime_or_skip(test: &str) -> bool {
    let probe = ThreadSpec::new("probe")
        .scheduling(Scheduling::fifo(NativePriority(30)))
        .spawn(|| ())
        .unwrap();
    match probe.granted() {
        Granted::RealTime => true,
        refused => {
            report_skip(test, &format!("no real-time scheduling class: {refused:?}"));
            false
        }
    }
}

/// Prints that a test is skipped, and why.
#[expect(clippy::disallowed_macros, reason = "tests may write to the terminal")]
pub(crate) fn report_skip(test: &str, reason: &str) {
    eprintln!("skipped {test}: {reason}");
}

/// Drops all capabilities of the calling thread, and of the threads that it starts. Run it in a thread of the test's.
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
