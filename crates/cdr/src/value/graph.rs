//! Values that refer to each other in circles, made by the application.

use alloc::{sync::Arc, vec::Vec};
use core::{fmt, marker::PhantomData};

use super::{
    circle::{Keeper, Link, Slot},
    object::ValueObject,
    outsiders::outsider,
    shared::{Shared, ValueType},
};

/// New values that refer to each other in circles. Their types must be
/// [circular](ValueType::CIRCULAR), as `circular("Lab::Stop")` in build.rs makes them.
///
/// ```
/// # mod punctual { pub(crate) use punctual_cdr as value; }
/// # mod shapes { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/shapes.rs")); }
/// # use shapes::Stop;
/// use punctual::value::{Shared, ValueGraph};
///
/// // valuetype Stop { public long id; public Stop next; };
/// let mut line = ValueGraph::default();
/// let (first, second) = (line.reserve::<Stop>(), line.reserve::<Stop>());
/// let (to_first, to_second) = (first.shared(), second.shared());
/// line.set(first, Stop { id: 1, next: Some(to_second) });
/// line.set(second, Stop { id: 2, next: Some(to_first.clone()) });
/// let first: Shared<Stop> = line.close(&to_first);
///
/// let second = first.state().unwrap().next.clone().unwrap();
/// drop(first);
/// let first = second.state().unwrap().next.clone().unwrap();
/// assert_eq!(first.state().unwrap().id, 1, "one value keeps all of a circle");
/// ```
#[derive(Default)]
pub struct ValueGraph {
    values: Vec<Arc<dyn ValueObject>>,
    slots: Vec<Arc<Slot>>,
}

/// A value of a [`ValueGraph`] without a state so far.
///
/// ```
/// # mod punctual { pub(crate) use punctual_cdr as value; }
/// # mod shapes { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/shapes.rs")); }
/// # use shapes::Stop;
/// use punctual::value::ValueGraph;
///
/// let mut line = ValueGraph::default();
/// let only = line.reserve::<Stop>();
/// let to_itself = only.shared();
/// line.set(only, Stop { id: 1, next: Some(to_itself.clone()) });
/// assert_eq!(line.close(&to_itself).state().unwrap().id, 1);
/// ```
pub struct Reserved<T> {
    slot: Arc<Slot>,
    /// Number of the slot in its graph.
    index: usize,
    of: PhantomData<fn() -> T>,
}

impl ValueGraph {
    /// Adds a value without a state, so that states can refer to it.
    pub fn reserve<T: ValueType + ValueObject>(&mut self) -> Reserved<T> {
        const {
            assert!(
                T::CIRCULAR,
                "this value type cannot be in circles: name it with `circular` in build.rs"
            )
        };
        let slot = Slot::new(const { &[T::REPOSITORY_ID] }, T::BASES);
        self.slots.push(Arc::clone(&slot));
        Reserved {
            slot,
            index: self.slots.len() - 1,
            of: PhantomData,
        }
    }

    /// Adds a value whose state is known, of a type that need not be circular, and returns a reference to it
    /// for the states of others. It belongs to the graph, as all values must that refer to others in it:
    /// [`Self::close`] refuses those that [`Shared::new`] has made, which would not keep what they refer to.
    ///
    /// ```
    /// # mod punctual { pub(crate) use punctual_cdr as value; }
    /// # mod shapes { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/shapes.rs")); }
    /// # use shapes::Stop;
    /// use punctual::value::ValueGraph;
    ///
    /// let mut line = ValueGraph::default();
    /// let first = line.reserve::<Stop>();
    /// let second = line.add(Stop { id: 2, next: Some(first.shared()) });
    /// let to_first = first.shared();
    /// line.set(first, Stop { id: 1, next: Some(second) });
    /// let second = line.close(&to_first).state().unwrap().next.clone().unwrap();
    /// let first = second.state().unwrap().next.clone().unwrap();
    /// assert_eq!(first.state().unwrap().id, 1, "the second one keeps it");
    /// ```
    pub fn add<T: ValueType + ValueObject>(&mut self, state: T) -> Shared<T> {
        let circle = Slot::new(const { &[T::REPOSITORY_ID] }, T::BASES);
        let object: Arc<dyn ValueObject> = Arc::new(state);
        circle.set(&object);
        self.slots.push(Arc::clone(&circle));
        self.values.push(Arc::clone(&object));
        Shared::of(Arc::new(Link::Part { object, circle }))
    }

    /// Sets the state of a value.
    ///
    /// # Panics
    /// If the value is of another graph.
    pub fn set<T: ValueType + ValueObject>(&mut self, value: Reserved<T>, state: T) {
        let own = self.slots.get(value.index);
        assert!(
            own.is_some_and(|slot| Arc::ptr_eq(slot, &value.slot)),
            "the value is of another graph: set it there"
        );
        let object: Arc<dyn ValueObject> = Arc::new(state);
        value.slot.set(&object);
        self.values.push(object);
    }

    /// Completes the values, and returns this one. It keeps all others, as does each clone of a reference
    /// that is found in one of them. References from [`Reserved::shared`] keep nothing, and those from
    /// [`Self::add`] their own value only.
    ///
    /// # Panics
    /// If a value has no state, or this one is not a reference from [`Reserved::shared`] or [`Self::add`] of
    /// this graph, or a value that [`Shared::new`] has made refers into the graph and is reached from it. The
    /// states are encoded to find that out: a custom one, too ([`CustomMarshal`](super::CustomMarshal)).
    pub fn close<T: ValueType>(self, value: &Shared<T>) -> Shared<T> {
        assert!(
            value.is_in_circle_of(&self.slots),
            "the value is of another graph: close its own one"
        );
        let has_states = self.slots.iter().all(|slot| slot.is_complete());
        assert!(
            has_states,
            "a value of the graph has no state: `set` each one that was reserved"
        );
        if let Some(id) = outsider(&self.values, &self.slots) {
            panic!(
                "a value of {id} refers into the graph and is no part of it: make it with `ValueGraph::add`"
            );
        }
        let keeper: Arc<Keeper> = Arc::new(self.values);
        self.slots.iter().for_each(|slot| slot.keep(&keeper));
        value.clone()
    }
}

impl<T: ValueType + ValueObject> Reserved<T> {
    /// Returns a reference to the value, for the states of others.
    pub fn shared(&self) -> Shared<T> {
        Shared::of(Arc::new(Link::Back(Arc::clone(&self.slot))))
    }
}

impl fmt::Debug for ValueGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ValueGraph({} values)", self.slots.len())
    }
}

impl<T: ValueType> fmt::Debug for Reserved<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reserved({})", T::REPOSITORY_ID)
    }
}
