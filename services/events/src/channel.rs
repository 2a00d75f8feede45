//! The channel: events in, filtered and queued for each consumer.

mod builder;
mod federation;
mod outboxes;
mod routing;

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Instant,
};

use punctual::{Priority, any::Kind, at_priority};
use punctual_dispatch::Timing;
use punctual_os::{PiMutex, clock::later};

use self::federation::Federation;
use crate::{
    ChannelLimits, ChannelStatistics, ConsumerStatistics, EventError, EventType, Filter, Lane,
    consumer::{Consumer, ConsumerQos, Exit, UndeliveredCounters},
    dispatching::{NewLanes, Threads},
    filter::{FilterTree, Stimulus},
    gateway::{Counters as GatewayCounters, Imported},
    identity::{Origin, Seen},
    liveness::{Liveness, Questioner},
    observers::{Observed, Observers},
    pool::{self, EventPool},
    routes::{Routes, Subscription, Subscriptions},
    rtec::{
        rtec_event_channel_admin::ObserverRef,
        rtec_event_comm::{Event, EventHeader, EventView},
    },
    schedule::FollowedSchedule,
    settings::QueueSettings,
    statistics::RefusalCounters,
    suppliers::{Supplier, Suppliers},
    time,
    timers::{TimeoutSource, Timers},
};

pub use builder::ChannelBuilder;

/// A real-time event channel in this process. A handle: clones refer to the same channel.
///
/// Suppliers [publish](Self::publish), consumers [subscribe](Self::subscribe), and [`serve`](Self::serve)
/// makes it an object of an ORB for those of other processes.
///
/// ```
/// use punctual_events::{EventChannel, Filter, EventType};
///
/// let channel = EventChannel::builder().build()?;
/// let alarms = channel.subscribe_to(Filter::event(EventType(17))).receiver()?;
/// channel.push_octets(EventType(17), b"hot")?;
/// assert_eq!(alarms.try_recv().unwrap().data.payload, b"hot");
/// # Ok::<(), punctual_events::EventError>(())
/// ```
#[derive(Clone)]
pub struct EventChannel {
    pub(crate) core: Arc<Core>,
}

pub(crate) struct Core {
    pub(crate) name: String,
    pub(crate) limits: ChannelLimits,
    /// Queue of consumers that state no other.
    pub(crate) default_queue: QueueSettings,
    pub(crate) threads: Threads,
    pub(crate) timers: Arc<Timers>,
    liveness: Arc<Liveness>,
    pub(crate) pool: EventPool,
    pub(crate) observers: Observers,
    federation: Federation,
    subscriptions: PiMutex<Subscriptions>,
    routes: PiMutex<Arc<Routes>>,
    pub(crate) schedule: FollowedSchedule,
    is_destroyed: AtomicBool,
    built: Instant,
    pub(crate) counters: Counters,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    received: AtomicU64,
    unmatched: AtomicU64,
    refused: AtomicU64,
    timeouts: AtomicU64,
    disconnected: AtomicU64,
    last_disconnected: PiMutex<Option<ConsumerStatistics>>,
    /// Sums over all consumers.
    totals: Arc<UndeliveredCounters>,
    pub(crate) refusals: RefusalCounters,
    pub(crate) suppliers: Suppliers,
}

impl EventChannel {
    /// Begins to build a channel.
    pub fn builder() -> ChannelBuilder {
        ChannelBuilder::new()
    }

    /// Pushes an event with octets as its payload, from source 0. Returns the number of consumers that will
    /// get it; consumers of lanes below its highest one count if their filters name its type.
    ///
    /// # Errors
    /// The channel has been destroyed, or the payload exceeds its limit.
    pub fn push_octets(&self, event_type: EventType, payload: &[u8]) -> Result<usize, EventError> {
        self.core.push(|event| {
            event.header.r#type = event_type.0;
            event.data.payload.extend_from_slice(payload);
            Ok(())
        })
    }

    /// Pushes an unchanged copy of an event, except for the time of its receipt. Returns the number of
    /// consumers that will get it, as [`Self::push_octets`] does.
    ///
    /// # Errors
    /// The channel has been destroyed, or the payload exceeds its limit.
    pub fn push_event(&self, source: &Event) -> Result<usize, EventError> {
        self.core.push(|event| {
            copy(event, source, source.header.ttl);
            Ok(())
        })
    }

    /// Replaces the lanes and changes priorities of consumers in operation, for example by those of a new
    /// schedule. `priority` states that of a consumer, usually by its name; `None`: as before. No event is
    /// lost or overtaken: a thread that delivers finishes its turn, and waiting events are delivered in the
    /// new lane of the consumer.
    ///
    /// # Errors
    /// [`EventError::WithoutLanes`], and as for [`ChannelBuilder::build`]. Consumers keep their priorities
    /// then; the lanes have changed only if a thread could not be started.
    ///
    /// ```
    /// use punctual::Priority;
    /// use punctual_events::{EventChannel, EventType, Filter, Lane};
    ///
    /// let channel = EventChannel::builder().lane(Priority::MIN, 1).build()?;
    /// let log = channel.subscribe_to(Filter::event(EventType(17))).name("log").each(|_| {})?;
    /// let lanes = [Priority::MIN, Priority::MAX].map(|priority| Lane::new(priority, 1));
    /// channel.reconfigure(lanes, |consumer| (consumer.name == "log").then_some(lanes[1].priority))?;
    /// assert_eq!(log.statistics().priority, lanes[1].priority);
    /// # Ok::<(), punctual_events::EventError>(())
    /// ```
    pub fn reconfigure(
        &self,
        lanes: impl IntoIterator<Item = Lane>,
        priority: impl Fn(&ConsumerStatistics) -> Option<Priority>,
    ) -> Result<(), EventError> {
        self.core.schedule.replace(None);
        let lanes = NewLanes::Own(lanes.into_iter().collect());
        self.core.reconfigure(lanes, |consumer| {
            priority(&consumer.statistics()).map(|priority| (priority, None))
        })
    }

    /// Returns counters of the channel and of each consumer.
    pub fn statistics(&self) -> ChannelStatistics {
        self.core.statistics()
    }

    /// Disconnects all consumers and ends all threads of the channel. Tells consumers of other processes for
    /// [`ending`](ChannelLimits::ending) at most, and waits as long for callbacks that are being executed.
    pub fn destroy(&self) {
        self.core.destroy();
    }

    /// Whether the channel has been destroyed.
    pub fn is_destroyed(&self) -> bool {
        self.core.is_destroyed()
    }
}

impl Core {
    /// Replaces the lanes. `place` states the priority of a consumer, and its timing if a schedule has one.
    pub(crate) fn reconfigure(
        self: &Arc<Self>,
        lanes: NewLanes,
        place: impl Fn(&Consumer) -> Option<(Priority, Option<Timing>)>,
    ) -> Result<(), EventError> {
        self.threads.reconfigure(lanes, &self.limits)?;
        self.place(place, true);
        Ok(())
    }

    /// Places consumers anew in the lanes, with the deliveries that wait. New lanes may serve in another
    /// order.
    fn place(
        self: &Arc<Self>,
        place: impl Fn(&Consumer) -> Option<(Priority, Option<Timing>)>,
        are_new: bool,
    ) {
        let mut exceeding = Vec::new();
        {
            let mut subscriptions = self.subscriptions.lock();
            let generation = subscriptions.next_generation();
            // What waits goes to the consumers before what is pushed with the new routes.
            for backlog in self.threads.backlogs() {
                backlog.supersede(generation);
                while self.offer_next(&backlog, &mut exceeding) {}
            }
            for consumer in subscriptions.consumers() {
                let (priority, timing) = place(consumer).unwrap_or((consumer.priority(), None));
                let level = self.threads.level(priority, timing.is_some());
                if consumer.reconfigure(priority, level, timing) || (are_new && consumer.is_timed()) {
                    self.threads.reschedule(consumer);
                }
            }
            *self.routes.lock() = self.routes(&subscriptions);
        }
        exceeding.iter().for_each(|consumer| self.expel(consumer));
    }

    /// Fills an event and routes it. Its header is empty before, but for the times.
    pub(crate) fn push(
        self: &Arc<Self>,
        fill: impl FnOnce(&mut Event) -> Result<(), EventError>,
    ) -> Result<usize, EventError> {
        self.push_of(None, fill)
    }

    /// Like [`push`](Self::push), for a supplier of another process.
    fn push_of(
        self: &Arc<Self>,
        supplier: Option<&Arc<Supplier>>,
        fill: impl FnOnce(&mut Event) -> Result<(), EventError>,
    ) -> Result<usize, EventError> {
        let event = self.admit(|event, received| {
            fill(event)?;
            event.header.ec_recv_time = received;
            Ok(())
        })?;
        if let Some(seen) = self.federation.seen() {
            seen.known(&event, Origin::Supplier);
        }
        Ok(self.route(&event, supplier))
    }

    /// Routes a copy of an event that a supplier has sent, with this `ttl`.
    pub(crate) fn push_view(
        self: &Arc<Self>,
        supplier: &Arc<Supplier>,
        view: &EventView<'_>,
        ttl: i32,
    ) -> Result<usize, EventError> {
        self.push_of(Some(supplier), |event| {
            copy_view(event, view, ttl);
            Ok(())
        })
    }

    /// Routes an event of another channel, which keeps the time when the first channel received it, unless it
    /// has none.
    pub(crate) fn push_imported(
        self: &Arc<Self>,
        fill: impl FnOnce(&mut Event),
    ) -> Result<Imported, EventError> {
        let event = self.admit(|event, received| {
            fill(event);
            if event.header.ec_recv_time == 0 {
                event.header.ec_recv_time = received;
            }
            Ok(())
        })?;
        Ok(match self.remember_events().known(&event, Origin::Gateway) {
            None => {
                self.route(&event, None);
                Imported::Passed
            }
            Some(Origin::Gateway) => Imported::Repeated,
            Some(Origin::Supplier) => Imported::Returned,
        })
    }

    /// Begins to remember events, unless it does so already.
    pub(crate) fn remember_events(&self) -> &Seen {
        self.federation.remember(self.limits.gateways.remembered)
    }

    /// An event as `fill` makes it, which gets a time of receipt that no other event has.
    fn admit(
        &self,
        fill: impl FnOnce(&mut Event, u64) -> Result<(), EventError>,
    ) -> Result<Arc<Event>, EventError> {
        if self.is_destroyed() {
            return Err(EventError::Destroyed);
        }
        self.pool.fill(|event| {
            let now = time::now();
            event.header = Default::default();
            event.header.ttl = 1;
            event.header.creation_time = now;
            fill(event, self.federation.stamps.next(now))?;
            if pool::octets(event) > self.limits.payload {
                self.count_refused();
                return Err(EventError::Call(crate::error::limit_exceeded()));
            }
            Ok(())
        })
    }

    /// Adds a consumer.
    pub(crate) fn subscribe(
        self: &Arc<Self>,
        filter: Filter,
        qos: ConsumerQos,
        exit: Exit,
    ) -> Result<Arc<Consumer>, EventError> {
        let subscribed = self.try_subscribe(filter, qos, exit);
        subscribed.inspect_err(|error| self.counters.refusals.count(error))
    }

    fn try_subscribe(
        self: &Arc<Self>,
        filter: Filter,
        qos: ConsumerQos,
        exit: Exit,
    ) -> Result<Arc<Consumer>, EventError> {
        let limits = &self.limits;
        filter.check(&limits.filter)?;
        if qos.queue == 0 || qos.queue > limits.queue {
            let (requested, limit) = (qos.queue, limits.queue);
            return Err(EventError::Queue { requested, limit });
        }
        let id = self.subscriptions.lock().next_id();
        let tree = FilterTree::new(&filter);
        let consumer = Arc::new(Consumer::new(id, qos, tree, exit, &self.counters.totals));
        {
            let mut subscriptions = self.subscriptions.lock();
            if self.is_destroyed() {
                return Err(EventError::Destroyed);
            }
            // Under the lock: neither lanes nor schedule change between this and the routes.
            let (priority, timing) = match self.schedule.place(&consumer) {
                Some((priority, timing)) => (priority, Some(timing)),
                None => (consumer.priority(), None),
            };
            let level = self.threads.level(priority, timing.is_some());
            consumer.reconfigure(priority, level, timing);
            subscriptions.check(&filter, limits.consumers, &limits.filter)?;
            if let Exit::Sink(_) = consumer.exit {
                self.threads.admit(&self.name, &consumer, limits.consumers)?;
            }
            subscriptions.add(Subscription {
                consumer: Arc::clone(&consumer),
                filter,
            });
            *self.routes.lock() = self.routes(&subscriptions);
        }
        if consumer.timers() > 0 {
            let source: Weak<Self> = Arc::downgrade(self);
            let armed = self.timers.add(source, &consumer);
            armed.inspect_err(|_| self.unsubscribe(&consumer))?;
        }
        self.observers.tell_consumers();
        Ok(consumer)
    }

    /// Names a consumer, and gives it the place that the schedule has for this name.
    pub(crate) fn name_consumer(self: &Arc<Self>, consumer: &Consumer, name: &str) {
        if consumer.set_name(name) && self.schedule.place(consumer).is_some() {
            let place = |one: &Consumer| {
                let (priority, timing) = self.schedule.place(one).filter(|_| one.id == consumer.id)?;
                Some((priority, Some(timing)))
            };
            self.place(place, false);
        }
    }

    /// Removes a consumer, without telling it.
    pub(crate) fn unsubscribe(&self, consumer: &Arc<Consumer>) {
        consumer.disconnect();
        if consumer.timers() > 0 {
            self.timers.remove(consumer);
        }
        let mut subscriptions = self.subscriptions.lock();
        let removed = subscriptions.remove(consumer);
        if removed.is_some() {
            let routes = self.routes(&subscriptions);
            let former = std::mem::replace(&mut *self.routes.lock(), routes);
            drop(subscriptions);
            drop(former);
            self.threads.release(consumer);
            self.observers.tell_consumers();
        }
    }

    /// Removes a consumer that exceeded a limit.
    fn expel(&self, consumer: &Arc<Consumer>) {
        if consumer.expel() {
            self.unsubscribe(consumer);
            if let Exit::Sink(sink) = &consumer.exit {
                sink.disconnected_by_limit();
            }
            self.counters.disconnected.fetch_add(1, Relaxed);
            *self.counters.last_disconnected.lock() = Some(consumer.statistics());
        }
    }

    /// Finds dead consumers from now on.
    pub(crate) fn watch_consumers(self: &Arc<Self>) -> Result<(), EventError> {
        let questioner: Weak<Self> = Arc::downgrade(self);
        self.liveness
            .start(questioner, &self.name, self.limits.tolerance.ping)
    }

    fn consumers(&self) -> Vec<Arc<Consumer>> {
        let subscriptions = self.subscriptions.lock();
        subscriptions.consumers().cloned().collect()
    }

    /// Adds an observer; `None`: there are too many.
    pub(crate) fn append_observer(self: &Arc<Self>, observer: ObserverRef) -> Option<u32> {
        let observed: Weak<Self> = Arc::downgrade(self);
        self.observers.append(observer, observed, &self.name)
    }

    pub(crate) fn count_refused(&self) {
        self.counters.refused.fetch_add(1, Relaxed);
    }

    pub(crate) fn is_destroyed(&self) -> bool {
        self.is_destroyed.load(Relaxed)
    }

    fn destroy(&self) {
        let subscriptions = {
            let mut subscriptions = self.subscriptions.lock();
            self.is_destroyed.store(true, Relaxed);
            *self.routes.lock() = Arc::default();
            std::mem::take(&mut *subscriptions)
        };
        self.threads.backlogs().iter().for_each(|backlog| backlog.clear());
        let deadline = later(Instant::now(), self.limits.ending);
        for consumer in subscriptions.consumers() {
            if consumer.disconnect()
                && let Exit::Sink(sink) = &consumer.exit
                && Instant::now() < deadline
            {
                at_priority(consumer.priority(), || sink.disconnected());
            }
        }
        self.timers.end(self.limits.ending);
        self.liveness.end();
        self.observers.end(self.limits.ending);
        self.threads.shutdown(self.limits.ending);
    }

    /// Shows a gateway to this channel in its statistics, as long as another owner holds it.
    pub(crate) fn show_gateway(&self, counters: &Arc<GatewayCounters>) {
        self.federation.show(counters);
    }

    pub(crate) fn statistics(&self) -> ChannelStatistics {
        let mut gateways = self.federation.statistics();
        let mut consumers: Vec<_> = {
            let subscriptions = self.subscriptions.lock();
            gateways.extend(subscriptions.consumers().filter_map(|one| one.export()));
            subscriptions.consumers().map(|one| one.statistics()).collect()
        };
        consumers.sort_by_key(|one| (std::cmp::Reverse(one.priority), one.id));
        ChannelStatistics {
            name: self.name.clone(),
            age: self.built.elapsed(),
            received: self.counters.received.load(Relaxed),
            unmatched: self.counters.unmatched.load(Relaxed),
            refused: self.counters.refused.load(Relaxed),
            deferred: self.threads.backlogs().iter().map(|one| one.len() as u64).sum(),
            timeouts: self.counters.timeouts.load(Relaxed),
            disconnected: self.counters.disconnected.load(Relaxed),
            last_disconnected: self.counters.last_disconnected.lock().clone(),
            undelivered: self.counters.totals.get(),
            refusals: self.counters.refusals.numbers(),
            suppliers: self.counters.suppliers.statistics(),
            observers: self.observers.number() as u64,
            consumers,
            gateways,
        }
    }
}

impl Questioner for Core {
    fn ask(&self) {
        for consumer in self.consumers() {
            if self.is_destroyed() {
                return;
            }
            if consumer.is_dead(&self.limits.tolerance) {
                self.expel(&consumer);
            }
        }
        for forgotten in self.federation.outboxes.unused(self.limits.gateways.kept_for) {
            self.expel(&forgotten);
        }
    }
}

impl Observed for Core {
    fn demand(&self) -> Filter {
        let subscriptions = self.subscriptions.lock();
        let own = subscriptions.iter().filter(|one| !one.consumer.qos.is_gateway);
        Filter::any_of(own.flat_map(|one| one.filter.wanted()))
    }
}

impl TimeoutSource for Core {
    fn time_out(self: Arc<Self>, consumer: &Arc<Consumer>, event_type: EventType, node: usize) {
        let filled = self.pool.fill(|event| {
            let now = time::now();
            event.header = EventHeader {
                r#type: event_type.0,
                creation_time: now,
                ec_recv_time: now,
                ..EventHeader::default()
            };
            Ok::<_, std::convert::Infallible>(())
        });
        let Ok(event) = filled;
        self.counters.timeouts.fetch_add(1, Relaxed);
        let timer = Some(node);
        let stimulus = Stimulus {
            event: &event,
            timer,
            supplier: None,
        };
        self.offer(consumer, stimulus);
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.destroy();
    }
}

/// Copies an event, with this `ttl`.
pub(crate) fn copy(event: &mut Event, source: &Event, ttl: i32) {
    event.header.clone_from(&source.header);
    event.header.ttl = ttl;
    event.data.pad1 = source.data.pad1;
    event.data.payload.extend_from_slice(&source.data.payload);
    event.data.any_value.clone_from(&source.data.any_value);
}

/// Like [`copy`].
pub(crate) fn copy_view(event: &mut Event, view: &EventView<'_>, ttl: i32) {
    event.header.clone_from(&view.header);
    event.header.ttl = ttl;
    event.data.pad1 = view.data.pad1;
    event.data.payload.extend_from_slice(view.data.payload);
    if view.data.any_value.type_code().kind() != Ok(Kind::Null) {
        event.data.any_value = view.data.any_value.to_owned();
    }
}
