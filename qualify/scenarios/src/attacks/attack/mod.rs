//! The attacks.

mod accepts;
mod fragments;
mod half_messages;
mod idle;
mod long_keys;
mod new_connections;
mod reception_only;
mod refused;
mod unread;

use std::time::Instant;

use punctual_giop::Version;
use serde::{Deserialize, Serialize};

pub(super) use self::new_connections::{NewConnections, TIMEOUT, new_connections};
use super::{LANES, target::Target};

/// One attack on one lane.
#[derive(Debug)]
pub(super) struct Attack {
    pub(super) name: &'static str,
    /// Description of the attackers' behaviour.
    pub(super) about: &'static str,
    /// Index of the attacked lane.
    pub(super) lane: usize,
    pub(super) kind: Kind,
    /// Number of attackers at a time, each a thread.
    pub(super) attackers: usize,
}

impl Attack {
    /// Returns a title for the progress display.
    pub(super) fn title(&self) -> String {
        format!("{}, {} lane", self.name, LANES[self.lane].name)
    }
}

/// Behaviour of attackers.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) enum Kind {
    AcceptsOverTcp,
    AcceptsInSharedMemory,
    AcceptsWithMemory,
    EmptyFragments { minor: u8 },
    SmallFragments,
    CancelledFragments,
    Refused,
    Cancels,
    Locates,
    Idle,
    LongKeys,
    Unread,
    HalfMessages,
    Elsewhere,
}

const LOW: usize = 0;
const MIDDLE: usize = 1;
const HIGH: usize = 2;

/// All attacks, each on the lane where it does most harm.
pub(super) const ATTACKS: [Attack; 16] = [
    attack("accepts", "connect and close", MIDDLE, Kind::AcceptsOverTcp, 2),
    attack("accepts-top", "connect and close", HIGH, Kind::AcceptsOverTcp, 2),
    attack(
        "accepts-shm",
        "connect to the socket of shared memory and close",
        MIDDLE,
        Kind::AcceptsInSharedMemory,
        1,
    ),
    attack(
        "accepts-shm-top",
        "connect in shared memory as clients do, and close",
        HIGH,
        Kind::AcceptsWithMemory,
        1,
    ),
    attack(
        "fragments-1.1",
        "endless fragments without content",
        MIDDLE,
        Kind::EmptyFragments { minor: 1 },
        1,
    ),
    attack(
        "fragments-1.2",
        "endless fragments without content",
        MIDDLE,
        Kind::EmptyFragments { minor: 2 },
        1,
    ),
    attack(
        "small-fragments",
        "fragments of 16 octets behind a large message",
        MIDDLE,
        Kind::SmallFragments,
        1,
    ),
    attack(
        "cancelled-fragments",
        "CancelRequests behind a large incomplete request",
        MIDDLE,
        Kind::CancelledFragments,
        1,
    ),
    attack("refused", "requests for unknown objects", HIGH, Kind::Refused, 1),
    attack("cancels", "CancelRequests", HIGH, Kind::Cancels, 1),
    attack(
        "locates",
        "LocateRequests for unknown objects",
        HIGH,
        Kind::Locates,
        1,
    ),
    attack("idle", "1,100 connections without a message", LOW, Kind::Idle, 1),
    attack("long-keys", "unknown object keys of 8 MB", LOW, Kind::LongKeys, 1),
    attack("unread", "64 unread replies of 7 MB", LOW, Kind::Unread, 1),
    attack(
        "half-messages",
        "64 messages of 8 MB without their last octet",
        LOW,
        Kind::HalfMessages,
        1,
    ),
    attack(
        "elsewhere",
        "messages of 8 MB to a plain reader on the server's CPU",
        LOW,
        Kind::Elsewhere,
        1,
    ),
];

const fn attack(
    name: &'static str,
    about: &'static str,
    lane: usize,
    kind: Kind,
    attackers: usize,
) -> Attack {
    Attack {
        name,
        about,
        lane,
        kind,
        attackers,
    }
}

impl Kind {
    /// Attacks a lane until the time is over; returns the number of operations: connections, messages or
    /// fragments. A server that refuses is no error.
    pub(super) fn run(self, target: &Target, deadline: Instant) -> u64 {
        match self {
            Self::AcceptsOverTcp => accepts::over_tcp(target, deadline),
            Self::AcceptsInSharedMemory => accepts::in_shared_memory(target, deadline),
            Self::AcceptsWithMemory => accepts::with_memory(target, deadline),
            Self::EmptyFragments { minor } => fragments::empty(Version { major: 1, minor }, target, deadline),
            Self::SmallFragments => fragments::small(target, deadline),
            Self::CancelledFragments => fragments::cancelled(target, deadline),
            Self::Refused => refused::requests(target, deadline),
            Self::Cancels => refused::cancels(target, deadline),
            Self::Locates => refused::locates(target, deadline),
            Self::Idle => idle::idle(target, deadline),
            Self::LongKeys => long_keys::long_keys(target, deadline),
            Self::Unread => unread::unread(target, deadline),
            Self::HalfMessages => half_messages::half_messages(target, deadline),
            Self::Elsewhere => reception_only::elsewhere(target, deadline),
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
