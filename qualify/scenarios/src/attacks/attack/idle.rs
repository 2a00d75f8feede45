//! Connections that are never used.

use std::time::Instant;

use crate::attacks::{flood::hold, target::Target};

/// More than a lane admits, and more files than a process may usually open.
const CONNECTIONS: usize = 1_100;

/// Takes the lane's connections, and the process's files.
pub(super) fn idle(target: &Target, deadline: Instant) -> u64 {
    hold(target, CONNECTIONS, &[], deadline)
}
