//! An array that serde does not know, as a sequence; for an attribute of a member.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

pub(crate) fn serialize<S: Serializer>(octets: &[u8; 40], serializer: S) -> Result<S::Ok, S::Error> {
    octets.as_slice().serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[u8; 40], D::Error> {
    let octets = Vec::deserialize(deserializer)?;
    <[u8; 40]>::try_from(octets).map_err(|octets| D::Error::invalid_length(octets.len(), &"40 octets"))
}
