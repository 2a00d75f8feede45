//! What tests of protocols ask of servers and clients: references in profiles, and which transport a call took.

use std::{
    io,
    os::fd::OwnedFd,
    sync::{Arc, Mutex},
};

use punctual::{
    Interface, Orb, Protocol, ProtocolPolicy, SchedulingClass,
    transport::{Layer, Layered, Side, Stream, Tcp, Unix},
};

use crate::conformance::ProbeRef;

/// Keeps a descriptor of each stream of a transport, to count them and to look at their options.
#[derive(Clone, Default)]
pub struct Watch {
    connected: Arc<Mutex<Vec<OwnedFd>>>,
    accepted: Arc<Mutex<Vec<OwnedFd>>>,
}

impl Watch {
    /// How many connections a client has opened.
    pub fn connected(&self) -> usize {
        self.connected.lock().expect("no panic").len()
    }

    /// Looks at a connection, counted from 0 in the order in which they were opened or accepted.
    pub fn look<R>(&self, side: Side, number: usize, look: impl FnOnce(&OwnedFd) -> R) -> R {
        look(&self.streams(side).lock().expect("no panic")[number])
    }

    fn streams(&self, side: Side) -> &Mutex<Vec<OwnedFd>> {
        match side {
            Side::Client => &self.connected,
            Side::Server => &self.accepted,
        }
    }
}

impl Layer for Watch {
    fn wrap(&self, stream: Box<dyn Stream>, side: Side) -> io::Result<Box<dyn Stream>> {
        let kept = (*stream).as_fd().try_clone_to_owned()?;
        self.streams(side).lock().expect("no panic").push(kept);
        Ok(stream)
    }
}

/// A client whose threads stay in the ordinary class, and what it connects over.
pub struct WatchedClient {
    /// The ORB.
    pub orb: Orb,
    /// Its connections over TCP.
    pub tcp: Watch,
    /// Its connections over Unix sockets.
    pub unix: Watch,
}

impl WatchedClient {
    /// With these protocols at the scope of the ORB.
    pub fn new(protocols: ProtocolPolicy) -> Self {
        let (tcp, unix) = (Watch::default(), Watch::default());
        let orb = Orb::builder()
            .transport(Layered::new(Tcp, tcp.clone()))
            .transport(Layered::new(Unix, unix.clone()))
            .client_protocols(protocols)
            .scheduling_class(SchedulingClass::Other)
            .lock_memory(false)
            .build()
            .expect("an ORB");
        Self { orb, tcp, unix }
    }

    /// The object as this client sees it.
    pub fn reference(&self, probe: &ProbeRef) -> ProbeRef {
        self.orb.resolve(&probe.to_ior()).expect("a reference")
    }

    /// Connections over TCP and over Unix sockets so far.
    pub fn connections(&self) -> (usize, usize) {
        (self.tcp.connected(), self.unix.connected())
    }
}

/// A policy of one protocol.
pub fn only(protocol: Protocol) -> ProtocolPolicy {
    ProtocolPolicy::new([protocol])
}

/// The tags of a reference's profiles, in order.
pub fn tags(probe: &ProbeRef) -> Vec<u32> {
    probe
        .as_object()
        .ior()
        .profiles
        .iter()
        .map(|profile| profile.tag)
        .collect()
}
