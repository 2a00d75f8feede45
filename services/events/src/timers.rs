//! Timeouts of all filters of a channel, on one thread.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    sync::{Arc, Weak},
    time::Instant,
};

use punctual_os::{PiCondvar, PiMutex, Scheduling, Thread, ThreadSpec};

use crate::{
    EventError, EventType,
    consumer::{Consumer, TimerState},
};

/// The thread and what it waits for. It starts with the first subscription to a timeout.
#[derive(Default)]
pub(crate) struct Timers {
    state: PiMutex<State>,
    changed: PiCondvar,
}

#[derive(Default)]
struct State {
    heap: BinaryHeap<Reverse<Entry>>,
    ends: bool,
    thread: Option<Thread<()>>,
}

struct Entry {
    due: Instant,
    consumer: Weak<Consumer>,
    timer: usize,
}

/// What sends the events of timeouts: the channel.
pub(crate) trait TimeoutSource: Send + Sync {
    /// Sends an event of this type to a consumer, from this element of its filter.
    fn time_out(self: Arc<Self>, consumer: &Arc<Consumer>, event_type: EventType, node: usize);
}

impl Timers {
    /// Arms the timers of a consumer. `thread` describes the thread that fires them, unless it runs already.
    pub(crate) fn add(
        self: &Arc<Self>,
        source: Weak<dyn TimeoutSource>,
        consumer: &Arc<Consumer>,
        thread: impl FnOnce() -> ThreadSpec,
    ) -> Result<(), EventError> {
        let now = Instant::now();
        let mut state = self.state.lock();
        for timer in 0..consumer.timers() {
            if let TimerState::Later(due) = consumer.timer(timer, now - std::time::Duration::from_nanos(1)) {
                let consumer = Arc::downgrade(consumer);
                state.heap.push(Reverse(Entry { due, consumer, timer }));
            }
        }
        if state.thread.is_none() && !state.heap.is_empty() {
            let shared = Arc::clone(self);
            let thread = thread().spawn(move || shared.run(&source));
            state.thread = Some(thread.map_err(EventError::Timer)?);
        }
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    fn run(&self, source: &Weak<dyn TimeoutSource>) {
        let mut state = self.state.lock();
        while !state.ends {
            let Some(Reverse(next)) = state.heap.peek() else {
                self.changed.wait(&mut state);
                continue;
            };
            let due = next.due;
            let now = Instant::now();
            if due > now {
                let _ = self.changed.wait_until(&mut state, due);
                continue;
            }
            let Some(Reverse(entry)) = state.heap.pop() else {
                continue;
            };
            drop(state);
            let again = fire(source, entry, now);
            state = self.state.lock();
            state.heap.extend(again.map(Reverse));
        }
    }

    pub(crate) fn end(&self) {
        let mut state = self.state.lock();
        state.ends = true;
        let thread = state.thread.take();
        state.heap.clear();
        drop(state);
        self.changed.notify_all();
        if let Some(thread) = thread.filter(|thread| thread.tid() != punctual_os::TaskId::current_thread()) {
            // It calls consumers' filters only, which do not panic.
            let _ = thread.join();
        }
    }
}

/// Fires a timer, or finds out that it is not due yet; returns when to ask again.
fn fire(source: &Weak<dyn TimeoutSource>, entry: Entry, now: Instant) -> Option<Entry> {
    let (source, consumer) = (source.upgrade()?, entry.consumer.upgrade()?);
    let due = match consumer.timer(entry.timer, now) {
        TimerState::Over => return None,
        TimerState::Later(due) => Some(due),
        TimerState::Fires {
            node,
            event_type,
            next,
        } => {
            source.time_out(&consumer, event_type, node);
            next
        }
    };
    due.map(|due| Entry { due, ..entry })
}

/// Scheduling of the thread unless the channel states another.
pub(crate) const DEFAULT_SCHEDULING: Scheduling = Scheduling::OTHER;

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.due == other.due
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.due.cmp(&other.due)
    }
}
