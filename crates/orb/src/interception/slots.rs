//! Slots of threads and requests, in which interceptors pass values (`PortableInterceptor::Current`).

use std::{
    any::Any,
    cell::RefCell,
    fmt, mem,
    sync::{Arc, Weak},
};

use thiserror::Error;

/// Value of a slot; initially `None`. Cloning does not allocate.
///
/// ```
/// # use punctual_orb as punctual;
/// use std::sync::Arc;
///
/// use punctual::interceptors::SlotValue;
///
/// let value: SlotValue = Some(Arc::new(7_u32));
/// assert_eq!(value.as_ref().and_then(|value| value.downcast_ref()), Some(&7_u32));
/// ```
pub type SlotValue = Option<Arc<dyn Any + Send + Sync>>;

/// Id of a slot of an ORB's [`PiCurrent`], allocated by
/// [`OrbInitInfo::allocate_slot_id`](crate::interceptors::OrbInitInfo::allocate_slot_id).
///
/// ```
/// # use punctual_orb as punctual;
/// use std::sync::{Arc, OnceLock};
///
/// use punctual::{Orb, interceptors::*};
///
/// /// Keeps the slot of the user on whose behalf a thread calls.
/// #[derive(Clone, Default)]
/// struct User(Arc<OnceLock<SlotId>>);
///
/// impl OrbInitializer for User {
///     fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
///         self.0.get_or_init(|| info.allocate_slot_id());
///     }
/// }
///
/// let user = User::default();
/// let orb = Orb::builder().initializer(&user).build()?;
/// let slot: SlotId = *user.0.get().expect("the initializer has run");
/// orb.pi_current().set_slot(slot, Some(Arc::new("operator")))?;
/// # assert!(orb.pi_current().get_slot(slot)?.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct SlotId(u32);

/// Error: the slot belongs to another ORB (`PortableInterceptor::InvalidSlot`).
///
/// ```
/// # use punctual_orb as punctual;
/// # use std::sync::{Arc, OnceLock};
/// use punctual::{Orb, interceptors::*};
/// # #[derive(Clone, Default)]
/// # struct User(Arc<OnceLock<SlotId>>);
/// # impl OrbInitializer for User {
/// #     fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
/// #         self.0.get_or_init(|| info.allocate_slot_id());
/// #     }
/// # }
///
/// # let user = User::default();
/// let orb = Orb::builder().initializer(&user).build()?;
/// # let slot: SlotId = *user.0.get().expect("the initializer has run");
/// // `slot` is one that the initializer has allocated for this ORB.
/// assert!(orb.pi_current().get_slot(slot).is_ok());
/// let other = Orb::builder().build()?;
/// assert_eq!(other.pi_current().get_slot(slot).err(), Some(InvalidSlot));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Eq, Error, PartialEq)]
#[error("this ORB has no such slot; use ids allocated by one of its own initializers")]
pub struct InvalidSlot;

punctual_types::debug_as_display!(InvalidSlot);

/// Slots of the calling thread, `PortableInterceptor::Current`. Threads start with empty slots. A call's
/// interceptors see the slots as they were when the call began. An upcall starts with the values that the
/// interceptors of its request have set with
/// [`ServerRequestInfo::set_slot`](super::ServerRequestInfo::set_slot); its ending points see the values that
/// the servant leaves. The thread's own slots are restored afterwards.
///
/// ```
/// # use punctual_orb as punctual;
/// use std::sync::{Arc, OnceLock};
///
/// use punctual::{Orb, interceptors::*};
///
/// /// Keeps the slot of the user on whose behalf a thread calls.
/// #[derive(Clone, Default)]
/// struct User(Arc<OnceLock<SlotId>>);
///
/// impl OrbInitializer for User {
///     fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
///         self.0.get_or_init(|| info.allocate_slot_id());
///     }
/// }
///
/// let user = User::default();
/// let orb = Orb::builder().initializer(&user).build()?;
/// let slot = *user.0.get().expect("the initializer has run");
/// let current: PiCurrent<'_> = orb.pi_current();
/// current.set_slot(slot, Some(Arc::new("operator")))?;
/// let value = current.get_slot(slot)?.expect("this thread has set it");
/// assert_eq!(value.downcast_ref(), Some(&"operator"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PiCurrent<'o> {
    table: &'o SlotTable,
}

impl<'o> PiCurrent<'o> {
    pub(crate) fn new(table: &'o SlotTable) -> Self {
        Self { table }
    }

    /// Returns the value of this thread's slot.
    pub fn get_slot(&self, id: SlotId) -> Result<SlotValue, InvalidSlot> {
        self.table.get(id)
    }

    /// Sets the value of this thread's slot; the first use by a thread allocates.
    pub fn set_slot(&self, id: SlotId, value: SlotValue) -> Result<(), InvalidSlot> {
        self.table.set(id, value)
    }
}

impl fmt::Debug for PiCurrent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PiCurrent").finish_non_exhaustive()
    }
}

/// Slots of an ORB.
#[derive(Default)]
pub(crate) struct SlotTable {
    count: u32,
    /// Distinguishes this ORB's slots from those of other ORBs.
    owner: Arc<Owner>,
}

#[derive(Default)]
struct Owner;

/// Slots of one ORB in one thread.
struct ThreadSlots {
    owner: Weak<Owner>,
    values: Vec<SlotValue>,
}

thread_local! {
    static SLOTS: RefCell<Vec<ThreadSlots>> = const { RefCell::new(Vec::new()) };
}

impl SlotTable {
    pub(crate) fn allocate(&mut self) -> SlotId {
        self.count += 1;
        SlotId(self.count - 1)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the index of the slot.
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
        // Its destructor is user code, which may access slots.
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

    fn with_values<R>(&self, use_values: impl FnOnce(&mut Vec<SlotValue>) -> R) -> R {
        let (result, dead) = SLOTS.with_borrow_mut(|tables| {
            let mut dead = Vec::new();
            let own = tables.iter().position(|table| self.owns(table));
            let own = own.unwrap_or_else(|| {
                dead.extend(tables.extract_if(.., |table| table.owner.strong_count() == 0));
                tables.push(ThreadSlots {
                    owner: Arc::downgrade(&self.owner),
                    values: vec![None; self.count as usize],
                });
                tables.len() - 1
            });
            (use_values(&mut tables[own].values), dead)
        });
        // Outside the borrow: destructors of values are user code.
        drop(dead);
        result
    }

    fn owns(&self, table: &ThreadSlots) -> bool {
        std::ptr::eq(table.owner.as_ptr(), Arc::as_ptr(&self.owner))
    }
}
