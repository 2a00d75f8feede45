//! The queue of a consumer of a channel of another process: the consumer of a local channel, whose one lane
//! calls the callback.

use std::{cell::Cell, sync::Arc, time::Duration};

use punctual::{Poa, Priority};

use crate::{
    ChannelLimits, ConsumerStatistics, ConsumerTolerance, EventChannel, EventError, Filter, Lane, Overflow,
    rtec::{
        RtecEventDataView,
        rtec_event_comm::{Event, EventView},
    },
    subscription::Subscription,
};

pub(super) struct Queue {
    channel: EventChannel,
    subscription: Subscription,
    capacity: usize,
    /// Whether the events of a message belong together.
    collects_sets: bool,
}

impl Queue {
    /// Starts the thread that calls `callback`, with the lowest priority.
    pub(super) fn start(
        poa: &Poa,
        filter: &Filter,
        (capacity, overflow): (usize, Overflow),
        callback: impl Fn(&[EventView<'_>]) + Send + Sync + 'static,
    ) -> Result<Self, EventError> {
        let limits = ChannelLimits {
            consumers: 1,
            // A queue of the newest events also has the newest ones when the callback has returned.
            batch: 1,
            ending: Duration::ZERO,
            // As without a queue, callbacks that panic have no consequence.
            tolerance: ConsumerTolerance {
                failures: u32::MAX,
                lost: u64::MAX,
                ..ConsumerTolerance::default()
            },
            ..ChannelLimits::default()
        };
        let channel = EventChannel::builder().name("consumer").adapter(poa);
        let channel = channel.lane(Priority::MIN, 1).limits(limits).build()?;
        // What the queue gets has passed the filter in the other channel.
        let subscription = channel
            .subscribe_to(Filter::nothing())
            .name("queue")
            .queue(capacity, overflow)
            .sets(move |events| {
                call(events, &callback);
                Ok(())
            })?;
        Ok(Self {
            channel,
            subscription,
            capacity,
            collects_sets: filter.collects_sets(),
        })
    }

    /// Queues the events of a message.
    pub(super) fn push(&self, events: &[EventView<'_>]) {
        let together = self.collects_sets && events.len() <= self.capacity;
        for set in events.chunks(if together { events.len().max(1) } else { 1 }) {
            self.channel.core.offer_set(&self.subscription.consumer, set);
        }
    }

    /// Gives the thread this priority.
    pub(super) fn deliver_at(&self, priority: Priority) -> Result<(), EventError> {
        self.channel
            .reconfigure([Lane::new(priority, 1)], |_| Some(priority))
    }

    /// Whether it accepts no events: it has overflowed under [`Overflow::Disconnect`].
    pub(super) fn is_over(&self) -> bool {
        !self.subscription.consumer.is_connected()
    }

    pub(super) fn statistics(&self) -> ConsumerStatistics {
        self.subscription.statistics()
    }

    /// Drops what waits, and lets threads that wait for room go on.
    pub(super) fn end(&self) {
        self.subscription.end();
    }
}

thread_local! {
    /// Memory for the views of one set, which is used again for the next one.
    static VIEWS: Cell<Vec<EventView<'static>>> = const { Cell::new(Vec::new()) };
}

/// Calls `callback` with views of these events.
fn call(events: &[Arc<Event>], callback: impl Fn(&[EventView<'_>])) {
    let mut views = emptied(VIEWS.take());
    views.extend(events.iter().map(|event| view(event)));
    callback(&views);
    VIEWS.set(emptied(views));
}

/// The same memory, for views of other events: a vector is collected in the place of the one it comes from.
fn emptied<'b>(mut views: Vec<EventView<'_>>) -> Vec<EventView<'b>> {
    views.clear();
    let none = |_| unreachable!("it has no elements");
    views.into_iter().map(none).collect()
}

fn view(event: &Event) -> EventView<'_> {
    EventView {
        header: event.header.clone(),
        data: RtecEventDataView {
            pad1: event.data.pad1,
            payload: &event.data.payload,
            any_value: event.data.any_value.view(),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn views_of_all_sets_are_in_the_same_memory() {
        let places = RefCell::new(Vec::new());
        let events = [Arc::new(Event::default()), Arc::new(Event::default())];
        for number in [2, 1, 2] {
            call(&events[..number], |set| {
                assert_eq!(set.len(), number);
                places.borrow_mut().push(set.as_ptr() as usize);
            });
        }
        let places = places.take();
        assert_eq!(places, [places[0]; 3]);
    }
}
