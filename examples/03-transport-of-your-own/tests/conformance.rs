//! The example is a transport like any other.

punctual_transport::conformance_tests!(transport_of_your_own::Abstract, &name());

/// Tests run at the same time, and each listens at a name of its own.
fn name() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};

    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!(
        "punctual-test-{}-{}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    )
}
