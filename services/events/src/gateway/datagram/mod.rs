//! Gateways over UDP and multicast, with the datagrams of TAO's gateways: a message is a set of one event in
//! CDR, in as many datagrams as its length demands, each with a header of 32 octets.

mod header;
mod limits;
mod reassembly;
mod receive;
mod send;
#[cfg(test)]
mod tests;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use socket2::{Domain, Protocol, SockRef, Socket, Type};

pub use limits::DatagramLimits;

use crate::{EventError, identity::Seen, time};

/// Number of events by which a gateway recognises those that it has sent or received.
const REMEMBERED: usize = 4_096;

/// Octets of datagrams that may wait in the system for the thread that receives.
const RECEIVED: usize = 1 << 20;

/// Longest delay until the end of a gateway is noticed.
const SLICE: Duration = Duration::from_millis(100);

/// Sockets for gateways over datagrams: each event travels alone, without acknowledgement. Datagrams that the
/// network loses are lost, and those that it duplicates are recognised, unless senders are
/// [foreign](Self::foreign). Every host that can send datagrams to the socket can push events: use trusted
/// networks only.
///
/// ```
/// use punctual_events::{Datagrams, EventChannel, EventType, Filter};
///
/// let (radar, display) = (EventChannel::builder().build()?, EventChannel::builder().build()?);
/// let socket = Datagrams::at("127.0.0.1:0".parse()?)?;
/// let towards = Datagrams::to(socket.local_address()?)?;
/// let gateway = display.receive_datagrams(&socket)?;
/// let events = display.subscribe_to(Filter::event(EventType(17))).receiver()?;
///
/// let sender = radar.send_datagrams(&Filter::every_event(), &towards)?;
/// radar.push_octets(EventType(17), b"terrain")?;
/// assert_eq!(events.recv().unwrap().data.payload, b"terrain");
/// assert_eq!(sender.statistics().forwarded, 1);
/// # drop(gateway);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Datagrams {
    shared: Arc<Sockets>,
    limits: DatagramLimits,
    is_foreign: bool,
}

struct Sockets {
    /// Sends to `peer`.
    sending: Option<(UdpSocket, SocketAddr)>,
    receiving: Option<UdpSocket>,
    /// Id of the next message.
    request: AtomicU32,
    /// Events that came from the network or went there.
    seen: Seen,
}

impl Datagrams {
    /// Creates a socket that sends to a peer.
    ///
    /// # Errors
    /// There is no socket of the address's family.
    pub fn to(peer: SocketAddr) -> Result<Self, EventError> {
        let any: SocketAddr = match peer {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (std::net::Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = UdpSocket::bind(any).map_err(EventError::Socket)?;
        Ok(Self::new(Some((socket, peer)), None))
    }

    /// Creates a socket that receives at a local address; port 0: any free port.
    ///
    /// # Errors
    /// The address is in use, or does not belong to this host.
    pub fn at(local: SocketAddr) -> Result<Self, EventError> {
        let socket = UdpSocket::bind(local);
        let socket = socket.map_err(|error| at(&format!("cannot receive at {local}"), &error))?;
        Ok(Self::new(None, Some(socket)))
    }

    /// Creates sockets that send to a multicast group, and receive the datagrams of other members.
    /// `interface` is the address of this host on the network, `hops` the number of routers plus one that
    /// datagrams may pass. Several processes of one host can join the same group.
    ///
    /// # Errors
    /// The address is not a multicast address, or the interface does not belong to this host.
    pub fn multicast(group: SocketAddrV4, interface: Ipv4Addr, hops: u32) -> Result<Self, EventError> {
        let sockets = || -> io::Result<_> {
            let receiving = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
            receiving.set_reuse_address(true)?;
            // At the group's address: what is sent to others with this port does not arrive.
            receiving.bind(&group.into())?;
            receiving.join_multicast_v4(group.ip(), &interface)?;
            let sending = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
            sending.bind(&SocketAddrV4::new(interface, 0).into())?;
            sending.set_multicast_if_v4(&interface)?;
            sending.set_multicast_ttl_v4(hops)?;
            // For other processes of this host.
            sending.set_multicast_loop_v4(true)?;
            Ok((UdpSocket::from(sending), UdpSocket::from(receiving)))
        };
        let (sending, receiving) = sockets().map_err(|error| {
            let place = format!(
                "cannot join {group} on interface {interface} (an address of this host? `ip address` lists those)"
            );
            at(&place, &error)
        })?;
        Ok(Self::new(Some((sending, group.into())), Some(receiving)))
    }

    fn new(sending: Option<(UdpSocket, SocketAddr)>, receiving: Option<UdpSocket>) -> Self {
        if let Some(socket) = &receiving {
            // As much as `net.core.rmem_max` permits: a long event arrives at once.
            let _ = SockRef::from(socket).set_recv_buffer_size(RECEIVED);
        }
        let shared = Sockets {
            sending,
            receiving,
            // A sender that has started again does not continue its messages of before.
            #[allow(clippy::cast_possible_truncation, reason = "any number does")]
            request: AtomicU32::new(time::now() as u32),
            seen: Seen::new(REMEMBERED),
        };
        Self {
            shared: Arc::new(shared),
            limits: DatagramLimits::default(),
            is_foreign: false,
        }
    }

    /// Sets the limits.
    ///
    /// # Errors
    /// The length of datagrams is outside 40 to 65,507 octets.
    pub fn limits(mut self, limits: DatagramLimits) -> Result<Self, EventError> {
        if !(40..=65_507).contains(&limits.datagram) {
            let text = format!("datagrams of {} octets are outside 40 to 65507", limits.datagram);
            return Err(EventError::Socket(io::Error::new(
                io::ErrorKind::InvalidInput,
                text,
            )));
        }
        self.limits = limits;
        Ok(self)
    }

    /// States that the senders are of another vendor, whose events do not have times by which they can be
    /// recognised: `ttl` alone ends loops, and a duplicated datagram is two events.
    pub fn foreign(mut self) -> Self {
        self.is_foreign = true;
        self
    }

    /// Returns the address at which datagrams are received; of a socket that only sends, its own.
    ///
    /// # Errors
    /// That of the system.
    pub fn local_address(&self) -> Result<SocketAddr, EventError> {
        let Sockets {
            sending, receiving, ..
        } = &*self.shared;
        let socket = receiving.as_ref().or(sending.as_ref().map(|(socket, _)| socket));
        let socket = socket.ok_or_else(|| missing("use"))?;
        socket.local_addr().map_err(EventError::Socket)
    }

    fn next_request(&self) -> u32 {
        self.shared.request.fetch_add(1, Relaxed)
    }
}

fn missing(what: &str) -> EventError {
    let text = format!("these datagrams have no socket to {what}; `Datagrams::multicast` has both");
    EventError::Socket(io::Error::new(io::ErrorKind::NotConnected, text))
}

/// Adds to an error of the system what was attempted.
fn at(attempt: &str, error: &io::Error) -> EventError {
    EventError::Socket(io::Error::new(error.kind(), format!("{attempt}: {error}")))
}
