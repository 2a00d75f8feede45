//! Memory of events: its size, and its reuse.

use std::sync::Arc;

use punctual::any::Kind;
use punctual_os::PiMutex;

use crate::rtec::rtec_event_comm::Event;

/// Pool of released events, which are reused with the memory of their payloads.
#[derive(Debug)]
pub(crate) struct EventPool {
    ring: PiMutex<Ring>,
    /// Maximum number of octets of all events that are kept.
    limit: usize,
}

#[derive(Debug, Default)]
struct Ring {
    events: Vec<Arc<Event>>,
    next: usize,
    octets: usize,
}

/// Number of events that are kept.
const KEPT: usize = 4_096;

/// Number of events that are examined for one that is free.
const PROBES: usize = 8;

/// Events above this number of octets are not kept.
const MAX_KEPT: usize = 64 << 10;

/// Number of octets of the content of an event.
pub(crate) fn octets(event: &Event) -> usize {
    event.data.payload.len() + octets_of_any(event)
}

/// An `any` without a value takes no memory.
fn octets_of_any(event: &Event) -> usize {
    let any = &event.data.any_value;
    match any.type_code().kind() {
        Ok(Kind::Null) => 0,
        _ => any.octets(),
    }
}

/// Number of octets of payload memory that an unused event keeps.
fn kept(event: &Event) -> usize {
    size_of::<Event>() + event.data.payload.capacity() + octets_of_any(event)
}

impl EventPool {
    pub(crate) fn new(limit: usize) -> Self {
        let ring = PiMutex::default();
        Self { ring, limit }
    }

    /// Fills an event. Its payload and `any` are empty before.
    pub(crate) fn fill<E>(&self, fill: impl FnOnce(&mut Event) -> Result<(), E>) -> Result<Arc<Event>, E> {
        let mut event = self.ring.lock().take_free().unwrap_or_default();
        let content = Arc::get_mut(&mut event).expect("it has no other owner");
        content.data.payload.clear();
        // Its memory would not be used again.
        content.data.any_value = Default::default();
        content.data.pad1 = 0;
        fill(content)?;
        self.ring.lock().keep(&event, self.limit);
        Ok(event)
    }
}

impl Ring {
    fn take_free(&mut self) -> Option<Arc<Event>> {
        let length = self.events.len();
        for _ in 0..PROBES.min(length) {
            self.next = if self.next + 1 >= length { 0 } else { self.next + 1 };
            if Arc::get_mut(&mut self.events[self.next]).is_some() {
                let event = self.events.swap_remove(self.next);
                self.octets -= kept(&event);
                return Some(event);
            }
        }
        None
    }

    fn keep(&mut self, event: &Arc<Event>, limit: usize) {
        let octets = kept(event);
        if octets <= MAX_KEPT && self.octets + octets <= limit && self.events.len() < KEPT {
            self.octets += octets;
            self.events.push(Arc::clone(event));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use punctual::any::Any;

    use super::*;

    fn fill(pool: &EventPool, payload: usize, any: usize) -> Arc<Event> {
        let filled = pool.fill(|event| {
            event.data.payload.resize(payload, 0);
            if any > 0 {
                event.data.any_value = Any::new(&"x".repeat(any)).unwrap();
            }
            Ok::<_, Infallible>(())
        });
        filled.unwrap()
    }

    #[test]
    fn the_content_of_an_event_is_its_payload_and_its_any() {
        let pool = EventPool::new(0);
        assert_eq!(octets(&fill(&pool, 3, 0)), 3);
        let (short, long) = (fill(&pool, 3, 5), fill(&pool, 4, 1_005));
        assert_eq!(octets(&long), octets(&short) + 1_001);
    }

    #[test]
    fn large_events_are_not_kept_and_the_others_up_to_the_limit() {
        let pool = EventPool::new(MAX_KEPT);
        drop((fill(&pool, MAX_KEPT, 0), fill(&pool, 0, MAX_KEPT)));
        assert_eq!(pool.ring.lock().events.len(), 0);
        let events: Vec<_> = (0..100).map(|_| fill(&pool, 100, MAX_KEPT / 8)).collect();
        let most = pool.ring.lock().events.len();
        assert!((1..=8).contains(&most), "{most}");
        drop(events);
        // The same ones, without what they held.
        for _ in 0..100 {
            assert_eq!(octets(&fill(&pool, 50, 0)), 50);
        }
        let ring = pool.ring.lock();
        assert_eq!(ring.octets, ring.events.iter().map(|event| kept(event)).sum());
        assert!(ring.octets <= MAX_KEPT && ring.events.len() <= 100 + most);
    }
}
