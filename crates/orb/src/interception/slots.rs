use std::{
    any::Any,
    cell::RefCell,
    fmt, mem,
    sync::{Arc, Weak},
};

use thiserror::Error;

/// What a slot holds; `None` at first. Cloning it costs no allocation.
pub type SlotValue = Option<Arc<dyn Any + Send + Sync>>;

/// One slot of an ORB's [`PiCurrent`], from [`OrbInitInfo::allocate_slot_id`](crate::interceptors::OrbInitInfo::allocate_slot_id).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct SlotId(u32);

/// The slot belongs to another ORB (`PortableInterceptor::InvalidSlot`).
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("this ORB has no such slot; use ids that one of its own initializers has allocated")]
pub struct InvalidSlot;

/// The slots of the calling thread, `PortableInterceptor::Current`.
///
/// Threads begin with empty slots. A call's interceptors see the slots as they were when the call began. An upcall begins with what
/// the interceptors of its request have set with [`ServerRequestInfo::set_slot`](super::ServerRequestInfo::set_slot); what its
/// servant leaves there is what its ending points see. The thread's own slots come back behind it.
///
/// [`Orb::pi_current`](crate::Orb::pi_current) has an example.
pub struct PiCurrent<'o> {
    table: &'o SlotTable,
}

impl<'o> PiCurrent<'o> {
    pub(crate) fn new(table: &'o SlotTable) -> Self {
        Self { table }
    }

    /// What this thread has in the slot.
    pub fn get_slot(&self, id: SlotId) -> Result<SlotValue, InvalidSlot> {
        self.table.get(id)
    }

    /// Gives this thread's slot another value; the thread's first one allocates.
    pub fn set_slot(&self, id: SlotId, value: SlotValue) -> Result<(), InvalidSlot> {
        self.table.set(id, value)
    }
}

impl fmt::Debug for PiCurrent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PiCurrent").finish_non_exhaustive()
    }
}

/// Which slots an ORB has.
#[derive(Default)]
pub(crate) struct SlotTable {
    count: u32,
    /// Tells this ORB's slots from those of others.
    owner: Arc<Owner>,
}

#[derive(Default)]
struct Owner;

/// One ORB's slots of one thread.
struct OfThread {
    owner: Weak<Owner>,
    values: Vec<SlotValue>,
}

thread_local! {
    static SLOTS: RefCell<Vec<OfThread>> = const { RefCell::new(Vec::new()) };
}

impl SlotTable {
    pub(crate) fn allocate(&mut self) -> SlotId {
        self.count += 1;
        SlotId(self.count - 1)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Which of the slots this is.
    pub(crate) fn index(&self, id: SlotId) -> Result<usize, InvalidSlot> {
        if id.0 < self.count {
            Ok(id.0 as usize)
        } else {
            Err(InvalidSlot)
        }
    }

    pub(crate) fn get(&self, id: SlotId) -> Result<SlotValue, InvalidSlot> {
        let index = self.index(id)?;
        Ok(self.with_values(|values| values[index].clone()))
    }

    pub(crate) fn set(&self, id: SlotId, value: SlotValue) -> Result<(), InvalidSlot> {
        let index = self.index(id)?;
        let before = self.with_values(|values| mem::replace(&mut values[index], value));
        // Its destructor is user code, which may look at slots.
        drop(before);
        Ok(())
    }

    /// Copies the thread's slots.
    pub(crate) fn copy_into(&self, values: &mut Vec<SlotValue>) {
        values.clear();
        if !self.is_empty() {
            self.with_values(|own| values.extend_from_slice(own));
        }
    }

    /// Swaps the thread's slots for these, one for each slot.
    pub(crate) fn swap(&self, values: &mut Vec<SlotValue>) {
        values.resize(self.count as usize, None);
        self.with_values(|own| mem::swap(own, values));
    }

    fn with_values<R>(&self, look: impl FnOnce(&mut Vec<SlotValue>) -> R) -> R {
        let dead = SLOTS.with_borrow_mut(|tables| {
            if tables.iter().any(|table| self.owns(table)) {
                return None;
            }
            let dead = tables
                .extract_if(.., |table| table.owner.strong_count() == 0)
                .collect::<Vec<_>>();
            tables.push(OfThread {
                owner: Arc::downgrade(&self.owner),
                values: vec![None; self.count as usize],
            });
            Some(dead)
        });
        drop(dead);
        SLOTS.with_borrow_mut(|tables| {
            let own = tables.iter_mut().find(|table| self.owns(table));
            look(&mut own.expect("it is there since it was looked for").values)
        })
    }

    fn owns(&self, table: &OfThread) -> bool {
        std::ptr::eq(table.owner.as_ptr(), Arc::as_ptr(&self.owner))
    }
}
