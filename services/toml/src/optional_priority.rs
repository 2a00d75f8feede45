//! CORBA priorities that may be missing, for `#[serde(with = "punctual_toml::optional_priority")]`.

use punctual_types::Priority;
use serde::{Deserializer, Serializer};

use crate::priority;

/// Writes the number, if there is one.
pub fn serialize<S: Serializer>(priority: &Option<Priority>, serializer: S) -> Result<S::Ok, S::Error> {
    match priority {
        Some(priority) => priority::serialize(priority, serializer),
        None => serializer.serialize_none(),
    }
}

/// Reads a number from 0 to 32767.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Priority>, D::Error> {
    priority::deserialize(deserializer).map(Some)
}
