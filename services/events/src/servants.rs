//! The channel as CORBA objects: admins, proxies, observers.

mod federation;
mod proxies;
#[cfg(test)]
mod tests;

use std::{
    collections::VecDeque,
    sync::{
        Arc, Weak,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use punctual::{Completion, Interface, Orb, Poa, Priority, SystemException, SystemExceptionKind};
use punctual_os::PiMutex;

use crate::{
    EventChannel, EventError,
    error::{gone, limit_exceeded},
    rtec::punctual_events::{
        Channel as FederatedChannel, ChannelRef, InboxRef, OutboxRef, channel::OpenOutboxError,
    },
    rtec::rtec_event_channel_admin::{
        ConsumerAdmin, ConsumerAdminRef, ConsumerQosView, EventChannel as ChannelServant, EventChannelRef,
        ObserverRef, ProxyPushConsumerRef, ProxyPushSupplierRef, SupplierAdmin, SupplierAdminRef,
        event_channel::{AppendObserverError, CantAppendObserver, CantRemoveObserver, RemoveObserverError},
    },
};

use federation::Federation;
use proxies::{PushConsumerProxy, PushSupplierProxy};

impl EventChannel {
    /// Makes the channel an object of an ORB, for suppliers and consumers of other processes. Push operations
    /// are served by the threads of the adapter's pool; consumers get the priority at which they connect.
    ///
    /// The adapter must choose the ids of its objects (no `user_ids`, and therefore no `persistent`). A
    /// published channel has the same URL in each run of the program.
    ///
    /// # Errors
    /// [`EventError::UserIds`]; the adapter refuses an object for another reason.
    ///
    /// ```
    /// use punctual::Orb;
    /// use punctual_events::EventChannel;
    ///
    /// let orb = Orb::builder().listen("iiop://localhost").build()?;
    /// let channel = EventChannel::builder().build()?;
    /// let served = channel.serve(&orb, &orb.root_poa())?;
    /// orb.publish("Events", served.reference())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn serve(&self, orb: &Orb, poa: &Poa) -> Result<Served, EventError> {
        let host = Arc::new(Host {
            channel: self.clone(),
            orb: orb.clone(),
            poa: poa.clone(),
            proxies: AtomicUsize::new(0),
            unconnected: PiMutex::default(),
        });
        let consumers: ConsumerAdminRef = poa.activate(ForConsumers(Arc::clone(&host)))?;
        let suppliers: SupplierAdminRef = poa.activate(ForSuppliers(Arc::clone(&host)))?;
        let servant = Channel {
            host,
            consumers: PiMutex::new(Some(consumers)),
            suppliers: PiMutex::new(Some(suppliers)),
            federation: Federation::default(),
        };
        let channel: ChannelRef = poa.activate(servant)?;
        let reference = EventChannelRef::from_object(channel.as_object().clone());
        Ok(Served { reference })
    }
}

/// A channel that is an object of an ORB.
#[derive(Clone, Debug)]
pub struct Served {
    reference: EventChannelRef,
}

impl Served {
    /// Returns the reference for clients.
    pub fn reference(&self) -> &EventChannelRef {
        &self.reference
    }
}

/// State that all servants of a channel share.
struct Host {
    channel: EventChannel,
    orb: Orb,
    poa: Poa,
    /// Number of active proxies of both kinds.
    proxies: AtomicUsize,
    /// Proxies in the order of their creation, until they are connected; also some that are or have gone.
    unconnected: PiMutex<VecDeque<Weak<dyn Proxy>>>,
}

/// A proxy of either kind.
trait Proxy: Send + Sync {
    /// Whether it exists and no client has connected to it.
    fn is_unconnected(&self) -> bool;

    /// Removes the object if no client has connected to it, atomically; returns whether it did.
    fn end_unconnected(&self) -> bool;
}

impl Host {
    /// Counts a new proxy, unless there are too many. Then the oldest one without a client gives way.
    fn admit_proxy(&self) -> Result<(), SystemException> {
        if self.channel.is_destroyed() {
            return Err(gone());
        }
        let limit = self.max_proxies();
        let admit = || {
            let more = |number| (number < limit).then_some(number + 1);
            self.proxies.fetch_update(Relaxed, Relaxed, more).is_ok()
        };
        match admit() || self.remove_unconnected() && admit() {
            true => Ok(()),
            false => Err(self.refuse()),
        }
    }

    /// Counts a request of a client beyond a limit, and returns its exception.
    fn refuse(&self) -> SystemException {
        self.channel.core.counters.refusals.count_limit();
        limit_exceeded()
    }

    fn max_proxies(&self) -> usize {
        2 * self.channel.core.limits.consumers
    }

    /// Removes the oldest proxy to which no client has connected; returns whether there was one.
    fn remove_unconnected(&self) -> bool {
        let next = || self.unconnected.lock().pop_front();
        let all = std::iter::from_fn(next).filter_map(|proxy| proxy.upgrade());
        { all }.any(|proxy| proxy.end_unconnected())
    }

    /// Adds a proxy to which no client has connected yet.
    fn add_unconnected(&self, proxy: Weak<dyn Proxy>) {
        let mut unconnected = self.unconnected.lock();
        if unconnected.len() >= 2 * self.max_proxies() {
            unconnected.retain(|proxy| proxy.upgrade().is_some_and(|proxy| proxy.is_unconnected()));
        }
        unconnected.push_back(proxy);
    }

    fn release_proxy(&self) {
        self.proxies.fetch_sub(1, Relaxed);
    }

    /// Priority of the request that is being served.
    fn caller_priority(&self) -> Priority {
        self.orb.current().priority().unwrap_or(Priority::MIN)
    }
}

struct Channel {
    host: Arc<Host>,
    consumers: PiMutex<Option<ConsumerAdminRef>>,
    suppliers: PiMutex<Option<SupplierAdminRef>>,
    federation: Federation,
}

impl ChannelServant for Channel {
    fn for_consumers(&self) -> Result<Option<ConsumerAdminRef>, SystemException> {
        Ok(self.consumers.lock().clone())
    }

    fn for_suppliers(&self) -> Result<Option<SupplierAdminRef>, SystemException> {
        Ok(self.suppliers.lock().clone())
    }

    fn destroy(&self) -> Result<(), SystemException> {
        let EventChannel { core } = &self.host.channel;
        if !core.limits.remote_destroy {
            core.counters.refusals.count_limit();
            let kind = SystemExceptionKind::NoPermission;
            return Err(SystemException::new(kind, 0, Completion::No));
        }
        self.host.channel.destroy();
        Ok(())
    }

    fn append_observer(&self, observer: Option<ObserverRef>) -> Result<u32, AppendObserverError> {
        let core = &self.host.channel.core;
        let observer = observer.ok_or(CantAppendObserver {})?;
        let handle = core.append_observer(observer);
        handle.ok_or_else(|| {
            core.counters.refusals.count_limit();
            CantAppendObserver {}.into()
        })
    }

    fn remove_observer(&self, handle: u32) -> Result<(), RemoveObserverError> {
        match self.host.channel.core.observers.remove(handle) {
            true => Ok(()),
            false => Err(CantRemoveObserver {}.into()),
        }
    }
}

impl FederatedChannel for Channel {
    fn open_inbox(&self, name: &str) -> Result<Option<InboxRef>, SystemException> {
        self.federation.inbox(&self.host, name).map(Some)
    }

    fn open_outbox(
        &self,
        name: &str,
        qos: ConsumerQosView<'_>,
    ) -> Result<Option<OutboxRef>, OpenOutboxError> {
        self.federation.outbox(&self.host, name, qos).map(Some)
    }
}

struct ForConsumers(Arc<Host>);

impl ConsumerAdmin for ForConsumers {
    fn obtain_push_supplier(&self) -> Result<Option<ProxyPushSupplierRef>, SystemException> {
        self.0.admit_proxy()?;
        PushSupplierProxy::activate(&self.0)
            .map(|(_, reference)| Some(reference))
            .inspect_err(|_| self.0.release_proxy())
    }
}

struct ForSuppliers(Arc<Host>);

impl SupplierAdmin for ForSuppliers {
    fn obtain_push_consumer(&self) -> Result<Option<ProxyPushConsumerRef>, SystemException> {
        self.0.admit_proxy()?;
        PushConsumerProxy::activate(&self.0)
            .map(|(_, reference)| Some(reference))
            .inspect_err(|_| self.0.release_proxy())
    }
}
