//! The engines, and what a process must do with each.

use std::str::FromStr;

use crate::{Result, iceoryx, zenoh_session};

/// Octets of an event: its number, the time when it was published, and what fills it.
pub const OCTETS: usize = 64;

pub type Octets = [u8; OCTETS];

#[derive(Clone, Copy, Eq, PartialEq)]
pub enum Engine {
    ZenohPeer,
    ZenohRouter,
    Iceoryx2,
}

/// Publishes an event.
pub type Publish = Box<dyn FnMut(Octets) -> Result<()>>;

impl Engine {
    pub fn name(self) -> &'static str {
        match self {
            Self::ZenohPeer => "zenoh",
            Self::ZenohRouter => "zenoh-router",
            Self::Iceoryx2 => "iceoryx2",
        }
    }

    /// Connects a publisher; the subscriber may begin later.
    pub fn publisher(self, address: &str) -> Result<Publish> {
        match self {
            Self::ZenohPeer | Self::ZenohRouter => zenoh_session::publisher(address),
            Self::Iceoryx2 => iceoryx::publisher(address),
        }
    }

    /// Receives events until the process ends.
    pub fn subscribe(self, address: &str, receive: impl FnMut(&[u8]) + Send + Sync + 'static) -> Result<()> {
        match self {
            Self::ZenohPeer => zenoh_session::subscribe(zenoh_session::listening("peer", address)?, receive),
            Self::ZenohRouter => zenoh_session::subscribe(zenoh_session::connecting(address)?, receive),
            Self::Iceoryx2 => iceoryx::subscribe(address, receive),
        }
    }
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let all = [Self::ZenohPeer, Self::ZenohRouter, Self::Iceoryx2];
        let found = all.into_iter().find(|engine| engine.name() == text);
        found.ok_or_else(|| format!("there is no engine `{text}`: it is zenoh, zenoh-router or iceoryx2"))
    }
}
