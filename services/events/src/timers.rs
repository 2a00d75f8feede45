//! Timeouts of all filters of a channel, on one thread.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use punctual_os::{PiCondvar, PiMutex, Thread, ThreadSpec, clock};

use crate::{
    EventError, EventType,
    consumer::{Consumer, TimerState},
};

/// The thread and the timers for which it waits. It starts with the first subscription to a timeout.
pub(crate) struct Timers {
    thread: ThreadSpec,
    state: PiMutex<State>,
    changed: PiCondvar,
}

#[derive(Default)]
struct State {
    heap: BinaryHeap<Reverse<Entry>>,
    ends: bool,
    /// Whether a timeout is being sent.
    fires: bool,
    thread: Option<Thread<()>>,
}

struct Entry {
    due: Instant,
    consumer: Weak<Consumer>,
    timer: usize,
}

/// The sender of the events of timeouts: the channel.
pub(crate) trait TimeoutSource: Send + Sync {
    /// Sends an event of this type to a consumer, from this element of its filter.
    fn time_out(self: Arc<Self>, consumer: &Arc<Consumer>, event_type: EventType, node: usize);
}

impl Timers {
    /// No timers; `thread` describes the thread that fires them.
    pub(crate) fn new(thread: ThreadSpec) -> Self {
        Self {
            thread,
            state: PiMutex::default(),
            changed: PiCondvar::default(),
        }
    }

    /// Arms the timers of a consumer.
    pub(crate) fn add(
        self: &Arc<Self>,
        source: Weak<dyn TimeoutSource>,
        consumer: &Arc<Consumer>,
    ) -> Result<(), EventError> {
        let now = Instant::now();
        let mut state = self.state.lock();
        for timer in 0..consumer.timers() {
            if let TimerState::Later(due) = consumer.timer(timer, now - Duration::from_nanos(1)) {
                let consumer = Arc::downgrade(consumer);
                state.heap.push(Reverse(Entry { due, consumer, timer }));
            }
        }
        if state.thread.is_none() && !state.heap.is_empty() {
            let shared = Arc::clone(self);
            let thread = self.thread.clone().spawn(move || shared.run(&source));
            state.thread = Some(thread.map_err(EventError::Timer)?);
        }
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// Removes the timers of a consumer that is no longer connected.
    pub(crate) fn remove(&self, consumer: &Arc<Consumer>) {
        let own = Arc::as_ptr(consumer);
        self.state
            .lock()
            .heap
            .retain(|Reverse(entry)| entry.consumer.as_ptr() != own);
    }

    /// Number of armed timers.
    #[cfg(test)]
    pub(crate) fn number(&self) -> usize {
        self.state.lock().heap.len()
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
            state.fires = true;
            drop(state);
            let again = fire(source, entry, now);
            state = self.state.lock();
            state.fires = false;
            // Meanwhile its consumer may have been removed.
            let is_connected = |one: &Entry| {
                one.consumer
                    .upgrade()
                    .is_some_and(|consumer| consumer.is_connected())
            };
            state.heap.extend(again.filter(is_connected).map(Reverse));
        }
        self.changed.notify_all();
    }

    /// Ends the thread, and waits this long at most for a timeout that is being sent: under reactive
    /// dispatching, a callback may not return.
    pub(crate) fn end(&self, timeout: Duration) {
        let mut state = self.state.lock();
        state.ends = true;
        state.heap.clear();
        let thread = state.thread.take();
        self.changed.notify_all();
        let Some(thread) = thread.filter(|thread| thread.tid() != punctual_os::TaskId::current_thread())
        else {
            return;
        };
        let deadline = clock::later(Instant::now(), timeout);
        let fires = |state: &mut State| state.fires;
        let is_late = self.changed.wait_while_until(&mut state, deadline, fires).0;
        drop(state);
        if !is_late {
            // It calls consumers' filters only, which do not panic.
            let _ = thread.join();
        }
    }
}

/// Fires a timer if it is due; returns the time of the next check.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventChannel, Filter};

    #[test]
    fn timers_end_with_their_subscriptions_however_late_they_are_due() {
        let channel = EventChannel::builder().build().unwrap();
        let later = |days: u64| Filter::after(Duration::from_secs(days * 86_400));
        let kept = channel.subscribe_to(later(1)).receiver().unwrap();
        for _ in 0..100 {
            let filter = Filter::any_of([later(365), later(366)]);
            let ended = channel.subscribe_to(filter).receiver().unwrap();
            assert_eq!(channel.core.timers.number(), 3);
            drop(ended);
        }
        assert_eq!(channel.core.timers.number(), 1);
        drop(kept);
        assert_eq!(channel.core.timers.number(), 0);
    }

    #[test]
    fn a_timer_that_fires_while_its_subscription_ends_is_not_armed_again() {
        struct Ends;
        impl TimeoutSource for Ends {
            fn time_out(self: Arc<Self>, consumer: &Arc<Consumer>, _: EventType, _: usize) {
                consumer.disconnect();
            }
        }
        let channel = EventChannel::builder().build().unwrap();
        let every = Filter::every(Duration::from_millis(200));
        let receiver = channel.subscribe_to(every).receiver().unwrap();
        let consumer = &receiver.subscription().consumer;
        channel.core.timers.remove(consumer);
        let (timers, source) = (
            Arc::new(Timers::new(ThreadSpec::new("test-timer"))),
            Arc::new(Ends),
        );
        let weak: Weak<Ends> = Arc::downgrade(&source);
        timers.add(weak, consumer).unwrap();
        while consumer.is_connected() {
            std::thread::yield_now();
        }
        // The thread has sent the timeout when it has the lock again.
        while timers.state.lock().fires {
            std::thread::yield_now();
        }
        assert_eq!(timers.number(), 0);
        timers.end(Duration::from_secs(60));
    }
}
