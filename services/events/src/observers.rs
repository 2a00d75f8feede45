//! Observers: they are notified of the subscriptions and publications of a channel's clients.

use std::{collections::HashMap, time::Duration};

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
    /// Maximum number of published types.
    types: usize,
    timeout: Duration,
}

#[derive(Default)]
struct List {
    entries: Vec<(u32, ObserverRef)>,
    next: u32,
    /// Types that suppliers have announced, with the number of suppliers.
    published: HashMap<EventType, usize>,
}

impl Observers {
    pub(crate) fn new(limit: usize, types: usize, timeout: Duration) -> Self {
        Self {
            list: PiMutex::default(),
            limit,
            types,
            timeout,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.number() == 0
    }

    pub(crate) fn number(&self) -> usize {
        self.list.lock().entries.len()
    }

    /// Adds an observer and notifies it of the present state; `None`: there are too many.
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

    /// A supplier that is no gateway announces these types; returns whether there are not too many.
    pub(crate) fn publishes(&self, types: &[EventType]) -> bool {
        let mut list = self.list.lock();
        for (place, event_type) in types.iter().enumerate() {
            let is_full = list.published.len() >= self.types;
            if is_full && !list.published.contains_key(event_type) {
                list.forget(&types[..place]);
                return false;
            }
            *list.published.entry(*event_type).or_default() += 1;
        }
        drop(list);
        self.tell_suppliers();
        true
    }

    /// Number of types that suppliers have announced.
    #[cfg(test)]
    pub(crate) fn published(&self) -> usize {
        self.list.lock().published.len()
    }

    /// A supplier that had announced these types has disconnected.
    pub(crate) fn publishes_no_more(&self, types: &[EventType]) {
        self.list.lock().forget(types);
        self.tell_suppliers();
    }

    fn tell_suppliers(&self) {
        let mut types: Vec<EventType> = {
            let list = self.list.lock();
            if list.entries.is_empty() {
                return;
            }
            list.published.keys().copied().collect()
        };
        types.sort_unstable();
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

impl List {
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
        let mut published: Vec<_> = observers.list.lock().published.drain().collect();
        published.sort_unstable();
        assert_eq!(published, [(EventType(17), 2), (EventType(18), 1)]);
    }
}
