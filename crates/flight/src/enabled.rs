//! Whether the recorder is on.

use std::sync::atomic::{AtomicBool, Ordering};

static ON: AtomicBool = AtomicBool::new(false);

/// Returns whether records are stored.
#[inline]
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

pub(crate) fn turn_on() {
    ON.store(true, Ordering::Release);
}
