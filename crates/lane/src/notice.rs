//! Notices on standard error that are prepared in advance, for threads that may neither format nor wait.

use std::sync::atomic::{AtomicBool, Ordering};

use punctual_os::standard_error;

/// Text that is printed at most once.
pub(crate) struct PreparedNotice {
    text: Box<str>,
    printed: AtomicBool,
}

impl PreparedNotice {
    /// Notice that the only thread of this lane was about to wait for itself.
    pub(crate) fn deadlock(lane: &str) -> Self {
        let text = format!(
            "punctual: a servant on lane `{lane}` called an object of the same lane, which has no other thread to serve \
             the call or to read its reply; the call failed with BAD_INV_ORDER. Give the lane another thread, or call with \
             `WaitStrategy::Serving`.\n"
        );
        Self {
            text: text.into(),
            printed: AtomicBool::new(false),
        }
    }

    /// Prints the text to standard error the first time; if standard error cannot take it at once, the next time.
    pub(crate) fn print_once(&self) {
        if !self.printed.load(Ordering::Relaxed) {
            let printed = standard_error::write_at_once(&self.text);
            self.printed.store(printed, Ordering::Relaxed);
        }
    }
}
