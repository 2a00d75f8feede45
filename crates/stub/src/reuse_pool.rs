//! Values that are reused from upcall to upcall.

use std::{
    any::{Any, TypeId},
    collections::BTreeMap,
};

use punctual_any::{Any as IdlAny, TypeCode};
use punctual_cdr::{
    Abstract, BoundedMap, BoundedSeq, BoundedString, Fixed, LongDouble, Shared, WChar, WString,
};

/// A value that can be reset to its default without freeing its memory.
///
/// ```
/// # use punctual_stub as punctual;
/// use punctual::rt::Reset;
///
/// struct Plot { x: f64, label: String }
///
/// impl Reset for Plot {
///     fn reset(&mut self) {
///         self.x.reset();
///         self.label.reset();
///     }
/// }
/// let mut plot = Plot { x: 1.5, label: "bogey".into() };
/// plot.reset();
/// assert_eq!((plot.x, plot.label.len()), (0.0, 0));
/// assert!(plot.label.capacity() >= 5, "its memory is kept");
/// ```
pub trait Reset {
    /// Empties strings and sequences, and zeroes numbers.
    fn reset(&mut self);
}

/// Values that a lane thread reuses for later upcalls, at most one for each type and nesting level, so that
/// results and `inout` parameters need no allocation. Values of large messages are not kept.
pub struct ReusePool {
    // For a few types, a linear search is faster than hashing.
    values: Vec<(TypeId, Box<dyn Any + Send>)>,
    max_kept: usize,
}

impl Default for ReusePool {
    /// Creates a pool that keeps values of up to 1 MiB.
    fn default() -> Self {
        Self {
            values: Vec::new(),
            max_kept: 1 << 20,
        }
    }
}

impl ReusePool {
    /// Sets the octets that the values of one message may take to be kept.
    pub fn set_max_kept(&mut self, octets: usize) {
        self.max_kept = octets;
    }

    /// Returns a stored value after [`Reset::reset`], or a new one.
    pub fn take<T: Default + Reset + Send + 'static>(&mut self) -> Box<T> {
        let mut value = self.take_unreset(T::default);
        value.reset();
        value
    }

    /// Returns a stored value with its content, or a new one.
    pub fn take_unreset<T: Send + 'static>(&mut self, make: impl FnOnce() -> T) -> Box<T> {
        let wanted = TypeId::of::<T>();
        let found = self.values.iter().position(|(id, _)| *id == wanted);
        let stored = found.and_then(|index| self.values.swap_remove(index).1.downcast::<T>().ok());
        stored.unwrap_or_else(|| Box::new(make()))
    }

    /// Stores `value`, which belongs to a message with values of `octets`, for a later [`take`](Self::take).
    pub fn keep<T: Send + 'static>(&mut self, value: Box<T>, octets: usize) {
        if octets <= self.max_kept {
            self.values.push((TypeId::of::<T>(), value));
        }
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

reset_to_default!(
    bool, char, u8, i8, i16, u16, i32, u32, i64, u64, f32, f64, LongDouble, WChar
);

impl<const D: u8, const S: u8> Reset for Fixed<D, S> {
    fn reset(&mut self) {
        *self = Self::default();
    }
}

impl<const N: usize> Reset for WString<N> {
    fn reset(&mut self) {
        self.clear();
    }
}

impl<I> Reset for Option<Abstract<I>> {
    fn reset(&mut self) {
        *self = None;
    }
}

impl<T> Reset for Option<Shared<T>> {
    fn reset(&mut self) {
        *self = None;
    }
}

impl Reset for IdlAny {
    fn reset(&mut self) {
        self.clear();
    }
}

impl Reset for TypeCode {
    fn reset(&mut self) {
        *self = Self::default();
    }
}

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

impl<K, V> Reset for BTreeMap<K, V> {
    fn reset(&mut self) {
        self.clear();
    }
}

impl<K, V, const N: usize> Reset for BoundedMap<K, V, N> {
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

impl<T: Reset> Reset for Box<T> {
    fn reset(&mut self) {
        (**self).reset();
    }
}

impl<T: Reset, const N: usize> Reset for [T; N] {
    fn reset(&mut self) {
        self.iter_mut().for_each(T::reset);
    }
}
