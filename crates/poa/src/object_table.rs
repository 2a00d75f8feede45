//! The table of active objects.

use std::{
    ops::Deref,
    sync::{Arc, OnceLock},
};

use arc_swap::{ArcSwapOption, Guard};

use crate::gate::{Gate, Left};

/// The active objects of an ORB, shared by all lanes: slots with an index and a generation.
///
/// A lookup takes no lock, so that no lane can delay another. Activation and deactivation use the only
/// [`Slots`] of the table, under the owner's lock. Capacity: 2³² - 64 objects at a time. Memory of slots is
/// never freed.
///
/// Slots are in chunks that never move. Each slot has a gate (generation, closed flag and number of requests
/// inside, in one atomic word) and an entry. Entering is one atomic addition; loom checks the gate. Keys of
/// system ids contain slot and generation; keys of user ids and persistent objects contain the name, which
/// the id map looks up.
pub struct ObjectTable<E> {
    /// Chunk n holds 64·2ⁿ slots, so that slots never move.
    chunks: [OnceLock<Box<[Slot<E>]>>; CHUNKS],
    on_idle: Box<dyn Fn(u32) + Send + Sync>,
}

/// Identifies a slot and one of the objects that have occupied it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct SlotId {
    /// Index of the slot.
    pub index: u32,
    /// Number of objects that have occupied the slot.
    pub generation: u32,
}

/// One object, on its own cache line: lanes that count requests of different objects do not disturb each
/// other.
#[repr(align(64))]
struct Slot<E> {
    gate: Gate,
    entry: ArcSwapOption<E>,
    index: u32,
}

const CHUNKS: usize = 26;
const FIRST_CHUNK: u32 = 64;

impl<E> ObjectTable<E> {
    /// Creates an empty table and the right to fill it.
    ///
    /// `on_idle` is called with the index of a slot by the thread whose request is the last one to leave a
    /// deactivated object, so that [`Slots::reclaim`] may succeed, or a watched one ([`Slots::watch`]). It
    /// may be called more often than that.
    pub fn new(on_idle: impl Fn(u32) + Send + Sync + 'static) -> (Self, Slots) {
        let table = Self {
            chunks: [const { OnceLock::new() }; CHUNKS],
            on_idle: Box::new(on_idle),
        };
        (
            table,
            Slots {
                free: Vec::new(),
                used: 0,
            },
        )
    }

    /// Finds an active object and counts the caller in until the result is dropped. O(1), lock-free.
    #[inline]
    pub fn enter(&self, id: SlotId) -> Option<InFlight<'_, E>> {
        let slot = self.slot(id.index)?;
        if let Err(left) = slot.gate.enter(id.generation) {
            self.announce(left, slot);
            return None;
        }
        // From here on the gate must be left on every path.
        let in_flight = InFlight {
            table: self,
            slot,
            entry: slot.entry.load(),
        };
        in_flight.entry.is_some().then_some(in_flight)
    }

    /// Returns whether the object is active, without entering it.
    pub fn contains(&self, id: SlotId) -> bool {
        let slot = self.slot(id.index);
        slot.is_some_and(|slot| slot.gate.generation() == Some(id.generation))
    }

    /// Returns whether no request is inside the deactivated object of a slot.
    pub fn is_idle(&self, index: u32) -> bool {
        self.slot(index).is_some_and(|slot| slot.gate.is_empty())
    }

    fn announce(&self, left: Left, slot: &Slot<E>) {
        if left.last {
            (self.on_idle)(slot.index);
        }
    }

    fn slot(&self, index: u32) -> Option<&Slot<E>> {
        let (chunk, offset) = place(index)?;
        self.chunks[chunk].get()?.get(offset)
    }
}

/// A request inside an object; the object exists at least as long.
pub struct InFlight<'t, E> {
    table: &'t ObjectTable<E>,
    slot: &'t Slot<E>,
    entry: Guard<Option<Arc<E>>>,
}

impl<E> Deref for InFlight<'_, E> {
    type Target = E;

    fn deref(&self) -> &E {
        self.entry.as_ref().expect("checked on entry")
    }
}

impl<E> Drop for InFlight<'_, E> {
    fn drop(&mut self) {
        // The guard first: a thread that sees the gate empty must be the entry's last owner.
        self.entry = Guard::from_inner(None);
        self.table.announce(self.slot.gate.leave(), self.slot);
    }
}

/// The right to fill and empty the slots of one [`ObjectTable`]; its owner protects it by a lock.
#[derive(Debug)]
pub struct Slots {
    free: Vec<u32>,
    used: u32,
}

impl Slots {
    /// Activates an object; `make` receives its id. `Ok(None)` if the table is full.
    pub fn activate<E, X>(
        &mut self,
        table: &ObjectTable<E>,
        make: impl FnOnce(SlotId) -> Result<Arc<E>, X>,
    ) -> Result<Option<SlotId>, X> {
        let Some((index, slot)) = self.vacant(table) else {
            return Ok(None);
        };
        let id = SlotId {
            index,
            generation: slot.gate.next_generation(),
        };
        let entry = make(id).inspect_err(|_| self.free.push(index))?;
        slot.entry.store(Some(entry));
        slot.gate.open();
        Ok(Some(id))
    }

    fn vacant<'t, E>(&mut self, table: &'t ObjectTable<E>) -> Option<(u32, &'t Slot<E>)> {
        let index = match self.free.pop() {
            Some(index) => index,
            None => {
                let (chunk, _) = place(self.used)?;
                table.chunks[chunk].get_or_init(|| chunk_of_slots(chunk));
                self.used += 1;
                self.used - 1
            }
        };
        Some((index, table.slot(index)?))
    }

    /// Admits no further requests to an object. Returns `false` if it is not active. Call [`Self::reclaim`]
    /// afterwards until it succeeds.
    pub fn deactivate<E>(&mut self, table: &ObjectTable<E>, id: SlotId) -> bool {
        table
            .slot(id.index)
            .is_some_and(|slot| slot.gate.close(id.generation))
    }

    /// Removes a deactivated object; `None` while a request is inside.
    ///
    /// The caller is the last owner: drop the result outside the lock and not on a lane thread.
    pub fn reclaim<E>(&mut self, table: &ObjectTable<E>, index: u32) -> Option<Arc<E>> {
        let slot = table.slot(index)?;
        if !slot.gate.is_empty() {
            return None;
        }
        let entry = slot.entry.swap(None)?;
        self.free.push(index);
        Some(entry)
    }

    /// Iterates over the active objects.
    pub fn active<E>(&self, table: &ObjectTable<E>) -> impl Iterator<Item = SlotId> {
        (0..self.used).filter_map(move |index| {
            let generation = table.slot(index)?.gate.generation()?;
            Some(SlotId { index, generation })
        })
    }

    /// Watches the objects that `matches` selects, deactivated ones included, and returns those with requests
    /// inside.
    pub fn watch_all<E>(&mut self, table: &ObjectTable<E>, matches: impl Fn(&E) -> bool) -> Vec<SlotId> {
        let used = 0..self.used;
        used.filter_map(|index| {
            let slot = table.slot(index)?;
            let generation = slot.gate.current();
            // The entry is released before the owner's lock is: nobody reclaims it meanwhile.
            let is_selected = slot.entry.load().as_deref().is_some_and(&matches);
            (is_selected && slot.gate.watch(generation)).then_some(SlotId { index, generation })
        })
        .collect()
    }

    /// Returns whether a request is inside the object, which may have been deactivated. If so, the last one
    /// to leave has `on_idle` called, until [`Self::unwatch`].
    pub fn watch<E>(&mut self, table: &ObjectTable<E>, id: SlotId) -> bool {
        let slot = table.slot(id.index);
        slot.is_some_and(|slot| slot.gate.watch(id.generation))
    }

    /// Ends the effect of [`Self::watch`] on an object. Others that watch it have to do so again.
    pub fn unwatch<E>(&mut self, table: &ObjectTable<E>, id: SlotId) {
        if let Some(slot) = table.slot(id.index) {
            slot.gate.unwatch();
        }
    }

    /// Deactivates all objects, and removes those without a request inside.
    pub fn clear<E>(&mut self, table: &ObjectTable<E>) -> Vec<Arc<E>> {
        let used = 0..self.used;
        used.filter_map(|index| {
            table.slot(index)?.gate.close_any();
            self.reclaim(table, index)
        })
        .collect()
    }
}

/// Returns chunk and offset of a slot.
fn place(index: u32) -> Option<(usize, usize)> {
    let position = index.checked_add(FIRST_CHUNK)?;
    let chunk = (position / FIRST_CHUNK).ilog2();
    Some((chunk as usize, (position - (FIRST_CHUNK << chunk)) as usize))
}

fn chunk_of_slots<E>(chunk: usize) -> Box<[Slot<E>]> {
    let slots = (FIRST_CHUNK as usize) << chunk;
    let first = (FIRST_CHUNK << chunk) - FIRST_CHUNK;
    (first..)
        .take(slots)
        .map(|index| Slot {
            gate: Gate::new(),
            entry: ArcSwapOption::empty(),
            index,
        })
        .collect()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn ok<E>(entry: E) -> Result<Arc<E>, ()> {
        Ok(Arc::new(entry))
    }

    #[test]
    fn a_failed_activation_takes_no_slot() {
        let (table, mut slots) = ObjectTable::<u8>::new(|_| ());
        assert_eq!(slots.activate(&table, |_| Err("no")), Err("no"));
        let id = slots.activate(&table, |_| ok(1)).unwrap().unwrap();
        assert_eq!(id.index, 0);
        assert_eq!(slots.clear(&table).len(), 1);
        assert!(table.enter(id).is_none());
    }

    #[test]
    fn chunks_join_without_gaps() {
        assert_eq!(place(0), Some((0, 0)));
        assert_eq!(place(63), Some((0, 63)));
        assert_eq!(place(64), Some((1, 0)));
        assert_eq!(place(191), Some((1, 127)));
        assert_eq!(place(192), Some((2, 0)));
        assert_eq!(place(u32::MAX), None);
        assert!(place(u32::MAX - 64).unwrap().0 < CHUNKS);
    }

    #[test]
    fn objects_are_found_until_they_are_deactivated() {
        let (table, mut slots) = ObjectTable::new(|_| ());
        let ids: Vec<_> = (0..1000)
            .map(|n| slots.activate(&table, |_| ok(n)).unwrap().unwrap())
            .collect();
        for (n, id) in ids.iter().enumerate() {
            assert_eq!(*table.enter(*id).unwrap(), n);
        }
        let old = ids[500];
        assert!(slots.active(&table).eq(ids.iter().copied()));
        assert!(slots.deactivate(&table, old));
        assert_eq!(slots.active(&table).count(), 999);
        assert!(table.enter(old).is_none());
        assert_eq!(slots.reclaim(&table, old.index).as_deref(), Some(&500));
        let new = slots.activate(&table, |_| ok(7)).unwrap().unwrap();
        assert_eq!(new.index, old.index, "slots are reused");
        assert!(
            table.enter(old).is_none(),
            "but an old id does not reach the new object"
        );
        assert_eq!(*table.enter(new).unwrap(), 7);
        assert!(
            table
                .enter(SlotId {
                    index: 5000,
                    generation: 1
                })
                .is_none()
        );
    }

    #[test]
    fn a_watched_object_announces_that_its_last_request_has_left() {
        let (idle, announced) = std::sync::mpsc::channel();
        let (table, mut slots) = ObjectTable::new(move |slot| idle.send(slot).unwrap());
        let [one, other] = [1, 2].map(|entry| slots.activate(&table, |_| ok(entry)).unwrap().unwrap());
        let requests = [one, one, other].map(|id| table.enter(id).unwrap());
        assert_eq!(slots.watch_all(&table, |entry| *entry == 1), [one]);
        drop(requests);
        assert!(announced.try_iter().eq([one.index]));
        assert!(!slots.watch(&table, one));
        let request = table.enter(one).unwrap();
        assert!(slots.watch(&table, one));
        slots.unwatch(&table, one);
        drop(request);
        assert_eq!(announced.try_iter().next(), None);
    }

    #[test]
    fn an_object_is_reclaimed_after_its_last_request() {
        let (table, mut slots) = ObjectTable::new(|_| ());
        let object = Arc::new(());
        let id = slots
            .activate(&table, |_| Ok::<_, ()>(object.clone()))
            .unwrap()
            .unwrap();
        let request = table.enter(id).unwrap();
        assert!(slots.deactivate(&table, id));
        assert!(!slots.deactivate(&table, id));
        assert!(slots.reclaim(&table, id.index).is_none());
        drop(request);
        drop(slots.reclaim(&table, id.index).unwrap());
        assert_eq!(
            Arc::strong_count(&object),
            1,
            "the caller of `reclaim` is the last owner"
        );
    }
}
