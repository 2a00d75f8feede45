//! Suppliers of other processes: who they are, and what became of the events that they pushed.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
};

use punctual::transport::Peer;
use punctual_os::PiMutex;

use crate::SupplierStatistics;

/// A supplier's proxy, as its counters show it.
#[derive(Debug, Default)]
pub(crate) struct Supplier {
    id: u64,
    name: OnceLock<String>,
    /// Address of the object with which it has connected.
    object: OnceLock<String>,
    /// Sender of its first request.
    peer: OnceLock<Option<Peer>>,
    is_connected: AtomicBool,
    pushed: AtomicU64,
    unmatched: AtomicU64,
    refused: AtomicU64,
    lost: AtomicU64,
}

impl Supplier {
    /// Gives it a name, unless it has been given one before.
    pub(crate) fn set_name(&self, name: &str) {
        let _ = self.name.set(name.to_owned());
    }

    /// It has connected; `object` is the address of the object that it has stated.
    pub(crate) fn connect(&self, object: Option<String>) {
        if let Some(object) = object {
            let _ = self.object.set(object);
        }
        self.is_connected.store(true, Relaxed);
    }

    /// A request came from there. The first one counts: requests of later connections cost nothing.
    pub(crate) fn called_from(&self, peer: Option<Peer>) {
        self.peer.get_or_init(|| peer);
    }

    pub(crate) fn count_pushed(&self, events: u64) {
        self.pushed.fetch_add(events, Relaxed);
    }

    pub(crate) fn count_unmatched(&self) {
        self.unmatched.fetch_add(1, Relaxed);
    }

    pub(crate) fn count_refused(&self) {
        self.refused.fetch_add(1, Relaxed);
    }

    /// Consumers have lost these events, because one of this supplier found a queue full.
    pub(crate) fn count_lost(&self, events: u64) {
        self.lost.fetch_add(events, Relaxed);
    }

    /// Whether a client uses it.
    fn is_used(&self) -> bool {
        self.is_connected.load(Relaxed) || self.pushed.load(Relaxed) > 0
    }

    fn statistics(&self, is_connected: bool) -> SupplierStatistics {
        let address = match (self.object.get(), self.peer.get()) {
            (Some(object), _) => object.clone(),
            (None, Some(Some(Peer::Network(address)))) => address.to_string(),
            (None, Some(Some(Peer::Loopback))) => "localhost".to_owned(),
            (None, Some(Some(Peer::SameHost { user: Some(user) }))) => format!("localhost (user {user})"),
            (None, Some(Some(Peer::SameHost { user: None }))) => "localhost".to_owned(),
            (None, Some(None)) => "this process".to_owned(),
            (None, _) => "unknown".to_owned(),
        };
        SupplierStatistics {
            id: self.id,
            name: self.name.get().unwrap_or(&address).clone(),
            address,
            is_connected,
            pushed: self.pushed.load(Relaxed),
            unmatched: self.unmatched.load(Relaxed),
            refused: self.refused.load(Relaxed),
            lost: self.lost.load(Relaxed),
        }
    }
}

/// All suppliers that have a proxy, and some that had one.
#[derive(Debug, Default)]
pub(crate) struct Suppliers {
    list: PiMutex<List>,
    /// Maximum number of former suppliers.
    limit: usize,
}

#[derive(Debug, Default)]
struct List {
    last_id: u64,
    present: BTreeMap<u64, Arc<Supplier>>,
    former: Vec<SupplierStatistics>,
}

impl Suppliers {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            list: PiMutex::default(),
            limit,
        }
    }

    /// A proxy begins.
    pub(crate) fn enter(&self) -> Arc<Supplier> {
        let mut list = self.list.lock();
        list.last_id += 1;
        let id = list.last_id;
        let supplier = Arc::new(Supplier {
            id,
            ..Supplier::default()
        });
        list.present.insert(id, Arc::clone(&supplier));
        supplier
    }

    /// Its proxy ends. Beyond the limit, the former supplier that has pushed the fewest events is forgotten:
    /// clients that come and go do not hide one that flooded.
    pub(crate) fn leave(&self, supplier: &Supplier) {
        let mut list = self.list.lock();
        if list.present.remove(&supplier.id).is_none() || !supplier.is_used() {
            return;
        }
        list.former.push(supplier.statistics(false));
        if list.former.len() > self.limit {
            let order = |(_, one): &(usize, &SupplierStatistics)| (one.pushed, one.id);
            let least = list.former.iter().enumerate().min_by_key(order);
            if let Some(least) = least.map(|(place, _)| place) {
                list.former.remove(least);
            }
        }
    }

    /// Returns the suppliers that a client uses, and then former ones.
    pub(crate) fn statistics(&self) -> Vec<SupplierStatistics> {
        let list = self.list.lock();
        let present = list.present.values().filter(|one| one.is_used());
        let present = present.map(|one| one.statistics(one.is_connected.load(Relaxed)));
        present.chain(list.former.iter().cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn former_suppliers_are_bounded_and_those_that_pushed_most_stay() {
        let suppliers = Suppliers::new(2);
        let flood = suppliers.enter();
        flood.called_from(Some(Peer::Network([192, 0, 2, 1].into())));
        flood.called_from(Some(Peer::Loopback));
        flood.count_pushed(1_000);
        suppliers.leave(&flood);
        suppliers.leave(&flood);
        for number in 0..10 {
            let small = suppliers.enter();
            small.connect((number == 9).then(|| "host:7".to_owned()));
            small.count_pushed(number);
            suppliers.leave(&small);
        }
        // Nobody has used this one.
        suppliers.leave(&suppliers.enter());
        let known = suppliers.statistics();
        let known: Vec<_> = known.iter().map(|one| (one.id, &*one.name, one.pushed)).collect();
        assert_eq!(known, [(1, "192.0.2.1", 1_000), (11, "host:7", 9)]);
        assert!(suppliers.list.lock().present.is_empty());
    }
}
