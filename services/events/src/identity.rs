//! Identity of events across gateways: the first channel that receives an event stamps it with a time that it
//! gives to no other event; gateways keep this time, and a channel with gateways remembers the events that it
//! has seen.

use std::{
    collections::{HashMap, VecDeque, hash_map::Entry},
    hash::{BuildHasher, RandomState},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use punctual_os::PiMutex;

use crate::rtec::rtec_event_comm::Event;

/// Times of receipt, each later than the ones before.
#[derive(Default)]
pub(crate) struct Stamps(AtomicU64);

impl Stamps {
    /// `now`, or the first unit of time that has not been given away.
    pub(crate) fn next(&self, now: u64) -> u64 {
        let later = |last: u64| now.max(last.saturating_add(1));
        let last = self.0.fetch_update(Relaxed, Relaxed, |last| Some(later(last)));
        later(last.unwrap_or_else(|last| last))
    }
}

/// The last events that a channel or a gateway has seen, as hashes with a key of their own.
pub struct Seen {
    keys: RandomState,
    length: usize,
    window: PiMutex<Window>,
}

/// Where an event came from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Origin {
    Supplier,
    Gateway,
}

#[derive(Default)]
struct Window {
    known: HashMap<u64, Origin>,
    order: VecDeque<u64>,
}

impl Seen {
    /// Remembers `length` events, in memory that is allocated here.
    pub fn new(length: usize) -> Self {
        let window = Window {
            known: HashMap::with_capacity(length + 1),
            order: VecDeque::with_capacity(length + 1),
        };
        Self {
            keys: RandomState::new(),
            length,
            window: PiMutex::new(window),
        }
    }

    /// Remembers an event. Returns whether it is remembered already: whether its type, source, times and
    /// payload are those of an event among the last ones.
    pub fn is_known(&self, event: &Event) -> bool {
        self.known(event, Origin::Gateway).is_some()
    }

    /// Remembers an event. Returns where it came from if it is remembered already.
    pub(crate) fn known(&self, event: &Event, origin: Origin) -> Option<Origin> {
        let header = &event.header;
        let times = (header.creation_time, header.ec_recv_time);
        let identity = self
            .keys
            .hash_one((header.r#type, header.source, times, &event.data.payload));
        let mut window = self.window.lock();
        match window.known.entry(identity) {
            Entry::Occupied(known) => return Some(*known.get()),
            Entry::Vacant(new) => new.insert(origin),
        };
        window.order.push_back(identity);
        if window.order.len() > self.length
            && let Some(oldest) = window.order.pop_front()
        {
            window.known.remove(&oldest);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_never_given_twice() {
        let stamps = Stamps::default();
        assert_eq!([7, 7, 3, 20].map(|now| stamps.next(now)), [7, 8, 9, 20]);
    }

    #[test]
    fn the_window_is_bounded_and_forgets_the_oldest() {
        let seen = Seen::new(2);
        let event = |time| {
            let mut event = Event::default();
            event.header.ec_recv_time = time;
            event
        };
        assert_eq!(
            [1, 2, 1, 2, 3, 3, 1].map(|time| seen.known(&event(time), Origin::Supplier).is_none()),
            [true, true, false, false, true, false, true]
        );
        assert_eq!(seen.known(&event(3), Origin::Gateway), Some(Origin::Supplier));
        assert_eq!(seen.window.lock().known.len(), 2);
    }
}
