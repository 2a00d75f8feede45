//! Keys to `Copy` values of one type.

use std::marker::PhantomData;

use punctual_types::Priority;

use super::{StorageError, StorageKey};

/// A `Copy` type that fits into a word.
///
/// ```
/// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
/// use punctual::rtscheduling::storage::{StorageError, ThreadStorage, Word, WordKey};
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// enum Mode { Search, Track }
///
/// impl Word for Mode {
///     fn to_word(self) -> u64 {
///         self as u64
///     }
///     fn from_word(word: u64) -> Self {
///         if word == 0 { Self::Search } else { Self::Track }
///     }
/// }
///
/// let mode = WordKey::<Mode>::new()?;
/// ThreadStorage::new().enter(|| {
///     mode.set(Mode::Track)?;
///     assert_eq!(mode.get()?, Some(Mode::Track));
///     Ok::<(), StorageError>(())
/// })?;
/// # Ok::<(), StorageError>(())
/// ```
pub trait Word: Copy {
    /// Converts to the stored word.
    fn to_word(self) -> u64;

    /// Converts from the result of [`to_word`](Self::to_word).
    fn from_word(word: u64) -> Self;
}

/// A [`StorageKey`] with values of one type, at the same cost.
///
/// ```
/// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
/// use std::sync::LazyLock;
/// use punctual::rtscheduling::storage::{StorageError, ThreadStorage, WordKey};
///
/// static ALTITUDE: LazyLock<WordKey<f64>> = LazyLock::new(|| WordKey::new().expect("there are few keys"));
///
/// ThreadStorage::new().enter(|| {
///     ALTITUDE.set(1_500.0)?;
///     assert_eq!(ALTITUDE.get()?, Some(1_500.0));
///     Ok::<(), StorageError>(())
/// })?;
/// # Ok::<(), StorageError>(())
/// ```
#[derive(Debug)]
pub struct WordKey<T> {
    key: StorageKey,
    values: PhantomData<fn(T) -> T>,
}

impl<T: Word> WordKey<T> {
    /// See [`StorageKey::new`].
    ///
    /// # Errors
    /// [`StorageError::TooManyKeys`].
    pub fn new() -> Result<Self, StorageError> {
        StorageKey::new().map(Self::of)
    }

    /// See [`StorageKey::with_destructor`].
    ///
    /// # Errors
    /// [`StorageError::TooManyKeys`].
    pub fn with_destructor(destructor: impl Fn(T) + Send + Sync + 'static) -> Result<Self, StorageError> {
        StorageKey::with_destructor(move |word| destructor(T::from_word(word))).map(Self::of)
    }

    fn of(key: StorageKey) -> Self {
        Self {
            key,
            values: PhantomData,
        }
    }

    /// Returns the value of the current distributable thread, if it has one.
    ///
    /// # Errors
    /// [`StorageError::NoDistributableThread`], [`StorageError::StaleKey`].
    #[inline]
    pub fn get(self) -> Result<Option<T>, StorageError> {
        Ok(self.key.get()?.map(T::from_word))
    }

    /// See [`StorageKey::set`].
    ///
    /// # Errors
    /// [`StorageError::NoDistributableThread`], [`StorageError::StaleKey`].
    #[inline]
    pub fn set(self, value: T) -> Result<(), StorageError> {
        self.key.set(value.to_word())
    }

    /// See [`StorageKey::take`].
    ///
    /// # Errors
    /// [`StorageError::NoDistributableThread`], [`StorageError::StaleKey`].
    pub fn take(self) -> Result<Option<T>, StorageError> {
        Ok(self.key.take()?.map(T::from_word))
    }

    /// See [`StorageKey::delete`].
    ///
    /// # Errors
    /// [`StorageError::StaleKey`].
    pub fn delete(self) -> Result<(), StorageError> {
        self.key.delete()
    }
}

impl<T> Clone for WordKey<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for WordKey<T> {}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Word for $integer {
            #[inline]
            fn to_word(self) -> u64 {
                self as u64
            }

            #[inline]
            fn from_word(word: u64) -> Self {
                word as Self
            }
        }
    )*};
}

integers!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);

impl Word for bool {
    fn to_word(self) -> u64 {
        self.into()
    }

    fn from_word(word: u64) -> Self {
        word != 0
    }
}

impl Word for f32 {
    fn to_word(self) -> u64 {
        self.to_bits().into()
    }

    fn from_word(word: u64) -> Self {
        Self::from_bits(word as u32)
    }
}

impl Word for f64 {
    fn to_word(self) -> u64 {
        self.to_bits()
    }

    fn from_word(word: u64) -> Self {
        Self::from_bits(word)
    }
}

impl Word for Priority {
    fn to_word(self) -> u64 {
        self.value().to_word()
    }

    fn from_word(word: u64) -> Self {
        Self::new(i16::from_word(word)).unwrap_or(Self::MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survives<T: Word + PartialEq + std::fmt::Debug>(values: &[T]) {
        for value in values {
            assert_eq!(T::from_word(value.to_word()), *value);
        }
    }

    #[test]
    fn values_come_back_as_they_were() {
        survives(&[i8::MIN, -1, 0, i8::MAX]);
        survives(&[i64::MIN, -1, 0, i64::MAX]);
        survives(&[0, u64::MAX]);
        survives(&[false, true]);
        survives(&[f32::MIN, -0.5, f32::INFINITY]);
        survives(&[f64::MIN, -0.5, f64::INFINITY]);
        survives(&[Priority::MIN, Priority::MAX]);
    }
}
