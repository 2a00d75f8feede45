//! Observers: told what the clients of a channel subscribe to and publish.

use std::time::Duration;

use punctual::{Interface, SystemException};
use punctual_os::PiMutex;

use crate::{
    EventType, Filter,
    rtec::rtec_event_channel_admin::{ConsumerQos, ObserverRef, Publication, SupplierQos},
};

/// Objects of other processes, usually gateways. They are called on the thread that connects or disconnects a
/// client, with the channel's timeout; one that fails is removed.
pub(crate) struct Observers {
    list: PiMutex<List>,
    limit: usize,
    timeout: Duration,
}

#[derive(Default)]
struct List {
    entries: Vec<(u32, ObserverRef)>,
    next: u32,
    /// Types that suppliers have announced, with the number of suppliers.
    published: Vec<EventType>,
}

impl Observers {
    pub(crate) fn new(limit: usize, timeout: Duration) -> Self {
        Self {
            list: PiMutex::default(),
            limit,
            timeout,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.number() == 0
    }

    pub(crate) fn number(&self) -> usize {
        self.list.lock().entries.len()
    }

    /// Adds an observer and tells it the present state; `None`: there are too many.
    pub(crate) fn append(&self, observer: ObserverRef, demand: &Filter) -> Option<u32> {
        let observer = ObserverRef::from_object(observer.as_object().with_timeout(self.timeout));
        let handle = {
            let mut list = self.list.lock();
            if list.entries.len() >= self.limit {
                return None;
            }
            list.next += 1;
            let handle = list.next;
            list.entries.push((handle, observer));
            handle
        };
        self.tell_consumers(demand);
        self.tell_suppliers();
        Some(handle)
    }

    /// Removes an observer; returns whether there was one.
    pub(crate) fn remove(&self, handle: u32) -> bool {
        let mut list = self.list.lock();
        let before = list.entries.len();
        list.entries.retain(|(one, _)| *one != handle);
        list.entries.len() < before
    }

    pub(crate) fn tell_consumers(&self, demand: &Filter) {
        let qos = ConsumerQos {
            dependencies: demand.to_dependencies(),
            is_gateway: false,
        };
        self.tell(|observer| observer.update_consumer(&qos));
    }

    /// A supplier that is no gateway has announced these types.
    pub(crate) fn publishes(&self, types: impl Iterator<Item = EventType>) {
        self.list.lock().published.extend(types);
        self.tell_suppliers();
    }

    /// A supplier that had announced these types has disconnected.
    pub(crate) fn publishes_no_more(&self, types: impl Iterator<Item = EventType>) {
        let mut list = self.list.lock();
        for event_type in types {
            if let Some(place) = list.published.iter().position(|one| *one == event_type) {
                list.published.swap_remove(place);
            }
        }
        drop(list);
        self.tell_suppliers();
    }

    fn tell_suppliers(&self) {
        let mut types = self.list.lock().published.clone();
        types.sort_unstable();
        types.dedup();
        let publication = |event_type: EventType| {
            let mut publication = Publication::default();
            publication.event.header.r#type = event_type.0;
            publication
        };
        let qos = SupplierQos {
            publications: types.into_iter().map(publication).collect(),
            is_gateway: false,
        };
        self.tell(|observer| observer.update_supplier(&qos));
    }

    fn tell(&self, tell: impl Fn(&ObserverRef) -> Result<(), SystemException>) {
        let observers = self.list.lock().entries.clone();
        for (handle, observer) in observers {
            if tell(&observer).is_err() {
                self.remove(handle);
            }
        }
    }
}
