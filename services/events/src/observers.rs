//! Observers: they are notified of the subscriptions and publications of a channel's clients.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use punctual::{Interface, SystemException};
use punctual_os::{PiCondvar, PiMutex, TaskId, Thread, ThreadSpec, clock::later};

use crate::{
    EventType, Filter,
    rtec::rtec_event_channel_admin::{ConsumerQos, ObserverRef, Publication, SupplierQos},
};

/// Objects of other processes, usually gateways. A thread of the ordinary class calls them, with the timeout
/// of the channel: none that connects or disconnects a client, or delivers, waits for an observer. It starts
/// with the first one. One that fails is removed.
///
/// A notification contains the whole present state. So nothing has to be queued: changes that happen during
/// one are in the next.
pub(crate) struct Observers {
    shared: Arc<Shared>,
    limit: usize,
    /// Maximum number of published types.
    types: usize,
    timeout: Duration,
}

#[derive(Default)]
struct Shared {
    list: PiMutex<List>,
    changed: PiCondvar,
}

#[derive(Default)]
struct List {
    entries: Vec<(u32, ObserverRef)>,
    next: u32,
    /// Types that suppliers have announced, with the number of suppliers.
    published: HashMap<EventType, usize>,
    /// Changes of which the observers have not been told.
    pending: PendingChanges,
    thread: Option<Thread<()>>,
    /// Whether the thread calls an observer.
    is_notifying: bool,
    ends: bool,
}

/// Kinds of clients that have changed.
#[derive(Clone, Copy, Default)]
struct PendingChanges {
    consumers: bool,
    suppliers: bool,
}

/// The channel as the subject of the notifications.
pub(crate) trait Observed: Send + Sync {
    /// Events to which the consumers that are no gateways subscribe.
    fn demand(&self) -> Filter;
}

impl Observers {
    pub(crate) fn new(limit: usize, types: usize, timeout: Duration) -> Self {
        Self {
            shared: Arc::default(),
            limit,
            types,
            timeout,
        }
    }

    pub(crate) fn number(&self) -> usize {
        self.shared.list.lock().entries.len()
    }

    /// Adds an observer, which will be notified of the present state; `None`: there are too many, the channel
    /// has ended, or the thread cannot be started, whose name begins with this one.
    pub(crate) fn append(
        &self,
        observer: ObserverRef,
        channel: Weak<dyn Observed>,
        name: &str,
    ) -> Option<u32> {
        let observer = ObserverRef::from_object(observer.as_object().with_timeout(self.timeout));
        let mut list = self.shared.list.lock();
        if list.entries.len() >= self.limit || list.ends {
            return None;
        }
        if list.thread.is_none() {
            let shared = Arc::clone(&self.shared);
            let thread = ThreadSpec::new(format!("{name}-observers")).spawn(move || shared.run(&channel));
            list.thread = Some(thread.ok()?);
        }
        list.next += 1;
        let handle = list.next;
        list.entries.push((handle, observer));
        list.pending = PendingChanges {
            consumers: true,
            suppliers: true,
        };
        self.shared.changed.notify_all();
        Some(handle)
    }

    /// Removes an observer; returns whether there was one.
    pub(crate) fn remove(&self, handle: u32) -> bool {
        self.shared.remove(handle)
    }

    /// Consumers have connected or disconnected.
    pub(crate) fn tell_consumers(&self) {
        self.shared.list.lock().pending.consumers = true;
        self.shared.changed.notify_all();
    }

    /// A supplier that is no gateway announces these types; returns whether there are not too many.
    pub(crate) fn publishes(&self, types: &[EventType]) -> bool {
        let mut list = self.shared.list.lock();
        for (place, event_type) in types.iter().enumerate() {
            let is_full = list.published.len() >= self.types;
            if is_full && !list.published.contains_key(event_type) {
                list.forget(&types[..place]);
                return false;
            }
            *list.published.entry(*event_type).or_default() += 1;
        }
        list.pending.suppliers = true;
        self.shared.changed.notify_all();
        true
    }

    /// Number of types that suppliers have announced.
    #[cfg(test)]
    pub(crate) fn published(&self) -> usize {
        self.shared.list.lock().published.len()
    }

    /// A supplier that had announced these types has disconnected.
    pub(crate) fn publishes_no_more(&self, types: &[EventType]) {
        let mut list = self.shared.list.lock();
        list.forget(types);
        list.pending.suppliers = true;
        self.shared.changed.notify_all();
    }

    /// Ends the thread, and waits this long at most for an observer that is being called: one of this process
    /// may not return.
    pub(crate) fn end(&self, timeout: Duration) {
        let mut list = self.shared.list.lock();
        list.ends = true;
        let thread = list.thread.take();
        self.shared.changed.notify_all();
        let Some(thread) = thread.filter(|thread| thread.tid() != TaskId::current_thread()) else {
            return;
        };
        let deadline = later(Instant::now(), timeout);
        let tells = |list: &mut List| list.is_notifying;
        let is_late = self.shared.changed.wait_while_until(&mut list, deadline, tells).0;
        drop(list);
        if !is_late {
            // It calls nothing but observers and the channel, whose exceptions it handles.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn run(&self, channel: &Weak<dyn Observed>) {
        let mut list = self.list.lock();
        loop {
            let idle = |list: &mut List| !list.ends && !list.pending.consumers && !list.pending.suppliers;
            self.changed.wait_while(&mut list, idle);
            if list.ends {
                return;
            }
            let pending = std::mem::take(&mut list.pending);
            drop(list);
            if pending.consumers {
                let Some(demand) = channel.upgrade().map(|channel| channel.demand()) else {
                    return;
                };
                let qos = ConsumerQos {
                    dependencies: demand.to_dependencies(),
                    is_gateway: false,
                };
                self.notify(|observer| observer.update_consumer(&qos));
            }
            if pending.suppliers {
                let qos = self.list.lock().publications();
                self.notify(|observer| observer.update_supplier(&qos));
            }
            list = self.list.lock();
        }
    }

    fn notify(&self, notify: impl Fn(&ObserverRef) -> Result<(), SystemException>) {
        let observers = self.list.lock().entries.clone();
        for (handle, observer) in observers {
            {
                let mut list = self.list.lock();
                if list.ends {
                    return;
                }
                list.is_notifying = true;
            }
            let failed = notify(&observer).is_err();
            self.list.lock().is_notifying = false;
            self.changed.notify_all();
            if failed {
                self.remove(handle);
            }
        }
    }

    fn remove(&self, handle: u32) -> bool {
        let mut list = self.list.lock();
        let before = list.entries.len();
        list.entries.retain(|(one, _)| *one != handle);
        list.entries.len() < before
    }
}

impl List {
    /// The published types, in their order.
    fn publications(&self) -> SupplierQos {
        let mut types: Vec<EventType> = self.published.keys().copied().collect();
        types.sort_unstable();
        let publication = |event_type: EventType| {
            let mut publication = Publication::default();
            publication.event.header.r#type = event_type.0;
            publication
        };
        SupplierQos {
            publications: types.into_iter().map(publication).collect(),
            is_gateway: false,
        }
    }

    fn forget(&mut self, types: &[EventType]) {
        for event_type in types {
            let number = self.published.get_mut(event_type);
            match number {
                Some(number @ 2..) => *number -= 1,
                _ => drop(self.published.remove(event_type)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_published_as_long_as_a_supplier_announces_it_and_types_are_limited() {
        let observers = Observers::new(1, 3, Duration::ZERO);
        let types = |types: &[i32]| types.iter().map(|one| EventType(*one)).collect::<Vec<_>>();
        assert!(observers.publishes(&types(&[16, 17])) && observers.publishes(&types(&[17, 18, 17])));
        assert!(!observers.publishes(&types(&[16, 19])), "a fourth one");
        observers.publishes_no_more(&types(&[16, 17]));
        assert!(!observers.publishes(&types(&[20, 21])));
        let mut published: Vec<_> = observers.shared.list.lock().published.drain().collect();
        published.sort_unstable();
        assert_eq!(published, [(EventType(17), 2), (EventType(18), 1)]);
    }
}
