//! The way of an event to the queues of consumers, and from there to the threads that deliver.

use std::{
    convert::Infallible,
    sync::{Arc, Weak, atomic::Ordering::Relaxed},
};

use punctual::rtscheduling::Time;
use punctual_os::scheduling;

use super::{Core, copy_view};
use crate::{
    EventType,
    backlog::Appended,
    consumer::{Consumer, Delivered, Offered},
    dispatching::Serve,
    filter::Stimulus,
    routes::{LaneBacklog, Ranks, Routes, Subscriptions},
    rtec::rtec_event_comm::{Event, EventView},
    suppliers::Supplier,
};

/// Before the arrival of any event: the oldest one is meant.
const OLDEST: Time = Time(0);

impl Core {
    pub(super) fn routes(&self, subscriptions: &Subscriptions) -> Arc<Routes> {
        let backlog = |consumer: &Consumer| {
            let backlog = self.threads.backlog(consumer.level());
            backlog.filter(|_| consumer.is_deferrable())
        };
        Arc::new(Routes::new(subscriptions, backlog))
    }

    /// Offers the event to consumers of the highest lane, and leaves those of the others to the threads of
    /// their lanes, as far as they permit it.
    pub(super) fn route(self: &Arc<Self>, event: &Arc<Event>, supplier: Option<&Arc<Supplier>>) -> usize {
        let stimulus = Stimulus {
            event,
            timer: None,
            supplier,
        };
        self.counters.received.fetch_add(1, Relaxed);
        let routes = Arc::clone(&self.routes.lock());
        let (mut reached, mut is_matched, mut is_highest) = (0, false, true);
        // Whether threads of higher lanes have something to deliver.
        let mut is_awaited = false;
        for mut lane in routes.lanes(EventType(event.header.r#type)) {
            if let Some(backlog) = lane.backlog
                && lane.deferrable.len() > 0
                && self.defer(stimulus, &routes, backlog, is_highest)
            {
                reached += lane.deferrable.len();
                is_matched = true;
                lane.deferrable = Ranks::default();
            }
            is_highest = false;
            if is_awaited && lane.deferrable.len() + lane.direct.len() > 0 {
                // This thread may have the native priority of those threads: they deliver now, and not after
                // the work for consumers of lower priority.
                scheduling::give_way();
                is_awaited = false;
            }
            for consumer in lane.deferrable.chain(lane.direct) {
                let offered = consumer.offer(stimulus, None, &self.limits);
                is_matched |= offered != Offered::Ignored;
                if self.complete(consumer, offered) {
                    reached += 1;
                    is_awaited = true;
                }
            }
        }
        if !is_matched {
            self.counters.unmatched.fetch_add(1, Relaxed);
            if let Some(supplier) = supplier {
                supplier.count_unmatched();
            }
        }
        reached
    }

    /// Leaves an event to the thread of a lane; returns whether it could. The work does not depend on the
    /// number of the lane's consumers, unless the backlog is full: then this thread helps.
    fn defer(
        self: &Arc<Self>,
        stimulus: Stimulus<'_>,
        routes: &Arc<Routes>,
        backlog: &LaneBacklog,
        is_highest: bool,
    ) -> bool {
        loop {
            match backlog.append(stimulus, routes, routes.generation(), is_highest) {
                Appended::Waits => return true,
                Appended::Schedule => {
                    let channel: Weak<Self> = Arc::downgrade(self);
                    self.threads.schedule_offers(channel, backlog.level());
                    return true;
                }
                Appended::Highest => return false,
                Appended::Superseded => {
                    self.offer_waiting(backlog, usize::MAX);
                    return false;
                }
                Appended::Full => self.offer_waiting(backlog, 1),
            }
        }
    }

    /// Offers up to so many events that wait for a lane to their consumers.
    fn offer_waiting(self: &Arc<Self>, backlog: &LaneBacklog, most: usize) {
        let mut exceeding = Vec::new();
        for _ in 0..most {
            if !self.offer_next(backlog, &mut exceeding) {
                break;
            }
        }
        exceeding.iter().for_each(|consumer| self.expel(consumer));
    }

    /// Offers the next event that waits for a lane, if there is one; adds the consumers that have to be
    /// disconnected.
    pub(super) fn offer_next(
        self: &Arc<Self>,
        backlog: &LaneBacklog,
        exceeding: &mut Vec<Arc<Consumer>>,
    ) -> bool {
        backlog.offer_next(|entry| {
            let stimulus = Stimulus {
                event: &entry.event,
                timer: None,
                supplier: entry.supplier.as_ref(),
            };
            let event_type = EventType(entry.event.header.r#type);
            for consumer in entry.routes.deferrable(event_type, backlog.level()) {
                match consumer.offer(stimulus, Some(entry.arrived), &self.limits) {
                    Offered::Ignored | Offered::Lost | Offered::Queued => {}
                    Offered::Replaced => self.threads.reschedule(consumer),
                    Offered::Schedule => self.schedule(consumer),
                    Offered::Disconnect => exceeding.push(Arc::clone(consumer)),
                }
            }
        })
    }

    /// Suspends or resumes a consumer, after the events that have been pushed before.
    pub(crate) fn suspend(self: &Arc<Self>, consumer: &Consumer, suspended: bool) {
        if let Some(backlog) = self.threads.backlog(consumer.level()) {
            self.offer_waiting(&backlog, backlog.len());
        }
        consumer.suspend(suspended);
    }

    /// Offers a timeout to a consumer.
    pub(super) fn offer(self: &Arc<Self>, consumer: &Arc<Consumer>, stimulus: Stimulus<'_>) {
        let offered = consumer.offer(stimulus, None, &self.limits);
        self.complete(consumer, offered);
    }

    /// Queues copies of events that a channel of another process has sent to a consumer, as one set.
    pub(crate) fn offer_set(self: &Arc<Self>, consumer: &Arc<Consumer>, views: &[EventView<'_>]) {
        let copies = views.iter().map(|view| {
            let filled = self.pool.fill(|event| {
                copy_view(event, view, view.header.ttl);
                Ok::<_, Infallible>(())
            });
            let Ok(event) = filled;
            event
        });
        let offered = consumer.offer_set(copies);
        self.complete(consumer, offered);
    }

    /// Takes the action that an event demands which was offered to a consumer; returns whether it is queued.
    fn complete(self: &Arc<Self>, consumer: &Arc<Consumer>, offered: Offered) -> bool {
        match offered {
            Offered::Ignored | Offered::Lost => false,
            Offered::Queued => true,
            Offered::Replaced => {
                self.threads.reschedule(consumer);
                true
            }
            Offered::Schedule => {
                self.schedule(consumer);
                true
            }
            Offered::Disconnect => {
                self.expel(consumer);
                false
            }
        }
    }

    fn schedule(self: &Arc<Self>, consumer: &Arc<Consumer>) {
        let channel: Weak<Self> = Arc::downgrade(self);
        if !self.threads.schedule(channel, consumer) {
            Arc::clone(self).serve(consumer, OLDEST, usize::MAX);
        }
    }
}

impl Serve for Core {
    fn give_up(self: Arc<Self>, consumer: &Arc<Consumer>, arrived: Time) {
        if consumer.give_up(arrived, &self.limits) {
            self.schedule(consumer);
        }
    }

    fn catch_up(self: Arc<Self>, level: u32) {
        if let Some(backlog) = self.threads.backlog(level) {
            self.offer_waiting(&backlog, backlog.begin());
        }
    }

    fn serve(self: Arc<Self>, consumer: &Arc<Consumer>, arrived: Time, turn: usize) {
        // Events that wait may be more urgent than those in the queues of the lane's consumers.
        if let Some(backlog) = self.threads.backlog(consumer.level()) {
            self.offer_waiting(&backlog, backlog.len());
        }
        for _ in 0..turn {
            match consumer.deliver(arrived, &self.limits) {
                Delivered::More => {}
                Delivered::Nothing => return,
                Delivered::Disconnect => return self.expel(consumer),
            }
        }
        self.schedule(consumer);
    }
}
