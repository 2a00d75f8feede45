//! Times since which messages have been incomplete.

use std::time::Instant;

use super::ConnectionLimits;

/// The start of the message at the end of the buffer, and of the oldest fragmented message: between the
/// fragments of one, other messages may arrive forever.
#[derive(Debug, Default)]
pub(super) struct Incomplete {
    message: Option<Instant>,
    /// Number of the oldest fragmented message, and when it became the oldest.
    fragmented: Option<(u64, Instant)>,
}

impl Incomplete {
    pub(super) fn since(&self) -> Option<Instant> {
        let fragmented = self.fragmented.map(|(_, since)| since);
        self.message.into_iter().chain(fragmented).min()
    }

    /// Returns whether the message at the end of the buffer is timed.
    #[inline(always)]
    pub(super) const fn has_message(&self) -> bool {
        self.message.is_some()
    }

    /// Part of a message has been received.
    pub(super) fn start_message(&mut self, limits: &ConnectionLimits, now: impl Fn() -> Instant) {
        if self.message.is_none() && limits.message_completion.is_some() {
            self.message = Some(now());
        }
    }

    /// All of it has been received.
    pub(super) fn end_message(&mut self) {
        self.message = None;
    }

    /// Fragments have been added or removed; `oldest` is the number of the oldest message that is incomplete.
    pub(super) fn watch_fragments(
        &mut self,
        oldest: Option<u64>,
        limits: &ConnectionLimits,
        now: impl Fn() -> Instant,
    ) {
        if oldest != self.fragmented.map(|(number, _)| number) && limits.message_completion.is_some() {
            self.fragmented = oldest.map(|number| (number, now()));
        }
    }
}
