//! The state in a value.

use alloc::sync::Arc;
use core::{any::TypeId, fmt, marker::PhantomData, ops::Deref};

use super::object::ValueObject;

/// The state of a value that may be in a circle, and what keeps it.
///
/// ```
/// # mod punctual { pub(crate) use punctual_cdr as value; }
/// # mod shapes { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/shapes.rs")); }
/// # use shapes::Stop;
/// use punctual::value::{Shared, ValueState};
///
/// let stop = Shared::new(Stop { id: 7, next: None });
/// let state: ValueState<Stop> = stop.state().expect("it is complete");
/// drop(stop);
/// assert_eq!(state.id, 7);
/// ```
pub struct ValueState<T> {
    object: Arc<dyn ValueObject>,
    of: PhantomData<fn() -> T>,
}

impl<T: ValueObject> ValueState<T> {
    pub(super) fn of(object: Arc<dyn ValueObject>) -> Option<Self> {
        object.part(TypeId::of::<T>())?;
        Some(Self {
            object,
            of: PhantomData,
        })
    }
}

impl<T: ValueObject> Deref for ValueState<T> {
    type Target = T;

    fn deref(&self) -> &T {
        state(&self.object)
    }
}

impl<T: ValueObject + fmt::Debug> fmt::Debug for ValueState<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// The state in a value of this type.
pub(super) fn state<T: ValueObject>(object: &Arc<dyn ValueObject>) -> &T {
    let part = object.part(TypeId::of::<T>());
    part.and_then(|part| part.downcast_ref())
        .expect("a value of a type contains its state")
}
