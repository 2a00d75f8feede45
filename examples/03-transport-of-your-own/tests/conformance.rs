//! The conformance suite for transports, applied to the example.

punctual_transport::conformance_tests!(transport_of_your_own::Abstract, &name());

/// A separate name for each test: they run concurrently.
fn name() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};

    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!(
        "punctual-test-{}-{}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    )
}
