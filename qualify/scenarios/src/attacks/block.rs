//! One block of a measurement: what the clients and the server have shown, alone or under attack.

use std::time::Duration;

use super::attack::NewConnections;
use crate::load::Report;

/// Observations of one block.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) seconds: f64,
    /// In the order of the lanes, as everything else.
    pub(super) reports: Vec<Report>,
    pub(super) new_connections: Vec<NewConnections>,
    pub(super) operations: u64,
    pub(super) memory: Memory,
    pub(super) recovery: Duration,
    /// Why there is no server afterwards.
    pub(super) lost: Option<String>,
}

impl Block {
    /// Creates the block in which the server was lost.
    pub(super) fn lost(reason: String) -> Self {
        Self {
            lost: Some(reason),
            ..Self::default()
        }
    }
}

/// Resident memory of the server, in KiB: the block with the greatest growth.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Memory {
    pub(super) before: u64,
    pub(super) highest: u64,
    pub(super) after: u64,
}

impl Memory {
    pub(super) fn growth(&self) -> u64 {
        self.highest.saturating_sub(self.before)
    }

    /// Returns what the server has kept.
    pub(super) fn kept(&self) -> u64 {
        self.after.saturating_sub(self.before)
    }
}
