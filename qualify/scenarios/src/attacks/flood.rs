//! The two shapes of most attacks: octets repeated over one connection, and many connections that are held.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::{
    line::{ATTACKER, Line},
    target::Target,
};

/// Timeout of each wait of an attacker.
const WAIT: Duration = Duration::from_millis(20);

/// Octets that an attacker sends over one connection.
pub(super) struct Flood {
    /// Once, at the beginning.
    pub(super) opening: Vec<u8>,
    /// Again and again.
    pub(super) burst: Vec<u8>,
    /// The number of operations in the burst.
    pub(super) operations: u64,
}

impl Flood {
    /// Creates a flood of one message without an opening, sent many at a time.
    pub(super) fn of(message: &[u8], at_a_time: usize) -> Self {
        Self {
            opening: Vec::new(),
            burst: message.repeat(at_a_time),
            operations: at_a_time as u64,
        }
    }

    /// Sends until the time is over, over a new connection whenever the server has closed the last one.
    /// Returns the number of operations.
    pub(super) fn run(&self, target: &Target, deadline: Instant) -> u64 {
        let mut operations = 0;
        while let Some(mut line) = connected(target, deadline) {
            let mut sent = line.push(&self.opening, deadline);
            while let Ok(true) = sent {
                sent = line.push(&self.burst, deadline);
                operations += if let Ok(true) = sent { self.operations } else { 0 };
            }
        }
        operations
    }
}

/// Opens connections, sends octets over each, reads nothing, and keeps them until the time is over. Returns
/// their number.
pub(super) fn hold(target: &Target, connections: usize, octets: &[u8], deadline: Instant) -> u64 {
    let mut held = Vec::with_capacity(connections);
    while held.len() < connections {
        let Some(mut line) = connected(target, deadline) else {
            break;
        };
        // A server that closes the connection, or does not read, is the subject of the attack.
        let _ = line.push_only(octets, deadline.min(Instant::now() + WAIT * 10));
        held.push(line);
    }
    thread::sleep(deadline.saturating_duration_since(Instant::now()));
    held.len() as u64
}

/// Connects as soon as the server lets it; `None` when the time is over.
fn connected(target: &Target, deadline: Instant) -> Option<Line> {
    while Instant::now() < deadline {
        match Line::connect(target, ATTACKER, WAIT) {
            Ok(line) => return Some(line),
            Err(_) => thread::sleep(Duration::from_millis(1)),
        }
    }
    None
}
