//! A channel of another process, as its suppliers and consumers use it.

mod queue;
mod reach;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use punctual::{
    Interface, Minor, Poa, PolicyConflict, PolicyOverrides, Priority, SystemException, SystemExceptionKind,
    at_priority,
};

use self::queue::Queue;
use crate::{
    ConsumerStatistics, EventError, Filter, Overflow,
    error::gone,
    rtec::punctual_events::{NamedConsumerRef, NamedSupplierRef, QueuedConsumer, QueuedConsumerRef},
    rtec::rtec_event_channel_admin::{
        ConsumerQos, EventChannelRef, ProxyPushConsumerRef, ProxyPushSupplierRef, Publication, SupplierQos,
    },
    rtec::rtec_event_comm::{Event, EventView, PushConsumer, PushConsumerRef},
};

/// A channel of another process.
///
/// ```no_run
/// use punctual::Orb;
/// use punctual_events::{Filter, EventType, RemoteChannel};
///
/// let orb = Orb::builder().listen("iiop://localhost").build()?;
/// // The thread that receives events.
/// let pool = orb.threadpool().threads(1).build()?;
/// let poa = orb.root_poa().child("consumers").threadpool(&pool).build()?;
/// let channel = RemoteChannel::new(orb.resolve("corbaloc::localhost:2830/Events")?);
/// let alarms = channel.subscribe(&poa, &Filter::event(EventType(17)), |events| {
///     println!("{} alarms", events.len());
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RemoteChannel {
    pub(crate) reference: EventChannelRef,
}

impl RemoteChannel {
    /// Wraps a reference.
    pub fn new(reference: EventChannelRef) -> Self {
        Self { reference }
    }

    /// Subscribes to the events that a filter accepts. An object of `poa` receives them, on the threads of
    /// its pool; the channel delivers them with the priority of the calling thread.
    ///
    /// The callback runs on the thread that receives, which is the shortest way. While it is slower than the
    /// events arrive, the rest wait in the buffers of the sockets, megabytes of them, and get older and
    /// older: the queue of the channel, and its overflow rule, bound only what waits there. For a consumer
    /// that may be slow, state a queue in this process: [`consumer`](Self::consumer).
    ///
    /// # Errors
    /// The channel refuses the filter or another consumer, or a call fails.
    /// [`EventError::ConsumerWithoutLane`]: the pool of `poa` has lanes, but none of this priority.
    pub fn subscribe(
        &self,
        poa: &Poa,
        filter: &Filter,
        callback: impl Fn(&[EventView<'_>]) + Send + Sync + 'static,
    ) -> Result<RemoteSubscription, EventError> {
        self.connect(poa, filter, false, callback)
    }

    /// Begins a subscription to the events that a filter accepts, with settings that
    /// [`subscribe`](Self::subscribe) does not have.
    ///
    /// ```no_run
    /// use punctual::Orb;
    /// use punctual_events::{EventType, Filter, Overflow, RemoteChannel};
    ///
    /// let orb = Orb::builder().listen("iiop://localhost").build()?;
    /// let pool = orb.threadpool().threads(1).build()?;
    /// let poa = orb.root_poa().child("consumers").threadpool(&pool).build()?;
    /// let channel = RemoteChannel::new(orb.resolve("corbaloc::localhost:2830/Events")?);
    /// let tracks = channel.consumer(&Filter::event(EventType(16))).queue(2, Overflow::DropOldest);
    /// let display = tracks.subscribe(&poa, |_| {
    ///     // The newest two of the events that come meanwhile are next.
    ///     std::thread::sleep(std::time::Duration::from_millis(50));
    /// })?;
    /// println!("{:?}", display.statistics().map(|queue| queue.undelivered.lost));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn consumer(&self, filter: &Filter) -> RemoteSubscriptionBuilder {
        RemoteSubscriptionBuilder {
            channel: self.clone(),
            filter: filter.clone(),
            queue: None,
            rt_info: 0,
        }
    }

    /// Like [`subscribe`](Self::subscribe), but as a gateway: observers are not notified of it.
    pub(crate) fn connect(
        &self,
        poa: &Poa,
        filter: &Filter,
        is_gateway: bool,
        callback: impl Fn(&[EventView<'_>]) + Send + Sync + 'static,
    ) -> Result<RemoteSubscription, EventError> {
        let qos = ConsumerQos {
            dependencies: filter.to_dependencies(),
            is_gateway,
        };
        self.connect_queued(poa, &qos, None, callback)
    }

    /// Like [`connect`](Self::connect), for a callback that only fills the queue, if there is one.
    fn connect_queued(
        &self,
        poa: &Poa,
        qos: &ConsumerQos,
        queue: Option<Arc<Queue>>,
        callback: impl Fn(&[EventView<'_>]) + Send + Sync + 'static,
    ) -> Result<RemoteSubscription, EventError> {
        let is_over = Arc::new(AtomicBool::new(false));
        let admin = self.reference.for_consumers()?.ok_or_else(nil)?;
        let proxy = admin.obtain_push_supplier()?.ok_or_else(nil)?;
        let callback = Callback {
            receive: callback,
            is_over: Arc::clone(&is_over),
            queue: queue.clone(),
        };
        let consumer = match &queue {
            None => poa.activate(callback)?,
            Some(_) => {
                let consumer: QueuedConsumerRef = poa.activate(callback)?;
                PushConsumerRef::from_object(consumer.as_object().clone())
            }
        };
        let subscription = RemoteSubscription {
            proxy,
            poa: poa.clone(),
            consumer: consumer.clone(),
            is_over,
            queue,
        };
        let connected = subscription.proxy.connect_push_consumer(Some(&consumer), qos);
        connected.map_err(|error| EventError::Refused(error.to_string()))?;
        subscription.check_priority()?;
        reach::report(self.reference.as_object(), consumer.as_object());
        Ok(subscription)
    }

    /// Connects as a supplier of events of these types; if there are none, of any type.
    ///
    /// # Errors
    /// [`EventError::ReservedType`], the channel refuses another supplier, or a call fails.
    pub fn supplier(&self, types: &[crate::EventType]) -> Result<RemoteSupplier, EventError> {
        if let Some(reserved) = types.iter().find(|one| **one < crate::EventType::FIRST_USER) {
            return Err(EventError::ReservedType(*reserved));
        }
        self.connect_supplier(types, false)
    }

    /// Like [`supplier`](Self::supplier), or as a gateway, of which observers are not notified.
    pub(crate) fn connect_supplier(
        &self,
        types: &[crate::EventType],
        is_gateway: bool,
    ) -> Result<RemoteSupplier, EventError> {
        let admin = self.reference.for_suppliers()?.ok_or_else(nil)?;
        let proxy = admin.obtain_push_consumer()?.ok_or_else(nil)?;
        let publication = |event_type: &crate::EventType| {
            let mut publication = Publication::default();
            publication.event.header.r#type = event_type.0;
            publication
        };
        let qos = SupplierQos {
            publications: types.iter().map(publication).collect(),
            is_gateway,
        };
        let connected = proxy.connect_push_supplier(None, &qos);
        connected.map_err(|error| EventError::Refused(error.to_string()))?;
        Ok(RemoteSupplier { proxy })
    }
}

pub(crate) fn nil() -> EventError {
    EventError::Refused("it returned no object".to_owned())
}

struct Callback<F> {
    receive: F,
    is_over: Arc<AtomicBool>,
    queue: Option<Arc<Queue>>,
}

impl<F: Fn(&[EventView<'_>]) + Send + Sync + 'static> PushConsumer for Callback<F> {
    fn push(&self, events: &[EventView<'_>]) -> Result<(), SystemException> {
        (self.receive)(events);
        Ok(())
    }

    fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        self.is_over.store(true, Relaxed);
        Ok(())
    }
}

impl<F: Fn(&[EventView<'_>]) + Send + Sync + 'static> QueuedConsumer for Callback<F> {
    fn lost(&self) -> Result<u64, SystemException> {
        match &self.queue {
            // The channel disconnects it.
            Some(queue) if queue.is_over() => Err(gone()),
            Some(queue) => Ok(queue.statistics().undelivered.lost),
            None => Ok(0),
        }
    }
}

/// Settings of a subscription to a channel of another process: [`RemoteChannel::consumer`] has an example.
#[must_use = "a subscription begins with `subscribe`"]
pub struct RemoteSubscriptionBuilder {
    channel: RemoteChannel,
    filter: Filter,
    queue: Option<(usize, Overflow)>,
    rt_info: i32,
}

impl RemoteSubscriptionBuilder {
    /// Makes events wait in a queue in this process, of this length and with this overflow rule, until a
    /// thread of the queue has called the callback, with one event, or one set of a conjunction, at a time.
    /// The thread has the priority at which the channel delivers (the lowest, if that is a channel of another
    /// vendor), and the scheduling of the ORB's lanes. The thread that receives only fills the queue: it is
    /// free for further events, and to answer that the consumer exists. The rule also applies beyond
    /// [`OctetLimits::queue`](crate::OctetLimits::queue) (4 MiB). Default: no queue, and the callback runs on
    /// the thread that receives.
    ///
    /// Under [`Overflow::Block`] the thread that receives waits for room, and the sockets fill meanwhile.
    /// Under [`Overflow::Disconnect`] the subscription ends: [`RemoteSubscription::is_connected`] is false.
    pub fn queue(mut self, events: usize, overflow: Overflow) -> Self {
        self.queue = Some((events, overflow));
        self
    }

    /// Identifies the operation that the events start by its handle in the scheduling service, as
    /// `RtecScheduler::Scheduler::create` returns it: the schedule that the channel
    /// [follows](crate::EventChannel::follow) gives this consumer its priority. TAO's channels accept it,
    /// too. Default: 0, none.
    pub fn rt_info(mut self, handle: i32) -> Self {
        self.rt_info = handle;
        self
    }

    /// Subscribes, as [`RemoteChannel::subscribe`] does.
    ///
    /// # Errors
    /// As for [`RemoteChannel::subscribe`]. The queue is longer than 65,536 events, the default of
    /// [`ChannelLimits::queue`](crate::ChannelLimits::queue), or its thread cannot be started.
    pub fn subscribe(
        self,
        poa: &Poa,
        callback: impl Fn(&[EventView<'_>]) + Send + Sync + 'static,
    ) -> Result<RemoteSubscription, EventError> {
        let Self {
            channel,
            filter,
            queue,
            rt_info,
        } = self;
        let mut qos = ConsumerQos {
            dependencies: filter.to_dependencies(),
            is_gateway: false,
        };
        qos.dependencies.iter_mut().for_each(|one| one.rt_info = rt_info);
        let Some((events, overflow)) = queue else {
            return channel.connect_queued(poa, &qos, None, callback);
        };
        let queue = Arc::new(Queue::start(poa, &filter, (events, overflow), callback)?);
        let filled = Arc::clone(&queue);
        channel.connect_queued(poa, &qos, Some(queue), move |events| filled.push(events))
    }
}

/// A subscription to a channel of another process; dropping it ends it, without waiting for a callback of a
/// queue that is being executed.
#[must_use = "the subscription ends when this is dropped"]
pub struct RemoteSubscription {
    proxy: ProxyPushSupplierRef,
    poa: Poa,
    consumer: PushConsumerRef,
    is_over: Arc<AtomicBool>,
    /// Queue between the thread that receives and the callback.
    queue: Option<Arc<Queue>>,
}

impl RemoteSubscription {
    /// Queries whether the channel still delivers. `false`: it has been destroyed, or has disconnected this
    /// consumer because of one of its limits.
    ///
    /// # Errors
    /// The call fails: the channel's process has ended, or is too busy.
    /// [`EventError::ConsumerUnserved`]: no thread of this process has called `Orb::run` yet.
    pub fn is_connected(&self) -> Result<bool, EventError> {
        let is_called_back = self.proxy.as_object().policies_in_force().bidirectional;
        if !self.poa.is_served() && !is_called_back {
            return Err(EventError::ConsumerUnserved);
        }
        let is_over = self.is_over.load(Relaxed) || self.queue.as_ref().is_some_and(|queue| queue.is_over());
        Ok(!is_over && !self.proxy.as_object().non_existent()?)
    }

    /// Returns the counters of its [queue](RemoteSubscriptionBuilder::queue) in this process; `None`: it has
    /// none. Those of its queue in the channel are among the
    /// [statistics of the channel](crate::ChannelStatistics::consumers), which also have what this one has
    /// [lost](crate::Undelivered::lost_at_consumer).
    ///
    /// [`RemoteChannel::consumer`] has an example.
    pub fn statistics(&self) -> Option<ConsumerStatistics> {
        self.queue.as_ref().map(|queue| queue.statistics())
    }

    /// Sets the name that the channel's statistics show, and by which a schedule that the channel
    /// [follows](crate::EventChannel::follow) gives this consumer its priority. The first name stays.
    ///
    /// # Errors
    /// The name is empty or has more than 256 octets, or the call fails: a channel of another vendor knows no
    /// names. [`EventError::ConsumerWithoutLane`]: the schedule has given the consumer a priority that no
    /// lane of its pool has.
    pub fn set_name(&self, name: &str) -> Result<(), EventError> {
        self.proxy().set_name(name)?;
        self.check_priority()
    }

    /// Examines whether a lane receives what the channel sends, and gives the queue the priority at which it
    /// sends.
    fn check_priority(&self) -> Result<(), EventError> {
        let priority = match self.proxy().priority() {
            Ok(priority) => priority,
            // A channel of another vendor does not tell.
            Err(error) if error.kind == SystemExceptionKind::BadOperation => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let Ok(priority) = Priority::new(priority) else {
            return Ok(());
        };
        let remote = self
            .consumer
            .as_object()
            .with_policies(PolicyOverrides::new().remote_only(true));
        let conflicts = at_priority(priority, || remote.inconsistent_policies());
        let lacks_lane = |conflict: &PolicyConflict| conflict.reason == Minor::NO_ENDPOINT_FOR_PRIORITY;
        match conflicts.iter().any(lacks_lane) {
            true => Err(EventError::ConsumerWithoutLane(priority)),
            false => self
                .queue
                .as_ref()
                .map_or(Ok(()), |queue| queue.deliver_at(priority)),
        }
    }

    /// The channel's side, of a channel of ours.
    pub(crate) fn proxy(&self) -> NamedSupplierRef {
        NamedSupplierRef::from_object(self.proxy.as_object().clone())
    }

    /// Receives nothing until [`resume`](Self::resume).
    ///
    /// # Errors
    /// The call fails.
    pub fn suspend(&self) -> Result<(), EventError> {
        Ok(self.proxy.suspend_connection()?)
    }

    /// Receives events again.
    ///
    /// # Errors
    /// The call fails.
    pub fn resume(&self) -> Result<(), EventError> {
        Ok(self.proxy.resume_connection()?)
    }
}

impl Drop for RemoteSubscription {
    fn drop(&mut self) {
        // The channel may have ended, and so may the ORB.
        let _ = self.proxy.disconnect_push_supplier();
        // A thread that waits for room, for which the adapter would wait, goes on.
        if let Some(queue) = &self.queue {
            queue.end();
        }
        let _ = self.poa.deactivate(&self.consumer);
    }
}

/// A supplier of a channel of another process; dropping it disconnects it.
pub struct RemoteSupplier {
    proxy: ProxyPushConsumerRef,
}

impl RemoteSupplier {
    /// Pushes a set of events; returns when they have been sent.
    ///
    /// # Errors
    /// They could not be sent.
    pub fn push(&self, events: &[Event]) -> Result<(), SystemException> {
        self.proxy.push(events)
    }

    /// Sets the name that the channel's [statistics](crate::ChannelStatistics::suppliers) show. The first name
    /// stays.
    ///
    /// # Errors
    /// The name is empty or has more than 256 octets, or the call fails: a channel of another vendor knows no
    /// names.
    pub fn set_name(&self, name: &str) -> Result<(), EventError> {
        let proxy = NamedConsumerRef::from_object(self.proxy.as_object().clone());
        Ok(proxy.set_name(name)?)
    }

    /// Waits until the channel has received the events that were pushed before.
    ///
    /// # Errors
    /// The channel does not answer.
    pub fn flush(&self) -> Result<(), SystemException> {
        self.proxy.as_object().non_existent().map(drop)
    }
}

impl Drop for RemoteSupplier {
    fn drop(&mut self) {
        // The channel may have ended.
        let _ = self.proxy.disconnect_push_consumer();
    }
}
