use std::any::{Any, TypeId};

use punctual_cdr::{BoundedSeq, BoundedString, LongDouble};

use crate::ObjectRef;

/// Puts a value back to its default while keeping the memory it holds.
pub trait Reset {
    /// Empties strings and sequences, zeroes numbers.
    fn reset(&mut self);
}

/// Values that a lane's thread keeps from upcall to upcall, at most one per type and nesting level, so that results and
/// `inout` parameters need no allocation.
#[derive(Default)]
pub struct ReusePool {
    // A handful of types: a linear search beats hashing.
    values: Vec<(TypeId, Box<dyn Any + Send>)>,
}

impl ReusePool {
    /// A value as [`Reset`] leaves it: a kept one, or a new one.
    pub fn take<T: Default + Reset + Send + 'static>(&mut self) -> Box<T> {
        let mut value = self.take_as_left(T::default);
        value.reset();
        value
    }

    /// A kept value as it was left, or a new one.
    pub fn take_as_left<T: Send + 'static>(&mut self, make: impl FnOnce() -> T) -> Box<T> {
        let wanted = TypeId::of::<T>();
        let found = self.values.iter().position(|(kept, _)| *kept == wanted);
        let kept = found.and_then(|index| self.values.swap_remove(index).1.downcast::<T>().ok());
        kept.unwrap_or_else(|| Box::new(make()))
    }

    /// Keeps `value` for a later [`take`](Self::take).
    pub fn keep<T: Send + 'static>(&mut self, value: Box<T>) {
        self.values.push((TypeId::of::<T>(), value));
    }
}

macro_rules! reset_to_default {
    ($($type:ty),*) => {$(
        impl Reset for $type {
            fn reset(&mut self) {
                *self = Self::default();
            }
        }
    )*};
}

reset_to_default!(bool, char, u8, i16, u16, i32, u32, i64, u64, f32, f64, LongDouble);

impl Reset for String {
    fn reset(&mut self) {
        self.clear();
    }
}

impl<T> Reset for Vec<T> {
    fn reset(&mut self) {
        self.clear();
    }
}

impl<T, const N: usize> Reset for BoundedSeq<T, N> {
    fn reset(&mut self) {
        self.clear();
    }
}

impl<const N: usize> Reset for BoundedString<N> {
    fn reset(&mut self) {
        self.clear();
    }
}

impl<T: Reset, const N: usize> Reset for [T; N] {
    fn reset(&mut self) {
        self.iter_mut().for_each(T::reset);
    }
}

impl<T: AsRef<ObjectRef>> Reset for Option<T> {
    fn reset(&mut self) {
        *self = None;
    }
}

impl AsRef<ObjectRef> for ObjectRef {
    fn as_ref(&self) -> &ObjectRef {
        self
    }
}
