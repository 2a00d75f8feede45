//! Bounded strings, sequences and maps, `string<N>`, `sequence<T, N>` and `map<K, V, N>`: encoded like
//! unbounded ones, refused beyond the bound.

use alloc::{collections::BTreeMap, string::String, vec::Vec};
use core::{fmt, ops::Deref};

use crate::{CdrError, CdrErrorKind, Decode, Decoder, Encode, Encoder, map};

/// A value exceeds the bound of its IDL type.
///
/// ```
/// # use punctual_cdr as punctual;
/// use punctual::{BoundedString, TooLong};
///
/// let error = BoundedString::<4>::try_from("radar".to_owned()).unwrap_err();
/// assert_eq!(error, TooLong { length: 5, bound: 4 });
/// assert_eq!(error.to_string(), "length 5 exceeds the bound 4 of the IDL type");
/// ```
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct TooLong {
    /// Length of the value in elements, pairs of a map, or characters of a string.
    pub length: usize,
    /// Bound of the IDL type.
    pub bound: usize,
}

punctual_types::debug_as_display!(TooLong);

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "length {} exceeds the bound {} of the IDL type",
            self.length, self.bound
        )
    }
}

impl core::error::Error for TooLong {}

macro_rules! bounded {
    ($(#[$doc:meta])* $name:ident [$($generic:tt)*] $inner:ty, $target:ty, [$($param:tt)*], $length:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub struct $name<$($generic)*>($inner);

        impl<$($generic)*> $name<$($param)*> {
            /// Returns the inner value.
            pub fn into_inner(self) -> $inner {
                self.0
            }
        }

        impl<$($generic)*> Deref for $name<$($param)*> {
            type Target = $target;

            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }

        impl<$($generic)*> TryFrom<$inner> for $name<$($param)*> {
            type Error = TooLong;

            fn try_from(inner: $inner) -> Result<Self, TooLong> {
                let length: fn(&$target) -> usize = $length;
                let length = length(&inner);
                if length > N {
                    return Err(TooLong { length, bound: N });
                }
                Ok(Self(inner))
            }
        }
    };
}

bounded!(
    /// An owned `sequence<T, N>`: at most `N` elements.
    ///
    /// ```
    /// # use punctual_cdr as punctual;
    /// use punctual::BoundedSeq;
    ///
    /// let mut track = BoundedSeq::<i32, 3>::try_from(vec![1, 2])?;
    /// track.push(3)?;
    /// assert_eq!(track[..], [1, 2, 3]);
    /// assert!(track.push(4).is_err());
    /// assert_eq!(track.into_inner(), vec![1, 2, 3]);
    /// # Ok::<(), punctual_cdr::TooLong>(())
    /// ```
    BoundedSeq [T, const N: usize] Vec<T>, [T], [T, N], <[T]>::len
);
bounded!(
    /// A lent `sequence<T, N>`: at most `N` elements.
    ///
    /// ```
    /// # use punctual_cdr as punctual;
    /// use punctual::{BoundedSeq, BoundedSlice};
    ///
    /// let samples = [1, 2, 3];
    /// let lent = BoundedSlice::<i32, 3>::try_from(samples.as_slice())?;
    /// assert_eq!(lent.iter().sum::<i32>(), 6);
    /// let owned: BoundedSeq<i32, 3> = lent.to_bounded_seq(|sample| *sample);
    /// assert_eq!(owned[..], samples);
    /// # Ok::<(), punctual_cdr::TooLong>(())
    /// ```
    BoundedSlice ['a, T, const N: usize] &'a [T], [T], ['a, T, N], <[T]>::len
);
bounded!(
    /// A `map<K, V, N>`: at most `N` pairs.
    ///
    /// ```
    /// # use punctual_cdr as punctual;
    /// use punctual::BoundedMap;
    ///
    /// let mut limits = BoundedMap::<&str, i32, 1>::default();
    /// limits.insert("low", 10)?;
    /// limits.insert("low", 20)?;
    /// assert!(limits.insert("high", 80).is_err());
    /// assert_eq!(limits["low"], 20);
    /// # Ok::<(), punctual_cdr::TooLong>(())
    /// ```
    BoundedMap [K, V, const N: usize] BTreeMap<K, V>, BTreeMap<K, V>, [K, V, N], BTreeMap::len
);
bounded!(
    /// An owned `string<N>`: at most `N` characters.
    ///
    /// ```
    /// # use punctual_cdr as punctual;
    /// use punctual::BoundedString;
    ///
    /// let mut name = BoundedString::<8>::try_from("radar".to_owned())?;
    /// name.push_str(" 2")?;
    /// assert_eq!(&*name, "radar 2");
    /// assert!(name.push_str("22").is_err());
    /// assert_eq!(&*name, "radar 2", "unchanged");
    /// # Ok::<(), punctual_cdr::TooLong>(())
    /// ```
    BoundedString [const N: usize] String, str, [N], characters
);
bounded!(
    /// A lent `string<N>`: at most `N` characters.
    ///
    /// ```
    /// # use punctual_cdr as punctual;
    /// use punctual::{BoundedStr, BoundedString};
    ///
    /// let lent = BoundedStr::<8>::try_from("radar")?;
    /// assert_eq!(lent.len(), 5);
    /// let owned: BoundedString<8> = lent.to_bounded_string();
    /// assert_eq!(owned.into_inner(), "radar");
    /// # Ok::<(), punctual_cdr::TooLong>(())
    /// ```
    BoundedStr ['a, const N: usize] &'a str, str, ['a, N], characters
);

impl<T, const N: usize> Default for BoundedSeq<T, N> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K, V, const N: usize> Default for BoundedMap<K, V, N> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<const N: usize> Default for BoundedString<N> {
    fn default() -> Self {
        Self(String::new())
    }
}

impl<T, const N: usize> BoundedSeq<T, N> {
    /// Removes all content but keeps the memory.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Appends an element. Fails if the sequence is full.
    ///
    /// ```
    /// # use punctual_cdr::{BoundedSeq, TooLong};
    /// let mut one = BoundedSeq::<u8, 1>::default();
    /// assert_eq!(one.push(7), Ok(()));
    /// assert_eq!(one.push(8), Err(TooLong { length: 2, bound: 1 }));
    /// one.clear();
    /// assert_eq!(one.push(8), Ok(()));
    /// ```
    pub fn push(&mut self, element: T) -> Result<(), TooLong> {
        if self.0.len() == N {
            return Err(TooLong {
                length: N + 1,
                bound: N,
            });
        }
        self.0.push(element);
        Ok(())
    }
}

impl<K, V, const N: usize> BoundedMap<K, V, N> {
    /// Removes all pairs.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl<K: Ord, V, const N: usize> BoundedMap<K, V, N> {
    /// Sets the value of a key, and returns the previous one. Fails if the key is new and the map is full.
    ///
    /// ```
    /// # use punctual_cdr::{BoundedMap, TooLong};
    /// let mut one = BoundedMap::<u8, char, 1>::default();
    /// assert_eq!(one.insert(7, 'a'), Ok(None));
    /// assert_eq!(one.insert(7, 'b'), Ok(Some('a')));
    /// assert_eq!(one.insert(8, 'c'), Err(TooLong { length: 2, bound: 1 }));
    /// ```
    pub fn insert(&mut self, key: K, value: V) -> Result<Option<V>, TooLong> {
        if self.0.len() == N && !self.0.contains_key(&key) {
            return Err(TooLong {
                length: N + 1,
                bound: N,
            });
        }
        Ok(self.0.insert(key, value))
    }
}

impl<const N: usize> BoundedString<N> {
    /// Removes all content but keeps the memory.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Appends text. Fails without effect if the result would exceed the bound.
    ///
    /// ```
    /// # use punctual_cdr::BoundedString;
    /// let mut text = BoundedString::<4>::default();
    /// text.push_str("grün").expect("characters count, not octets");
    /// text.clear();
    /// assert!(text.is_empty());
    /// ```
    pub fn push_str(&mut self, text: &str) -> Result<(), TooLong> {
        let length = characters(&self.0) + characters(text);
        if length > N {
            return Err(TooLong { length, bound: N });
        }
        self.0.push_str(text);
        Ok(())
    }
}

impl<const N: usize> BoundedStr<'_, N> {
    /// Returns a copy that outlives the upcall.
    pub fn to_bounded_string(&self) -> BoundedString<N> {
        BoundedString(String::from(self.0))
    }
}

impl<T, const N: usize> BoundedSlice<'_, T, N> {
    /// Returns a copy that outlives the upcall; `convert` turns each lent element into an owned one.
    pub fn to_bounded_seq<U>(&self, convert: impl FnMut(&T) -> U) -> BoundedSeq<U, N> {
        BoundedSeq(self.0.iter().map(convert).collect())
    }
}

impl<T: Encode, const N: usize> Encode for BoundedSeq<T, N> {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.0.encode(encoder)
    }
}

impl<T: Encode, const N: usize> Encode for BoundedSlice<'_, T, N> {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.0.encode(encoder)
    }
}

impl<K: Encode, V: Encode, const N: usize> Encode for BoundedMap<K, V, N> {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.0.encode(encoder)
    }
}

impl<const N: usize> Encode for BoundedString<N> {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.0.encode(encoder)
    }
}

impl<const N: usize> Encode for BoundedStr<'_, N> {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.0.encode(encoder)
    }
}

impl<'a, T: Decode<'a>, const N: usize> Decode<'a> for BoundedSeq<T, N> {
    const MIN_SIZE: usize = 4;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let mut value = Self::default();
        value.decode_into(decoder)?;
        Ok(value)
    }

    fn decode_into(&mut self, decoder: &mut Decoder<'a>) -> Result<(), CdrError> {
        let count = bounded_length::<N>(decoder, T::MIN_SIZE)?;
        T::decode_elements_into(&mut self.0, count, decoder)
    }
}

impl<'a, T: Decode<'a>, const N: usize> Decode<'a> for BoundedSlice<'a, T, N> {
    const MIN_SIZE: usize = 4;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let count = bounded_length::<N>(decoder, T::MIN_SIZE)?;
        T::decode_slice(decoder, count).map(Self)
    }
}

impl<'a, K: Decode<'a> + Ord, V: Decode<'a>, const N: usize> Decode<'a> for BoundedMap<K, V, N> {
    const MIN_SIZE: usize = 4;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let count = bounded_length::<N>(decoder, K::MIN_SIZE + V::MIN_SIZE)?;
        map::pairs(decoder, count).map(Self)
    }
}

impl<'a, const N: usize> Decode<'a> for BoundedString<N> {
    const MIN_SIZE: usize = 4;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let mut value = Self::default();
        value.decode_into(decoder)?;
        Ok(value)
    }

    fn decode_into(&mut self, decoder: &mut Decoder<'a>) -> Result<(), CdrError> {
        self.0.decode_into(decoder)?;
        within::<N>(characters(&self.0), decoder)
    }
}

impl<'a, const N: usize> Decode<'a> for BoundedStr<'a, N> {
    const MIN_SIZE: usize = 4;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let text = <&str>::decode(decoder)?;
        within::<N>(characters(text), decoder)?;
        Ok(Self(text))
    }
}

fn bounded_length<const N: usize>(decoder: &mut Decoder<'_>, min_size: usize) -> Result<usize, CdrError> {
    let count = decoder.length(min_size)?;
    within::<N>(count, decoder)?;
    Ok(count)
}

fn within<const N: usize>(length: usize, decoder: &Decoder<'_>) -> Result<(), CdrError> {
    if length > N {
        Err(decoder.error(CdrErrorKind::BoundExceeded))
    } else {
        Ok(())
    }
}

fn characters(text: &str) -> usize {
    text.chars().count()
}
