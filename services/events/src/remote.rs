//! A channel of another process, as its suppliers and consumers use it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use punctual::{
    Interface, Minor, Poa, PolicyConflict, PolicyOverrides, Priority, SystemException, SystemExceptionKind,
    at_priority,
};

use crate::{
    EventError, Filter,
    rtec::punctual_events::NamedSupplierRef,
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

    /// Like [`subscribe`](Self::subscribe), as a gateway: observers do not hear of it.
    pub(crate) fn connect(
        &self,
        poa: &Poa,
        filter: &Filter,
        is_gateway: bool,
        callback: impl Fn(&[EventView<'_>]) + Send + Sync + 'static,
    ) -> Result<RemoteSubscription, EventError> {
        let is_over = Arc::new(AtomicBool::new(false));
        let admin = self.reference.for_consumers()?.ok_or_else(nil)?;
        let proxy = admin.obtain_push_supplier()?.ok_or_else(nil)?;
        let consumer: PushConsumerRef = poa.activate(Callback {
            receive: callback,
            is_over: Arc::clone(&is_over),
        })?;
        let qos = ConsumerQos {
            dependencies: filter.to_dependencies(),
            is_gateway,
        };
        let subscription = RemoteSubscription {
            proxy,
            poa: poa.clone(),
            consumer: consumer.clone(),
            is_over,
        };
        let connected = subscription.proxy.connect_push_consumer(Some(&consumer), &qos);
        connected.map_err(|error| EventError::Refused(error.to_string()))?;
        subscription.check_lane()?;
        Ok(subscription)
    }

    /// Connects as a supplier of events of these types; none: of any type.
    ///
    /// # Errors
    /// [`EventError::ReservedType`], the channel refuses another supplier, or a call fails.
    pub fn supplier(&self, types: &[crate::EventType]) -> Result<RemoteSupplier, EventError> {
        if let Some(reserved) = types.iter().find(|one| **one < crate::EventType::FIRST_USER) {
            return Err(EventError::ReservedType(*reserved));
        }
        self.connect_supplier(types, false)
    }

    /// Like [`supplier`](Self::supplier), or as a gateway: observers do not hear of it.
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

/// A subscription to a channel of another process; dropping it ends it.
#[must_use = "the subscription ends when this is dropped"]
pub struct RemoteSubscription {
    proxy: ProxyPushSupplierRef,
    poa: Poa,
    consumer: PushConsumerRef,
    is_over: Arc<AtomicBool>,
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
        Ok(!self.is_over.load(Relaxed) && !self.proxy.as_object().non_existent()?)
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
        self.check_lane()
    }

    /// Examines whether a lane receives what the channel sends.
    fn check_lane(&self) -> Result<(), EventError> {
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
            false => Ok(()),
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
