//! Reused memory of events.

use std::sync::Arc;

use punctual_os::PiMutex;

use crate::rtec::rtec_event_comm::Event;

/// Events that nobody holds any more are used again, with the memory of their payloads.
#[derive(Debug, Default)]
pub(crate) struct EventPool {
    ring: PiMutex<Ring>,
}

#[derive(Debug, Default)]
struct Ring {
    events: Vec<Arc<Event>>,
    next: usize,
}

/// Number of events that are kept.
const KEPT: usize = 4_096;

/// Number of events that are examined for one that is free.
const PROBES: usize = 8;

/// Payloads above this number of octets are not kept.
const MAX_KEPT_PAYLOAD: usize = 64 << 10;

impl EventPool {
    /// Fills an event. Its payload and `any` are empty before.
    pub(crate) fn fill<E>(&self, fill: impl FnOnce(&mut Event) -> Result<(), E>) -> Result<Arc<Event>, E> {
        let mut event = self.ring.lock().take_free().unwrap_or_default();
        let content = Arc::get_mut(&mut event).expect("nobody else has it");
        content.data.payload.clear();
        content.data.any_value.clear();
        content.data.pad1 = 0;
        fill(content)?;
        if event.data.payload.capacity() <= MAX_KEPT_PAYLOAD {
            self.ring.lock().keep(&event);
        }
        Ok(event)
    }
}

impl Ring {
    fn take_free(&mut self) -> Option<Arc<Event>> {
        let length = self.events.len();
        for _ in 0..PROBES.min(length) {
            self.next = if self.next + 1 >= length { 0 } else { self.next + 1 };
            if Arc::get_mut(&mut self.events[self.next]).is_some() {
                return Some(self.events.swap_remove(self.next));
            }
        }
        None
    }

    fn keep(&mut self, event: &Arc<Event>) {
        if self.events.len() < KEPT {
            self.events.push(Arc::clone(event));
        }
    }
}
