//! Proxies: the channel's side of a connected consumer or supplier.

use std::{
    cell::Cell,
    sync::{Arc, Weak},
};

use punctual::{Interface, Ior, Skeleton, SystemException, rt::Upcall};
use punctual_giop::{Component, IiopProfile, TAG_INTERNET_IOP};
use punctual_os::PiMutex;

use super::{Host, Proxy, federation};
use crate::{
    EventError, EventType, Filter,
    consumer::{Answer, Consumer, ConsumerQos, Exit, Sink, UNTIMED},
    error::{gone, limit_exceeded},
    rtec::punctual_events::{
        ExportTotals, NamedConsumer, NamedConsumerRef, NamedSupplier, NamedSupplierRef, QueuedConsumerRef,
    },
    rtec::rtec_event_channel_admin::{
        AlreadyConnected, ConsumerQosView, ProxyPushConsumer, ProxyPushConsumerRef, ProxyPushSupplier,
        ProxyPushSupplierRef, SupplierQosView, TypeError, proxy_push_consumer::ConnectPushSupplierError,
        proxy_push_supplier::ConnectPushConsumerError,
    },
    rtec::rtec_event_comm::{Event, EventView, PushConsumer, PushConsumerRef, PushSupplier, PushSupplierRef},
    suppliers::Supplier,
    time,
};

/// The proxy that a consumer connects to.
pub(super) struct PushSupplierProxy {
    host: Arc<Host>,
    state: PiMutex<SupplierState>,
}

#[derive(Default)]
struct SupplierState {
    reference: Option<ProxyPushSupplierRef>,
    consumer: Option<Arc<Consumer>>,
    is_suspended: bool,
}

impl SupplierState {
    fn is_unconnected(&self) -> bool {
        self.reference.is_some() && self.consumer.is_none()
    }

    /// The consumer, and whether it is to be suspended; `None`: there is none, or that is `applied` already.
    fn wanted(&self, applied: Option<bool>) -> Option<(Arc<Consumer>, bool)> {
        let consumer = self.consumer.clone()?;
        (applied != Some(self.is_suspended)).then_some((consumer, self.is_suspended))
    }
}

impl PushSupplierProxy {
    pub(super) fn activate(host: &Arc<Host>) -> Result<(Arc<Self>, ProxyPushSupplierRef), SystemException> {
        let proxy = Arc::new(Self {
            host: Arc::clone(host),
            state: PiMutex::default(),
        });
        let reference: NamedSupplierRef = host
            .poa
            .activate(SupplierHandle(Arc::clone(&proxy)))
            .map_err(|_| limit_exceeded())?;
        let reference = ProxyPushSupplierRef::from_object(reference.as_object().clone());
        proxy.state.lock().reference = Some(reference.clone());
        let unconnected: Weak<Self> = Arc::downgrade(&proxy);
        host.add_unconnected(unconnected);
        Ok((proxy, reference))
    }

    /// Connects the consumer, which has subscribed; it is unsubscribed if the proxy has ended since, or
    /// another one is connected.
    pub(super) fn complete_connection(
        &self,
        consumer: Arc<Consumer>,
    ) -> Result<(), ConnectPushConsumerError> {
        let core = &self.host.channel.core;
        let mut state = self.state.lock();
        if !state.is_unconnected() {
            let has_ended = state.reference.is_none();
            drop(state);
            core.unsubscribe(&consumer);
            return Err(match has_ended {
                true => gone().into(),
                false => AlreadyConnected {}.into(),
            });
        }
        // Without the thread, failed deliveries still find the dead.
        let _ = core.watch_consumers();
        consumer.suspend(state.is_suspended);
        state.consumer = Some(consumer);
        Ok(())
    }

    /// Removes the object, and returns its consumer; `None`: it has been removed before.
    fn end(&self) -> Option<Option<Arc<Consumer>>> {
        self.end_if(|_| true)
    }

    /// Like [`end`](Self::end), if the state permits it.
    fn end_if(&self, permits: impl Fn(&SupplierState) -> bool) -> Option<Option<Arc<Consumer>>> {
        let state = {
            let mut state = self.state.lock();
            permits(&state).then(|| std::mem::take(&mut *state))?
        };
        let reference = state.reference?;
        self.host.release_proxy();
        // Inside an upcall this does not wait.
        let _ = self.host.poa.deactivate(&reference);
        Some(state.consumer)
    }
}

impl Proxy for PushSupplierProxy {
    fn is_unconnected(&self) -> bool {
        self.state.lock().is_unconnected()
    }

    fn end_unconnected(&self) -> bool {
        self.end_if(SupplierState::is_unconnected).is_some()
    }
}

struct SupplierHandle(Arc<PushSupplierProxy>);

impl PushSupplier for SupplierHandle {
    fn disconnect_push_supplier(&self) -> Result<(), SystemException> {
        let consumer = self.0.end().ok_or_else(gone)?;
        if let Some(consumer) = consumer {
            self.0.host.channel.core.unsubscribe(&consumer);
        }
        Ok(())
    }
}

impl ProxyPushSupplier for SupplierHandle {
    fn connect_push_consumer(
        &self,
        consumer: Option<PushConsumerRef>,
        qos: ConsumerQosView<'_>,
    ) -> Result<(), ConnectPushConsumerError> {
        let Self(proxy) = self;
        let core = &proxy.host.channel.core;
        let malformed = || {
            core.counters.refusals.count_malformed();
            TypeError {}
        };
        let consumer = consumer.ok_or_else(malformed)?;
        let filter = Filter::from_dependencies(qos.dependencies).map_err(|_| malformed())?;
        if proxy.state.lock().consumer.is_some() {
            return Err(AlreadyConnected {}.into());
        }
        let settings = ConsumerQos {
            name: address(consumer.as_object().ior()).unwrap_or_else(|| "remote".to_owned()),
            priority: proxy.host.caller_priority(),
            queue: core.default_queue.events,
            octets: core.limits.octets.queue,
            overflow: core.default_queue.overflow,
            is_gateway: qos.is_gateway,
            timing: UNTIMED,
            rt_infos: rt_infos(&qos),
        };
        let timed = consumer.as_object().with_timeout(core.limits.send_timeout);
        let exit = Exit::Sink(Box::new(RemoteConsumer {
            reference: PushConsumerRef::from_object(timed),
            proxy: Arc::downgrade(proxy),
        }));
        let consumer = core
            .subscribe(filter, settings, exit)
            .map_err(|error| match error {
                EventError::Filter(_) => TypeError {}.into(),
                EventError::Destroyed => ConnectPushConsumerError::from(gone()),
                _ => limit_exceeded().into(),
            })?;
        proxy.complete_connection(consumer)
    }

    fn suspend_connection(&self) -> Result<(), SystemException> {
        self.suspend(true)
    }

    fn resume_connection(&self) -> Result<(), SystemException> {
        self.suspend(false)
    }
}

/// Address of an object, by which its consumer or supplier is known until it has a name.
fn address(ior: &Ior) -> Option<String> {
    let iiop = ior
        .profiles
        .iter()
        .find(|profile| profile.tag == TAG_INTERNET_IOP);
    let profile = IiopProfile::decode(iiop?).ok()?;
    // An object that is reached over TLS only states no other port.
    let over_tls = profile
        .components
        .iter()
        .find_map(|component| match Component::decode(component) {
            Ok(Component::Ssl(ssl)) => Some(ssl.port),
            _ => None,
        });
    let port = Some(profile.port).filter(|port| *port != 0).or(over_tls)?;
    (profile.host.len() < federation::NAME).then(|| format!("{}:{port}", profile.host))
}

/// The handles that a subscription states, each once; 0 is none.
fn rt_infos(qos: &ConsumerQosView<'_>) -> Vec<i32> {
    let stated = qos.dependencies.iter().map(|one| one.rt_info);
    let mut stated: Vec<_> = stated.filter(|rt_info| *rt_info != 0).collect();
    stated.sort_unstable();
    stated.dedup();
    stated
}

impl NamedSupplier for SupplierHandle {
    fn set_name(&self, name: &str) -> Result<(), SystemException> {
        federation::check(&self.0.host, name)?;
        let consumer = self.consumer()?;
        self.0.host.channel.core.name_consumer(&consumer, name);
        Ok(())
    }

    fn priority(&self) -> Result<i16, SystemException> {
        Ok(self.consumer()?.priority().value())
    }

    fn report(&self, totals: &ExportTotals) -> Result<(), SystemException> {
        self.consumer()?.report_export(totals);
        Ok(())
    }
}

impl SupplierHandle {
    fn consumer(&self) -> Result<Arc<Consumer>, SystemException> {
        self.0.state.lock().consumer.clone().ok_or_else(gone)
    }

    fn suspend(&self, suspended: bool) -> Result<(), SystemException> {
        self.0.state.lock().is_suspended = suspended;
        let wanted = |applied| self.0.state.lock().wanted(applied);
        let mut applied = None;
        // Without the lock: the channel may end this proxy. What another thread sets meanwhile counts.
        while let Some((consumer, wanted)) = wanted(applied) {
            self.0.host.channel.core.suspend(&consumer, wanted);
            applied = Some(wanted);
        }
        Ok(())
    }
}

thread_local! {
    /// Whether this thread delivers to a consumer outside: what it pushes meanwhile comes from an object of
    /// the same ORB.
    static DELIVERS: Cell<bool> = const { Cell::new(false) };
}

/// Ends a delivery.
struct Restored(bool);

impl Drop for Restored {
    fn drop(&mut self) {
        DELIVERS.set(self.0);
    }
}

/// A consumer in another process.
struct RemoteConsumer {
    reference: PushConsumerRef,
    proxy: Weak<PushSupplierProxy>,
}

impl Sink for RemoteConsumer {
    fn deliver(&self, events: &[Arc<Event>]) -> Result<(), SystemException> {
        use punctual::rt::{Encode, Phase};
        let sent = time::now();
        let before = DELIVERS.replace(true);
        let _restored = Restored(before);
        // As the generated `push`, without a copy of the events into one sequence.
        self.reference.as_object().oneway("push", |phase| {
            let Phase::Arguments(encoder) = phase else {
                return Ok(());
            };
            encoder.length(events.len())?;
            for event in events {
                let mut header = event.header.clone();
                header.ec_send_time = sent;
                header.encode(encoder)?;
                event.data.encode(encoder)?;
            }
            Ok(())
        })
    }

    fn ping(&self) -> Option<Result<Answer, SystemException>> {
        let object = self.reference.as_object();
        Some(match object.ior().type_id == QueuedConsumerRef::REPOSITORY_ID {
            true => {
                let lost = QueuedConsumerRef::from_object(object.clone()).lost();
                lost.map(|lost| Answer::Exists { lost })
            }
            false => object.non_existent().map(|gone| match gone {
                true => Answer::Gone,
                false => Answer::Exists { lost: 0 },
            }),
        })
    }

    fn disconnected(&self) {
        // It may have ended: no other party has to learn of it.
        let _ = self.reference.disconnect_push_consumer();
    }

    fn disconnected_by_limit(&self) {
        if let Some(proxy) = self.proxy.upgrade() {
            proxy.end();
        }
    }
}

/// The proxy that a supplier connects to and pushes to.
pub(super) struct PushConsumerProxy {
    host: Arc<Host>,
    supplier: Arc<Supplier>,
    state: PiMutex<ConsumerState>,
}

#[derive(Default)]
struct ConsumerState {
    reference: Option<ProxyPushConsumerRef>,
    connection: Connection,
}

/// Whether a supplier has connected to a proxy.
#[derive(Default)]
enum Connection {
    #[default]
    None,
    /// Observers are being told of it. If it disconnects meanwhile, the thread that tells them takes that
    /// back.
    Connecting,
    /// Types that it has announced.
    Connected(Vec<EventType>),
}

impl ConsumerState {
    fn is_unconnected(&self) -> bool {
        self.reference.is_some() && matches!(self.connection, Connection::None)
    }
}

impl PushConsumerProxy {
    /// Creates one and its object.
    pub(super) fn activate(host: &Arc<Host>) -> Result<(Arc<Self>, ProxyPushConsumerRef), SystemException> {
        let proxy = Arc::new(Self {
            host: Arc::clone(host),
            supplier: host.channel.core.counters.suppliers.enter(),
            state: PiMutex::default(),
        });
        let reference: NamedConsumerRef = host
            .poa
            .activate(Identified(ConsumerHandle(Arc::clone(&proxy))))
            .map_err(|_| limit_exceeded())
            .inspect_err(|_| host.channel.core.counters.suppliers.leave(&proxy.supplier))?;
        let reference = ProxyPushConsumerRef::from_object(reference.as_object().clone());
        proxy.state.lock().reference = Some(reference.clone());
        let unconnected: Weak<Self> = Arc::downgrade(&proxy);
        host.add_unconnected(unconnected);
        Ok((proxy, reference))
    }

    /// Reserves the proxy for a supplier.
    pub(super) fn begin_connection(&self) -> Result<(), ConnectPushSupplierError> {
        let mut state = self.state.lock();
        match (&state.reference, &state.connection) {
            (None, _) => Err(gone().into()),
            (Some(_), Connection::None) => {
                state.connection = Connection::Connecting;
                Ok(())
            }
            (Some(_), _) => Err(AlreadyConnected {}.into()),
        }
    }

    /// Connects the supplier, whose object has this address if there is one, and whose types have been
    /// published if that `was_admitted`. If it has disconnected since the begin, they are published no more.
    pub(super) fn complete_connection(
        &self,
        types: Vec<EventType>,
        object: Option<String>,
        was_admitted: bool,
    ) -> Result<(), ConnectPushSupplierError> {
        let core = &self.host.channel.core;
        let mut state = self.state.lock();
        if state.reference.is_none() {
            drop(state);
            if was_admitted {
                core.observers.publishes_no_more(&types);
            }
            return Err(gone().into());
        }
        if !was_admitted {
            state.connection = Connection::None;
            return Err(self.host.refuse().into());
        }
        state.connection = Connection::Connected(types);
        self.supplier.connect(object);
        Ok(())
    }

    /// Removes the object; returns whether it existed.
    pub(super) fn end(&self) -> bool {
        self.end_if(|_| true)
    }

    /// Like [`end`](Self::end), if the state permits it.
    fn end_if(&self, permits: impl Fn(&ConsumerState) -> bool) -> bool {
        let state = {
            let mut state = self.state.lock();
            if !permits(&state) {
                return false;
            }
            std::mem::take(&mut *state)
        };
        let Some(reference) = state.reference else {
            return false;
        };
        let core = &self.host.channel.core;
        if let Connection::Connected(types) = state.connection {
            core.observers.publishes_no_more(&types);
        }
        core.counters.suppliers.leave(&self.supplier);
        self.host.release_proxy();
        // Inside an upcall this does not wait.
        let _ = self.host.poa.deactivate(&reference);
        true
    }
}

impl Proxy for PushConsumerProxy {
    fn is_unconnected(&self) -> bool {
        self.state.lock().is_unconnected()
    }

    fn end_unconnected(&self) -> bool {
        self.end_if(ConsumerState::is_unconnected)
    }
}

struct ConsumerHandle(Arc<PushConsumerProxy>);

impl PushConsumer for ConsumerHandle {
    fn push(&self, data: &[EventView<'_>]) -> Result<(), SystemException> {
        let PushConsumerProxy { host, supplier, .. } = &*self.0;
        let core = &host.channel.core;
        supplier.count_pushed(data.len() as u64);
        // A consumer that is a supplier's proxy of this channel, on purpose or not, is a gateway to itself.
        let passed = i32::from(DELIVERS.get());
        for view in data {
            let ttl = view.header.ttl.saturating_sub(passed);
            if passed > 0 && ttl < 0 {
                core.count_refused();
                supplier.count_refused();
                continue;
            }
            let pushed = core.push_view(supplier, view, ttl);
            match pushed {
                Ok(_) => {}
                Err(EventError::Destroyed) => return Err(gone()),
                // Counted; the other events of the set do not suffer.
                Err(_) => supplier.count_refused(),
            }
        }
        Ok(())
    }

    fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        match self.0.end() {
            true => Ok(()),
            false => Err(gone()),
        }
    }
}

impl ProxyPushConsumer for ConsumerHandle {
    fn connect_push_supplier(
        &self,
        supplier: Option<PushSupplierRef>,
        qos: SupplierQosView<'_>,
    ) -> Result<(), ConnectPushSupplierError> {
        let Self(proxy) = self;
        let core = &proxy.host.channel.core;
        if qos.publications.len() > core.limits.filter.elements {
            return Err(proxy.host.refuse().into());
        }
        let types: Vec<EventType> = match qos.is_gateway {
            true => Vec::new(),
            false => qos
                .publications
                .iter()
                .map(|one| EventType(one.event.header.r#type))
                .collect(),
        };
        proxy.begin_connection()?;
        let was_admitted = core.observers.publishes(&types);
        let object = supplier.and_then(|supplier| address(supplier.as_object().ior()));
        proxy.complete_connection(types, object, was_admitted)
    }
}

impl NamedConsumer for ConsumerHandle {
    fn set_name(&self, name: &str) -> Result<(), SystemException> {
        federation::check(&self.0.host, name)?;
        self.0.supplier.set_name(name);
        Ok(())
    }
}

/// A servant that tells its supplier where requests come from.
struct Identified(ConsumerHandle);

impl Skeleton<Identified> for NamedConsumerRef {
    const VALUES_ON_STACK: usize = <Self as Skeleton<ConsumerHandle>>::VALUES_ON_STACK;

    fn dispatch(servant: &Identified, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
        let Identified(handle) = servant;
        handle.0.supplier.called_from(upcall.peer());
        <Self as Skeleton<ConsumerHandle>>::dispatch(handle, upcall)
    }
}

#[cfg(test)]
mod tests {
    use punctual_giop::{SslTransport, Version};

    use super::*;

    fn reached_at(port: u16, over_tls: Option<u16>) -> Option<String> {
        let ssl = over_tls.map(|port| SslTransport {
            port,
            ..SslTransport::default()
        });
        let profile = IiopProfile {
            version: Version::V1_2,
            host: "radar".into(),
            port,
            object_key: b"consumer".into(),
            components: ssl
                .map(|ssl| Component::Ssl(ssl).encode().unwrap())
                .into_iter()
                .collect(),
        };
        address(&Ior {
            type_id: "".into(),
            profiles: vec![profile.encode().unwrap()],
        })
    }

    #[test]
    fn consumers_without_a_name_are_known_by_an_address_that_can_be_reached() {
        assert_eq!(reached_at(2809, None).as_deref(), Some("radar:2809"));
        assert_eq!(reached_at(2809, Some(2810)).as_deref(), Some("radar:2809"));
        assert_eq!(reached_at(0, Some(2810)).as_deref(), Some("radar:2810"));
        assert_eq!(reached_at(0, None), None);
    }
}
