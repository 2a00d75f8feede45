//! Events that wait until the thread of a lane offers them to the lane's consumers. So the thread of a
//! supplier works for the consumers of one lane, the highest, and for each lower lane it only adds an entry.

use std::{collections::VecDeque, sync::Arc};

use punctual::rtscheduling::Time;
use punctual_dispatch::now;
use punctual_os::PiMutex;

use crate::{filter::Stimulus, pool, rtec::rtec_event_comm::Event, suppliers::Supplier};

/// Maximum number of entries.
const CAPACITY: usize = 256;
/// Maximum number of changes of the routes among the entries, each of which keeps the former routes alive.
const CHANGES: usize = 4;

/// The entries of a lane, in their order. `R`: routes, which lead to the consumers.
pub(crate) struct Backlog<R> {
    level: u32,
    /// Maximum number of octets of the events.
    octets: usize,
    /// Held while an entry is offered, so that no other one overtakes it.
    turn: PiMutex<()>,
    state: PiMutex<State<R>>,
}

/// An event, with the routes that applied when it was pushed.
pub(crate) struct Entry<R> {
    pub(crate) event: Arc<Event>,
    pub(crate) routes: Arc<R>,
    pub(crate) arrived: Time,
    pub(crate) supplier: Option<Arc<Supplier>>,
}

struct State<R> {
    entries: VecDeque<Entry<R>>,
    octets: usize,
    changes: usize,
    /// Whether the last entry taken is being offered.
    is_offering: bool,
    /// Whether a command of the lane will offer what waits.
    is_scheduled: bool,
    /// Configuration of the lanes; entries have routes of this one.
    generation: u64,
}

/// Action that a supplier's thread has to take for an event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Appended {
    /// Nothing: it waits.
    Waits,
    /// Schedule a command that offers it.
    Schedule,
    /// Offer it: the lane is the event's highest, and nothing waits.
    Highest,
    /// Offer what waits, and then the event: the lanes have changed since its routes were computed.
    Superseded,
    /// Offer the oldest entry, and try again.
    Full,
}

impl<R> Backlog<R> {
    /// Reserves all memory but that of the events.
    pub(crate) fn new(level: u32, octets: usize) -> Self {
        let state = State {
            entries: VecDeque::with_capacity(CAPACITY),
            octets: 0,
            changes: 0,
            is_offering: false,
            is_scheduled: false,
            generation: 0,
        };
        Self {
            level,
            octets,
            turn: PiMutex::new(()),
            state: PiMutex::new(state),
        }
    }

    pub(crate) fn level(&self) -> u32 {
        self.level
    }

    pub(crate) fn len(&self) -> usize {
        self.state.lock().entries.len()
    }

    /// Adds an event with routes of this generation, unless there is something else to do.
    pub(crate) fn append(
        &self,
        stimulus: Stimulus<'_>,
        routes: &Arc<R>,
        generation: u64,
        is_highest: bool,
    ) -> Appended {
        let Stimulus { event, supplier, .. } = stimulus;
        let mut state = self.state.lock();
        if state.generation != generation {
            return Appended::Superseded;
        }
        if state.entries.is_empty() && !state.is_offering && is_highest {
            return Appended::Highest;
        }
        let octets = pool::octets(event);
        let changes = state
            .entries
            .back()
            .map_or(0, |last| usize::from(!Arc::ptr_eq(&last.routes, routes)));
        if !state.entries.is_empty()
            && (state.entries.len() >= CAPACITY
                || state.octets + octets > self.octets
                || state.changes + changes > CHANGES)
        {
            return Appended::Full;
        }
        state.octets += octets;
        state.changes += changes;
        state.entries.push_back(Entry {
            event: Arc::clone(event),
            routes: Arc::clone(routes),
            arrived: now(),
            supplier: supplier.cloned(),
        });
        match std::mem::replace(&mut state.is_scheduled, true) {
            true => Appended::Waits,
            false => Appended::Schedule,
        }
    }

    /// Begins the scheduled command; returns how many entries wait. For later ones, another command is
    /// scheduled.
    pub(crate) fn begin(&self) -> usize {
        let mut state = self.state.lock();
        state.is_scheduled = false;
        state.entries.len()
    }

    /// Passes the oldest entry to `offer`; returns whether there was one.
    pub(crate) fn offer_next(&self, offer: impl FnOnce(&Entry<R>)) -> bool {
        let _turn = self.turn.lock();
        let Some(entry) = self.state.lock().take() else {
            return false;
        };
        offer(&entry);
        self.state.lock().is_offering = false;
        true
    }

    /// From now on, only events with routes of this generation wait.
    pub(crate) fn supersede(&self, generation: u64) {
        self.state.lock().generation = generation;
    }

    /// Drops what waits.
    pub(crate) fn clear(&self) {
        let mut state = self.state.lock();
        let entries = std::mem::take(&mut state.entries);
        (state.octets, state.changes) = (0, 0);
        drop(state);
        drop(entries);
    }
}

impl<R> State<R> {
    fn take(&mut self) -> Option<Entry<R>> {
        let entry = self.entries.pop_front()?;
        self.octets -= pool::octets(&entry.event);
        let changes = |next: &Entry<R>| !Arc::ptr_eq(&next.routes, &entry.routes);
        self.changes -= usize::from(self.entries.front().is_some_and(changes));
        self.is_offering = true;
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(octets: usize) -> Arc<Event> {
        let mut event = Event::default();
        event.data.payload.resize(octets, 0);
        Arc::new(event)
    }

    fn pushed(event: &Arc<Event>) -> Stimulus<'_> {
        Stimulus {
            event,
            timer: None,
            supplier: None,
        }
    }

    fn routes() -> Arc<u8> {
        Arc::new(0)
    }

    #[test]
    fn the_highest_lane_waits_only_behind_what_waits() {
        let (backlog, routes) = (Backlog::new(0, 100), routes());
        let append = |is_highest| backlog.append(pushed(&event(1)), &routes, 0, is_highest);
        assert_eq!(append(true), Appended::Highest);
        assert_eq!(append(false), Appended::Schedule);
        assert_eq!(append(true), Appended::Waits);
        // Also while the last one is being offered.
        assert!(backlog.offer_next(|_| {}));
        assert!(backlog.offer_next(|_| assert_eq!(append(true), Appended::Waits)));
        assert_eq!(backlog.begin(), 1);
        assert_eq!(append(false), Appended::Schedule);
        while backlog.offer_next(|_| {}) {}
        assert_eq!(append(true), Appended::Highest);
    }

    #[test]
    fn entries_octets_and_changes_of_the_routes_are_bounded() {
        let (backlog, first) = (Backlog::new(0, 1_000), routes());
        let appended = |octets, routes: &Arc<u8>| backlog.append(pushed(&event(octets)), routes, 0, false);
        // A larger event than all may have enters an empty one.
        assert_eq!(appended(2_000, &first), Appended::Schedule);
        assert_eq!(appended(1, &first), Appended::Full);
        assert!(backlog.offer_next(|_| {}));
        for _ in 0..CAPACITY {
            assert_eq!(appended(1, &first), Appended::Waits);
        }
        assert_eq!(appended(0, &first), Appended::Full);
        while backlog.offer_next(|_| {}) {}
        for change in 0..=CHANGES {
            assert_eq!(appended(1, &routes()), Appended::Waits, "{change}");
        }
        assert_eq!(appended(1, &routes()), Appended::Full);
        assert!(backlog.offer_next(|_| {}));
        assert_eq!(appended(1, &routes()), Appended::Waits);
        backlog.supersede(1);
        assert_eq!(appended(1, &first), Appended::Superseded);
        backlog.clear();
        assert_eq!((backlog.len(), backlog.state.lock().octets), (0, 0));
    }
}
