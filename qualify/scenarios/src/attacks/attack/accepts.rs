//! Connections that are closed at once.

use std::{os::unix::net::UnixStream, thread, time::Duration, time::Instant};

use punctual::transport::{ProtocolProperties, Shm, Transport};

use crate::attacks::{
    line::{ATTACKER, Line},
    target::Target,
};

const TIMEOUT: Duration = Duration::from_millis(20);

/// Connects over TCP and closes.
pub(super) fn over_tcp(target: &Target, deadline: Instant) -> u64 {
    repeat(deadline, || Line::connect(target, ATTACKER, TIMEOUT).is_ok())
}

/// Connects in shared memory as clients do, and closes. Refused attempts count, too.
pub(super) fn with_memory(target: &Target, deadline: Instant) -> u64 {
    repeat(deadline, || {
        let _ = Shm.connect(&target.shm, &ProtocolProperties::default(), TIMEOUT);
        true
    })
}

/// Connects to the socket that hands out shared memory, and closes.
pub(super) fn in_shared_memory(target: &Target, deadline: Instant) -> u64 {
    repeat(deadline, || {
        // The queue of a Unix socket makes a connect wait, without a timeout.
        UnixStream::connect(&target.shm).is_ok()
    })
}

/// Returns how often it succeeded.
fn repeat(deadline: Instant, mut connect: impl FnMut() -> bool) -> u64 {
    let mut connections = 0;
    while Instant::now() < deadline {
        if connect() {
            connections += 1;
        } else {
            thread::sleep(Duration::from_millis(1));
        }
    }
    connections
}
