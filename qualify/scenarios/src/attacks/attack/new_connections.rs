//! No attack: well-behaved clients that connect, call once, and leave.

use std::{
    io, thread,
    time::{Duration, Instant},
};

use punctual_cdr::Encode;
use punctual_giop::{HEADER_SIZE, MessageType, Version};
use serde::{Deserialize, Serialize};

use crate::attacks::{
    line::{CLIENT, Line},
    messages::request,
    target::Target,
};

/// Timeout of each step of a newcomer.
pub(in crate::attacks) const TIMEOUT: Duration = Duration::from_millis(500);
/// No multiple of the period of the clients, which the newcomers would meet in each call or in none: the
/// phases are spread evenly (0.618 of a period apart).
const INTERVAL: Duration = Duration::from_micros(25_309);

/// The newcomers of one lane.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(in crate::attacks) struct NewConnections {
    pub(in crate::attacks) arrived: u64,
    pub(in crate::attacks) served: u64,
}

/// Sends newcomers to a lane until the time is over.
pub(in crate::attacks) fn new_connections(target: &Target, deadline: Instant) -> NewConnections {
    let request = request(Version::V1_2, target, &target.key, "method", |encoder| {
        (1_u32, 1_u32, 997_u32).encode(encoder)
    });
    let mut new_connections = NewConnections::default();
    while Instant::now() < deadline {
        let next = Instant::now() + INTERVAL;
        new_connections.arrived += 1;
        new_connections.served += u64::from(is_served(target, &request).unwrap_or(false));
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    new_connections
}

/// Calls over a new connection; returns whether the call succeeded.
fn is_served(target: &Target, request: &[u8]) -> io::Result<bool> {
    let mut line = Line::connect(target, CLIENT, TIMEOUT)?;
    if !line.push_only(request, Instant::now() + TIMEOUT)? {
        return Ok(false);
    }
    // The header, the id of the request, and the status.
    let mut reply = [0; HEADER_SIZE + 8];
    line.read(&mut reply)?;
    let succeeded = reply[HEADER_SIZE + 4..] == [0; 4];
    Ok(reply[7] == MessageType::Reply as u8 && succeeded)
}
