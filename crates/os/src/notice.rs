//! One-time messages on standard error.

use std::{
    borrow::Cow,
    sync::atomic::{AtomicBool, Ordering},
};

use crate::standard_error;

/// A message that is written to standard error at most once, by threads that may neither format nor wait.
///
/// ```
/// use punctual_os::Notice;
///
/// static FALLBACK: Notice = Notice::new("radar: the antenna does not respond; the last track is shown\n");
/// FALLBACK.send();
/// ```
pub struct Notice {
    text: Cow<'static, str>,
    sent: AtomicBool,
}

impl Notice {
    /// Creates a notice with a constant text.
    pub const fn new(text: &'static str) -> Self {
        Self::of(Cow::Borrowed(text))
    }

    /// Creates a notice with a text formatted beforehand.
    pub const fn formatted(text: String) -> Self {
        Self::of(Cow::Owned(text))
    }

    /// Writes the text on the first call. If standard error cannot take it immediately, the next call tries
    /// again.
    pub fn send(&self) {
        if !self.sent.load(Ordering::Relaxed) {
            let sent = standard_error::write_at_once(&self.text);
            self.sent.store(sent, Ordering::Relaxed);
        }
    }

    const fn of(text: Cow<'static, str>) -> Self {
        Self {
            text,
            sent: AtomicBool::new(false),
        }
    }
}
