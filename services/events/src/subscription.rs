//! Subscribing: callbacks, receivers and futures.

use std::{
    future::poll_fn,
    marker::PhantomData,
    sync::Arc,
    time::{Duration, Instant},
};

use punctual::{Priority, SystemException};
use punctual_os::clock::later;

use crate::{
    EventChannel, EventError, Filter, Overflow, SourceId,
    channel::Core,
    consumer::{Consumer, ConsumerQos, Exit, Sink, UNTIMED},
    rtec::rtec_event_comm::Event,
    topic::{self, Topic},
};

impl EventChannel {
    /// Begins a subscription to the values of a topic.
    pub fn subscribe<T: Topic>(&self) -> SubscriptionBuilder<Values<T>> {
        SubscriptionBuilder::new(self, Filter::event(T::EVENT_TYPE))
    }

    /// Begins a subscription to the events that a filter accepts.
    pub fn subscribe_to(&self, filter: Filter) -> SubscriptionBuilder<Events> {
        SubscriptionBuilder::new(self, filter)
    }
}

/// Form in which a consumer receives each event.
pub trait Content: 'static {
    /// Its type.
    type Item: 'static;

    /// Reads it.
    ///
    /// # Errors
    /// The event does not contain it.
    fn read(event: Arc<Event>) -> Result<Self::Item, EventError>;
}

/// Values of a topic.
pub struct Values<T>(PhantomData<T>);

/// Events with header and content.
pub struct Events;

impl<T: Topic> Content for Values<T> {
    type Item = T;

    fn read(event: Arc<Event>) -> Result<T, EventError> {
        Ok(topic::read(&event.data)?)
    }
}

impl Content for Events {
    type Item = Arc<Event>;

    fn read(event: Arc<Event>) -> Result<Arc<Event>, EventError> {
        Ok(event)
    }
}

/// Settings of a subscription.
#[must_use = "a subscription begins with `each`, `sets` or `receiver`"]
pub struct SubscriptionBuilder<C> {
    core: Arc<Core>,
    filter: Filter,
    qos: ConsumerQos,
    cancelled: Option<Cancelled>,
    content: PhantomData<fn() -> C>,
}

/// Function that is called for events that are dropped because they could no longer meet their deadline.
type Cancelled = Box<dyn Fn(&[Arc<Event>]) + Send + Sync>;

impl<C: Content> SubscriptionBuilder<C> {
    fn new(channel: &EventChannel, filter: Filter) -> Self {
        let core = Arc::clone(&channel.core);
        let qos = ConsumerQos {
            name: "local".to_owned(),
            priority: Priority::MIN,
            queue: core.default_queue.events,
            octets: core.limits.octets.queue,
            overflow: core.default_queue.overflow,
            is_gateway: false,
            timing: UNTIMED,
            rt_infos: Vec::new(),
        };
        Self {
            core,
            filter,
            qos,
            cancelled: None,
            content: PhantomData,
        }
    }

    /// Accepts events of this source only.
    pub fn source(mut self, source: impl Into<SourceId>) -> Self {
        self.filter = self.filter.from(source);
        self
    }

    /// Sets the priority with which events are delivered. Default: 0.
    pub fn priority(mut self, priority: Priority) -> Self {
        self.qos.priority = priority;
        self
    }

    /// Sets length and overflow rule of the queue. Default: the channel's. The rule also applies beyond
    /// [`OctetLimits::queue`](crate::OctetLimits::queue).
    pub fn queue(mut self, events: usize, overflow: Overflow) -> Self {
        self.qos.queue = events;
        self.qos.overflow = overflow;
        self
    }

    /// Sets the name that statistics show.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.qos.name = name.into();
        self
    }

    /// Identifies the operation that the events start by the handle of its `RT_Info`: a schedule that the
    /// channel [follows](EventChannel::follow) gives it priority and timing. The handle takes precedence over
    /// the [name](Self::name); 0 means none. Corresponds to `rt_info` in the dependencies of TAO's
    /// `ConsumerQOS`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use punctual::Priority;
    /// use punctual_events::{EventChannel, EventType, Filter, Lane};
    /// use punctual_scheduling::reconfigurable::*;
    ///
    /// let ms = Duration::from_millis;
    /// let mut scheduler = ReconfigurableScheduler::new(Strategy::Rms);
    /// let display = scheduler.add(Operation::new("display", Criticality::Low).tuple(ms(100), ms(1)))?;
    /// scheduler.compute();
    ///
    /// let channel = EventChannel::builder().lane(Priority::MIN, 1).build()?;
    /// channel.follow(scheduler, Lane::descending(Priority::MAX))?;
    /// let events = channel.subscribe_to(Filter::event(EventType(17))).rt_info(display.handle());
    /// assert_eq!(events.each(|_| {})?.statistics().priority, Priority::MAX);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rt_info(mut self, handle: i32) -> Self {
        self.qos.rt_infos = Vec::from_iter(Some(handle).filter(|handle| *handle != 0));
        self
    }

    /// Requires deliveries to complete this long after their events have entered the queue of the consumer,
    /// or the backlog of its lane. Deliveries that complete later are counted as late; those that can no
    /// longer complete in time are cancelled if the [lane](crate::Lane::shedding) sheds them. Each event, or
    /// set of a conjunction, is then delivered alone. Default: no deadline.
    ///
    /// ```
    /// use std::{sync::mpsc, time::Duration};
    /// use punctual::{Priority, rtscheduling::SheddingPolicy};
    /// use punctual_events::{Dispatching, EventChannel, EventType, Filter, Lane};
    ///
    /// let ms = Duration::from_millis;
    /// let shedding = SheddingPolicy::before_dispatch();
    /// let lanes = vec![Lane { shedding, ..Lane::new(Priority::MIN, 1) }];
    /// let channel = EventChannel::builder().dispatching(Dispatching::Lanes(lanes)).build()?;
    /// let (cancelled, numbers) = mpsc::channel();
    /// let display = channel
    ///     .subscribe_to(Filter::event(EventType(17)))
    ///     .deadline(ms(20))
    ///     .execution_time(ms(30))
    ///     .cancelled(move |event| cancelled.send(event.data.payload[0]).unwrap())
    ///     .each(|_| unreachable!("it takes longer than it may"))?;
    /// channel.push_octets(EventType(17), &[3])?;
    /// assert_eq!(numbers.recv()?, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.qos.timing.deadline = deadline;
        self
    }

    /// Sets the worst-case execution time of the callback. Default: unknown, so a delivery is hopeless only
    /// from its deadline on.
    pub fn execution_time(mut self, time: Duration) -> Self {
        self.qos.timing.execution_time = time;
        self
    }

    /// Marks the subscription as critical: policies may
    /// [exempt](punctual::rtscheduling::SheddingPolicy::sparing_critical) its deliveries.
    pub fn critical(mut self) -> Self {
        self.qos.timing.is_critical = true;
        self
    }

    /// Calls `callback` for each event that is dropped because it could no longer meet its deadline. It runs
    /// on the thread of the lane and must be short.
    pub fn cancelled(mut self, callback: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.cancelled = Some(Box::new(move |events| {
            events.iter().for_each(|event| callback(event));
        }));
        self
    }

    /// Hides the subscription from observers.
    pub fn gateway(mut self) -> Self {
        self.qos.is_gateway = true;
        self
    }

    /// Calls `callback` for each event, on a thread of the channel. Events without the expected content count
    /// as failed, and so does a panic; as many consecutive failed deliveries as
    /// [`ConsumerTolerance::failures`](crate::ConsumerTolerance::failures) states end the subscription.
    ///
    /// # Errors
    /// The filter or the length of the queue exceeds a limit, or there are too many consumers.
    pub fn each(
        self,
        callback: impl Fn(C::Item) + Send + Sync + 'static,
    ) -> Result<Subscription, EventError> {
        self.sets(move |events| {
            for event in events {
                let item = C::read(Arc::clone(event)).map_err(|_| malformed())?;
                callback(item);
            }
            Ok(())
        })
    }

    /// Calls `callback` for each set of events: events that a conjunction has collected, or that had to wait
    /// for the consumer.
    ///
    /// # Errors
    /// The filter or the length of the queue exceeds a limit, or there are too many consumers.
    pub fn sets(
        self,
        callback: impl Fn(&[Arc<Event>]) -> Result<(), SystemException> + Send + Sync + 'static,
    ) -> Result<Subscription, EventError> {
        let cancelled = self.cancelled;
        let exit = Exit::Sink(Box::new(Callback { callback, cancelled }));
        let consumer = self.core.subscribe(self.filter, self.qos, exit)?;
        Ok(Subscription {
            core: self.core,
            consumer,
        })
    }

    /// Lets the program take the events when it chooses; no thread of the channel is involved.
    ///
    /// # Errors
    /// The filter or the length of the queue exceeds a limit, or there are too many consumers.
    pub fn receiver(self) -> Result<Receiver<C>, EventError> {
        let consumer = self.core.subscribe(self.filter, self.qos, Exit::Receiver)?;
        Ok(Receiver {
            subscription: Subscription {
                core: self.core,
                consumer,
            },
            content: PhantomData,
        })
    }
}

struct Callback<F> {
    callback: F,
    cancelled: Option<Cancelled>,
}

impl<F: Fn(&[Arc<Event>]) -> Result<(), SystemException> + Send + Sync> Sink for Callback<F> {
    fn deliver(&self, events: &[Arc<Event>]) -> Result<(), SystemException> {
        (self.callback)(events)
    }

    fn cancelled(&self, events: &[Arc<Event>]) {
        if let Some(callback) = &self.cancelled {
            callback(events);
        }
    }
}

fn malformed() -> SystemException {
    use punctual::{Completion, SystemExceptionKind};
    SystemException::new(SystemExceptionKind::Marshal, 0, Completion::No)
}

/// A subscription; dropping it ends it, without waiting for a callback that is being executed.
#[must_use = "the subscription ends when this is dropped"]
pub struct Subscription {
    core: Arc<Core>,
    pub(crate) consumer: Arc<Consumer>,
}

impl Subscription {
    /// Ignores events until [`resume`](Self::resume). Queued events are delivered.
    pub fn suspend(&self) {
        self.core.suspend(&self.consumer, true);
    }

    /// Accepts events again.
    pub fn resume(&self) {
        self.core.suspend(&self.consumer, false);
    }

    /// Ends the subscription before it is dropped.
    pub(crate) fn end(&self) {
        self.core.unsubscribe(&self.consumer);
    }

    /// Returns the counters of the consumer.
    pub fn statistics(&self) -> crate::ConsumerStatistics {
        self.consumer.statistics()
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.end();
    }
}

/// A subscription whose events the program takes itself; dropping it ends the subscription.
pub struct Receiver<C> {
    subscription: Subscription,
    content: PhantomData<fn() -> C>,
}

impl<C: Content> Receiver<C> {
    /// Waits for the next event without a deadline; `None`: the channel has ended. Events without the
    /// expected content are skipped.
    pub fn recv(&self) -> Option<C::Item> {
        self.next(|consumer| consumer.receive(None))
    }

    /// Waits for the next event; `None`: no event arrived in this time.
    pub fn recv_timeout(&self, timeout: Duration) -> Option<C::Item> {
        let deadline = later(Instant::now(), timeout);
        self.next(|consumer| consumer.receive(Some(deadline)))
    }

    /// Takes the next event, if there is one.
    pub fn try_recv(&self) -> Option<C::Item> {
        self.recv_timeout(Duration::ZERO)
    }

    /// The next event, as a future for any executor; `None`: the channel has ended.
    pub async fn recv_async(&self) -> Option<C::Item> {
        loop {
            let consumer = &self.subscription.consumer;
            let event = poll_fn(|context| consumer.poll_receive(context.waker())).await?;
            if let Ok(item) = C::read(event) {
                return Some(item);
            }
        }
    }

    /// The subscription, for its counters and its suspension.
    pub fn subscription(&self) -> &Subscription {
        &self.subscription
    }

    fn next(&self, receive: impl Fn(&Consumer) -> Option<Arc<Event>>) -> Option<C::Item> {
        loop {
            if let Ok(item) = C::read(receive(&self.subscription.consumer)?) {
                return Some(item);
            }
        }
    }
}
