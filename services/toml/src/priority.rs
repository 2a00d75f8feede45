//! CORBA priorities as plain numbers, for `#[serde(with = "punctual_toml::priority")]`.

use punctual_types::Priority;
use serde::{Deserialize, Deserializer, Serializer, de::Error};

/// Writes the number.
pub fn serialize<S: Serializer>(priority: &Priority, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i16(priority.value())
}

/// Reads a number from 0 to 32767.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Priority, D::Error> {
    let number = i64::deserialize(deserializer)?;
    let priority = i16::try_from(number)
        .ok()
        .and_then(|number| Priority::new(number).ok());
    let problem = || format!("{number} is not a CORBA priority; use 0 (lowest) to 32767 (highest)");
    priority.ok_or_else(|| D::Error::custom(problem()))
}
