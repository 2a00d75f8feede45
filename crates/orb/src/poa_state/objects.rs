//! Active objects, among which step 8 of a call finds its target: the object table, ids, and the keys
//! published for `corbaloc` references.

use std::{
    collections::VecDeque,
    sync::{Arc, OnceLock},
    time::Duration,
};

use punctual_cdr::{CharSet, Ior, TaggedComponent};
use punctual_os::PiMutex;
use punctual_poa::{InFlight, ObjectKey, ObjectTable, SlotId, Slots};
use punctual_stub::Servant;
use punctual_types::Priority;

use crate::{
    AnyServant, Limits, OrbError, PriorityModel, QueueLimits, current,
    poa_state::{
        adapter_index::AdapterIndex,
        core::{PoaCore, id_of_slot},
        incarnation::{Incarnation, Sharers},
        object_ids::ObjectIds,
        pending_etherealizations::PendingEtherealizations,
        published::Published,
        quiescence::Quiescence,
    },
    server::{ActiveObject, Demultiplexed},
    startup::Startup,
};

/// Objects that requests can reach.
pub(crate) struct Objects {
    /// Differs from every other ORB, earlier runs of this program included.
    boot: u64,
    pub(crate) table: ObjectTable<ActiveObject>,
    pub(crate) quiescence: Arc<Quiescence>,
    pub(crate) endings: Arc<PendingEtherealizations>,
    /// Room for requests of a lane that wait for the end of their object's last incarnation.
    pub(crate) held_while_ending: QueueLimits,
    /// Longest time for which a thread that deactivates an object waits for its last request.
    pub(crate) deactivation: Duration,
    /// Octets of the longest key.
    max_key: usize,
    pub(crate) activation: PiMutex<Activation>,
    startup: Startup,
    pub(crate) ids: ObjectIds,
    published: Published,
    pub(crate) adapters: AdapterIndex,
    root: OnceLock<Arc<PoaCore>>,
    /// Code set that references state as the native one.
    native_code_set: Option<CharSet>,
    /// Components of all references that are made from now on.
    components: PiMutex<Vec<TaggedComponent>>,
}

/// Writing side of the object table. Never locked over user code.
pub(crate) struct Activation {
    pub(crate) slots: Slots,
    /// Slots of objects whose last request the deactivating thread did not see leave, because it was in an
    /// upcall or timed out; of adapters without a servant activator.
    deactivated: VecDeque<u32>,
    /// How many objects have the same servant, in adapters with a servant activator.
    pub(crate) sharers: Sharers,
}

impl Objects {
    pub(crate) fn new(boot: u64, limits: &Limits, native_code_set: Option<CharSet>) -> Self {
        let (quiescence, endings) = (
            Arc::new(Quiescence::default()),
            Arc::new(PendingEtherealizations::default()),
        );
        let (table, slots) = ObjectTable::new({
            let (quiescence, endings) = (Arc::clone(&quiescence), Arc::clone(&endings));
            move |slot| {
                quiescence.announce();
                endings.left(slot);
            }
        });
        Self {
            boot,
            table,
            startup: Startup::new(limits.startup),
            quiescence,
            endings,
            held_while_ending: QueueLimits {
                requests: limits.held_while_ending,
                octets: limits.held_while_ending.saturating_mul(4 << 10),
            },
            deactivation: limits.deactivation,
            max_key: limits.max_object_key,
            activation: PiMutex::new(Activation {
                slots,
                deactivated: VecDeque::new(),
                sharers: Sharers::default(),
            }),
            ids: ObjectIds::new(),
            published: Published::new(),
            adapters: AdapterIndex::default(),
            root: OnceLock::new(),
            native_code_set,
            components: PiMutex::new(Vec::new()),
        }
    }

    /// Returns whether this ORB issued the object key; `None`: the key names an object of a persistent
    /// adapter.
    pub(crate) fn issued(&self, key: &[u8]) -> Option<bool> {
        match ObjectKey::parse(key) {
            None => Some(false),
            Some(key) => key.boot().map(|boot| boot == self.boot),
        }
    }

    /// Whether the server, which is starting, may still activate the object with this key.
    pub(crate) fn may_come(&self, key: &[u8]) -> bool {
        self.startup.lasts() && self.is_short(key) && self.issued(key).is_none()
    }

    /// Ends the time in which objects of earlier runs may still be activated.
    pub(crate) fn end_startup(&self) {
        self.startup.end();
    }

    /// Finds the target of an object key. O(1); takes a lock only for keys that name their object, one of
    /// many, and reads no key that is longer than any object's.
    pub(crate) fn demultiplex(&self, key: &[u8]) -> Demultiplexed<'_> {
        let slot = match ObjectKey::parse(key) {
            Some(key) if key.boot().is_some_and(|boot| boot != self.boot) => None,
            Some(ObjectKey::Slot { slot, .. }) => Some(slot),
            _ if key.len() > self.max_key => None,
            Some(ObjectKey::Named { adapter, id }) => self.ids.get(adapter.path, id),
            None => {
                let published = self.published.get(key);
                return published.map_or(Demultiplexed::Unknown, Demultiplexed::Published);
            }
        };
        slot.and_then(|slot| self.table.enter(slot))
            .map_or(Demultiplexed::Unknown, Demultiplexed::Object)
    }

    pub(crate) fn boot(&self) -> u64 {
        self.boot
    }

    /// Returns the adapter at the top, once it is known.
    pub(crate) fn root(&self) -> Option<Arc<PoaCore>> {
        self.root.get().cloned()
    }

    pub(crate) fn set_root(&self, root: &Arc<PoaCore>) {
        self.root.get_or_init(|| Arc::clone(root));
    }

    /// Has requests for objects of the adapter that are not active, and for adapters below it, searched.
    pub(crate) fn manage(&self, poa: &Arc<PoaCore>) {
        self.adapters.managed.insert(poa);
    }

    pub(crate) fn enter(&self, slot: SlotId) -> Option<InFlight<'_, ActiveObject>> {
        self.table.enter(slot)
    }

    /// Returns whether an object may have this key.
    pub(crate) fn is_short(&self, key: &[u8]) -> bool {
        key.len() <= self.max_key
    }

    /// Returns the reference that is published under a key.
    pub(crate) fn published(&self, key: &[u8]) -> Option<Arc<Ior>> {
        self.is_short(key).then(|| self.published.get(key)).flatten()
    }

    /// Publishes a reference under a key.
    pub(crate) fn publish(&self, key: &[u8], ior: Ior) -> Result<(), OrbError> {
        self.check_length(key)?;
        self.published.insert(key, ior);
        Ok(())
    }

    /// Withdraws the reference under a key. `false`: there is none.
    pub(crate) fn unpublish(&self, key: &[u8]) -> bool {
        self.is_short(key) && self.published.remove(key)
    }

    fn check_length(&self, key: &[u8]) -> Result<(), OrbError> {
        if key.len() > self.max_key {
            return Err(OrbError::KeyTooLong {
                octets: key.len(),
                limit: self.max_key,
            });
        }
        Ok(())
    }

    /// Adds a component to all references that are made from now on, instead of one with the same tag.
    pub(crate) fn add_component(&self, component: TaggedComponent) {
        let mut components = self.components.lock();
        components.retain(|other| other.tag != component.tag);
        components.push(component);
    }

    pub(crate) fn activate(
        &self,
        id: Option<&[u8]>,
        poa: &Arc<PoaCore>,
        servant: AnyServant,
        priority: Option<Priority>,
    ) -> Result<Ior, OrbError> {
        self.activate_slot(id, poa, servant, priority).map(|(_, ior)| ior)
    }

    /// Activates an object that stands for those of an adapter that are not active.
    pub(crate) fn activate_stand_in(
        &self,
        poa: &Arc<PoaCore>,
        servant: Arc<dyn Servant>,
    ) -> Result<SlotId, OrbError> {
        let servant = AnyServant {
            servant,
            values_on_stack: 0,
        };
        self.activate_slot(None, poa, servant, None).map(|(slot, _)| slot)
    }

    fn activate_slot(
        &self,
        id: Option<&[u8]>,
        poa: &Arc<PoaCore>,
        servant: AnyServant,
        priority: Option<Priority>,
    ) -> Result<(SlotId, Ior), OrbError> {
        self.reclaim();
        if let Some(id) = id {
            self.await_end(poa, id);
        }
        let incarnation = Incarnation::of(poa, &servant);
        let shared = incarnation.as_ref().map(Incarnation::identity);
        let servant = poa.processing.serialized(servant.servant);
        let mut ior = Ior::default();
        let components = self.components.lock().clone();
        let mut activation = self.activation.lock();
        if poa.is_destroyed() {
            return Err(OrbError::AdapterDestroyed);
        }
        let adapter = poa.adapter(self.boot);
        if let Some(slot) = id.and_then(|id| self.ids.get(adapter.path, id)) {
            return Err(if self.table.contains(slot) {
                OrbError::AlreadyActive
            } else {
                OrbError::BeingDeactivated
            });
        }
        let slot = activation.slots.activate(&self.table, |slot| {
            let key = poa.object_key(self.boot, slot, id);
            if id.is_some() {
                self.check_length(&key)?;
            }
            ior = poa
                .reference(
                    servant.repository_id(),
                    key.clone(),
                    poa.model(priority),
                    &components,
                    self.native_code_set,
                )
                .map_err(OrbError::Reference)?;
            Ok::<_, OrbError>(Arc::new(ActiveObject {
                servant,
                incarnation,
                model: poa.model(priority),
                transform: poa.transform(slot, id),
                poa: Arc::clone(poa),
                key: key.into(),
                ior: ior.clone(),
            }))
        })?;
        let slot = slot.ok_or(OrbError::Full)?;
        if let Some(servant) = shared {
            activation.sharers.add(servant);
        }
        if let Some(id) = id {
            self.ids.insert(adapter.path, id, slot);
        }
        Ok((slot, ior))
    }

    /// Priority model of the object with this id in the adapter; `None` if it is not active.
    pub(crate) fn active_model(&self, poa: &PoaCore, id: &[u8]) -> Option<Option<PriorityModel>> {
        let slot = self.ids.get(poa.adapter(self.boot).path, id)?;
        self.table.enter(slot).map(|object| object.model)
    }

    /// Returns the id of the object with this key, if it is one of the adapter's.
    pub(crate) fn id_in(&self, poa: &Arc<PoaCore>, key: &[u8]) -> Option<Vec<u8>> {
        match ObjectKey::parse(key)? {
            ObjectKey::Slot { boot, slot } => {
                let object = (boot == self.boot).then(|| self.table.enter(slot))??;
                Arc::ptr_eq(&object.poa, poa).then(|| id_of_slot(slot).to_vec())
            }
            ObjectKey::Named { adapter, id } => (adapter == poa.adapter(self.boot)).then(|| id.to_vec()),
        }
    }

    /// Returns the reference to the object with this id, whether it is active or not.
    pub(crate) fn reference(
        &self,
        poa: &PoaCore,
        repository_id: &str,
        id: &[u8],
        priority: Option<Priority>,
    ) -> Result<Ior, OrbError> {
        let adapter = poa.adapter(self.boot);
        let key = ObjectKey::Named { adapter, id }.to_octets();
        self.check_length(&key)?;
        let components = self.components.lock();
        poa.reference(
            repository_id,
            key,
            poa.model(priority),
            &components,
            self.native_code_set,
        )
        .map_err(OrbError::Reference)
    }

    /// Returns the reference to the object with this key that `object` serves, which may stand for others.
    pub(crate) fn reference_of(&self, object: &ActiveObject, key: &[u8]) -> Ior {
        let named = match ObjectKey::parse(key) {
            Some(ObjectKey::Named { id, .. }) if *key != *object.key => self
                .reference(
                    &object.poa,
                    object.servant.repository_id(),
                    id,
                    object.poa.declared(id),
                )
                .ok(),
            _ => None,
        };
        named.unwrap_or_else(|| object.ior.clone())
    }

    pub(crate) fn deactivate(&self, poa: &Arc<PoaCore>, key: &[u8]) -> Result<(), OrbError> {
        let slot = self.forget(poa, key).ok_or(OrbError::NotActive)?;
        if current::is_in_upcall() {
            self.leave_behind(poa, slot.index);
            self.reclaim();
            return Ok(());
        }
        self.reclaim();
        let last = self
            .quiescence
            .wait_for(self.deactivation, || self.take_out(slot.index));
        match last {
            // Outside the lock: the servant's destructor is user code.
            Some(last) => {
                self.finish(last);
                Ok(())
            }
            None => {
                self.leave_behind(poa, slot.index);
                Err(OrbError::StillInUse(self.deactivation))
            }
        }
    }

    /// Takes a deactivated object out of the table; `None` while a request is inside. For the one thread that
    /// is responsible for it.
    pub(crate) fn take_out(&self, slot: u32) -> Option<Arc<ActiveObject>> {
        self.activation.lock().slots.reclaim(&self.table, slot)
    }

    /// Leaves a deactivated object to the thread whose request is the last to leave it, if its servant
    /// activator has to learn of that, else to the next thread that activates or deactivates an object.
    fn leave_behind(&self, poa: &Arc<PoaCore>, slot: u32) {
        if poa.processing.activator().is_some() {
            self.leave_to_lane(slot, poa);
        } else {
            self.activation.lock().deactivated.push_back(slot);
        }
    }

    /// Deactivates the objects of an adapter and of those below it, as [`Self::deactivate`] does, and removes
    /// the adapters from the tree below `root`. Requests for their objects get TRANSIENT until this has
    /// ended.
    pub(crate) fn destroy(&self, root: &PoaCore, poa: &Arc<PoaCore>) {
        self.adapters.ending.insert(poa);
        let mut slots = Vec::new();
        self.destroy_subtree(root, poa, &mut slots);
        self.adapters.ending_slots.remove(&slots);
        self.adapters.ending.remove(poa);
    }

    /// `slots` receives the slots of the objects.
    fn destroy_subtree(&self, root: &PoaCore, poa: &Arc<PoaCore>, slots: &mut Vec<SlotId>) {
        for child in poa.close() {
            self.destroy_subtree(root, &child, slots);
        }
        self.adapters.managed.remove(poa);
        let keys = self.keys_of(poa);
        let begin = slots.len();
        slots.extend(keys.iter().filter_map(|key| match ObjectKey::parse(key) {
            Some(ObjectKey::Slot { slot, .. }) => Some(slot),
            _ => None,
        }));
        self.adapters.ending_slots.insert(&slots[begin..]);
        for key in keys {
            // Another thread may have been faster.
            let _ = self.deactivate(poa, &key);
        }
        root.remove_below(poa);
    }

    pub(crate) fn keys_of(&self, poa: &Arc<PoaCore>) -> Vec<Box<[u8]>> {
        // A thread that activates an object from now on sees that the adapter is closed.
        let activation = self.activation.lock();
        let active = activation.slots.active(&self.table);
        active
            .filter_map(|slot| self.table.enter(slot))
            .filter(|object| Arc::ptr_eq(&object.poa, poa))
            .map(|object| object.key.clone())
            .collect()
    }

    /// Admits no further request to an object. In an adapter with a servant activator, the id remains taken
    /// until the object has ended.
    pub(crate) fn forget(&self, poa: &Arc<PoaCore>, key: &[u8]) -> Option<SlotId> {
        let slot = match ObjectKey::parse(key)? {
            ObjectKey::Slot { boot, slot } => (boot == self.boot).then_some(slot)?,
            ObjectKey::Named { adapter, id } => self.ids.get(adapter.path, id)?,
        };
        // It leaves the object before the lock is taken: who is the last to leave may have to take it.
        if !Arc::ptr_eq(&self.table.enter(slot)?.poa, poa) {
            return None;
        }
        let mut activation = self.activation.lock();
        if !activation.slots.deactivate(&self.table, slot) {
            return None;
        }
        let ends = poa.processing.begin_end();
        if let Some(ObjectKey::Named { adapter, id }) = ObjectKey::parse(key) {
            if !ends {
                self.ids.remove(adapter.path, id);
            }
            poa.forget(id);
        }
        Some(slot)
    }

    /// Drops the servants of objects that were deactivated inside upcalls and that no request uses any
    /// longer. Ends those of servant activators, outside upcalls.
    ///
    /// Inside an upcall, whose client waits, only as many as keep their number from growing: a server may
    /// activate nowhere else.
    fn reclaim(&self) {
        let at_most = if current::is_in_upcall() {
            2
        } else {
            self.end_pending();
            usize::MAX
        };
        let attempts = self.activation.lock().deactivated.len().min(at_most);
        for _ in 0..attempts {
            let last = self.activation.lock().reclaim_next(&self.table);
            // Outside the lock: the servant's destructor is user code.
            drop(last);
        }
    }
}

impl Activation {
    /// Takes the next deactivated object out of the table, if no request uses it any longer.
    fn reclaim_next(&mut self, table: &ObjectTable<ActiveObject>) -> Option<Arc<ActiveObject>> {
        let index = self.deactivated.pop_front()?;
        let last = self.slots.reclaim(table, index);
        if last.is_none() {
            self.deactivated.push_back(index);
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    /// Returns the shortest time of a few attempts to find an object with this key.
    fn time_to_find(objects: &Objects, key: &[u8]) -> Duration {
        let attempt = |_| {
            let start = Instant::now();
            assert!(matches!(objects.demultiplex(key), Demultiplexed::Unknown));
            start.elapsed()
        };
        (0..5).map(attempt).min().unwrap()
    }

    #[test]
    fn the_length_of_an_unknown_key_does_not_matter() {
        let objects = Objects::new(1, &Limits::default(), None);
        objects.publish(b"radar", Ior::default()).unwrap();
        let named = |id: Vec<u8>| {
            let adapter = punctual_poa::Adapter {
                boot: None,
                path: b"rt",
            };
            ObjectKey::Named { adapter, id: &id }.to_octets()
        };
        objects.ids.insert(
            b"rt",
            b"radar",
            SlotId {
                index: 0,
                generation: 1,
            },
        );
        for (short, long) in [
            (b"NameService".to_vec(), vec![b'N'; 8 << 20]),
            (named(vec![b'N'; 8]), named(vec![b'N'; 8 << 20])),
        ] {
            let (short, long) = (time_to_find(&objects, &short), time_to_find(&objects, &long));
            // It takes some thousand times as long to read 8 MiB.
            assert!(
                long < 100 * short.max(Duration::from_micros(1)),
                "{short:?} and {long:?}"
            );
        }
    }
}
