//! The traits of `serde` for the types of IDL that this crate has: each as its contents, within its bounds.
//!
//! `fixed` is its decimal text, and `long double` its bits as hexadecimal text: few formats have numbers of
//! 128 bits.

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt::Display;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::{BoundedMap, BoundedSeq, BoundedString, Fixed, LongDouble, WChar, WString};

/// Reads the contents, and makes the value of them.
fn read<'de, C: Deserialize<'de>, T, E: Display, D: Deserializer<'de>>(
    deserializer: D,
    make: impl FnOnce(C) -> Result<T, E>,
) -> Result<T, D::Error> {
    make(C::deserialize(deserializer)?).map_err(D::Error::custom)
}

impl<const N: usize> Serialize for BoundedString<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, const N: usize> Deserialize<'de> for BoundedString<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer, |text: String| Self::try_from(text))
    }
}

impl<T: Serialize, const N: usize> Serialize for BoundedSeq<T, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>, const N: usize> Deserialize<'de> for BoundedSeq<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer, |elements: Vec<T>| Self::try_from(elements))
    }
}

impl<K: Serialize, V: Serialize, const N: usize> Serialize for BoundedMap<K, V, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>, const N: usize> Deserialize<'de>
    for BoundedMap<K, V, N>
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer, |pairs: BTreeMap<K, V>| Self::try_from(pairs))
    }
}

impl<const N: usize> Serialize for WString<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, const N: usize> Deserialize<'de> for WString<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer, |text: String| Self::new(text))
    }
}

impl Serialize for WChar {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for WChar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        char::deserialize(deserializer).map(Self)
    }
}

impl<const D: u8, const S: u8> Serialize for Fixed<D, S> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        self.to_string().serialize(serializer)
    }
}

impl<'de, const D: u8, const S: u8> Deserialize<'de> for Fixed<D, S> {
    fn deserialize<T: Deserializer<'de>>(deserializer: T) -> Result<Self, T::Error> {
        read(deserializer, |text: String| text.parse())
    }
}

impl Serialize for LongDouble {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        format!("{:032x}", self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LongDouble {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer, |text: String| {
            u128::from_str_radix(&text, 16).map(Self)
        })
    }
}
