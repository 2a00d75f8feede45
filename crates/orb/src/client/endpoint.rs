//! Addresses that requests are sent to, one object per address.

mod known;

pub(crate) use known::Endpoints;

use std::{
    io,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use punctual_cdr::{CharSet, CodeSets, WideCharSet};
use punctual_giop::{PUNCTUAL_ORB_TYPE, TAO_ORB_TYPE};
use punctual_transport::{ProtocolPolicy, ProtocolProperties, Stream, Transport};
use punctual_types::{Completion, Detail, Minor, SystemException, SystemExceptionKind};

/// An address that requests are sent to.
///
/// The code set is part of it because it is agreed upon once per connection.
pub(crate) struct Endpoint {
    transport: Arc<dyn Transport>,
    key: Arc<EndpointKey>,
    /// The endpoints among which it is.
    known: Weak<Endpoints>,
    /// Time until which other endpoints are tried first, in milliseconds since [`START`]; 0: the last attempt
    /// succeeded.
    avoided_until: AtomicU64,
    /// Whether the server does not support binding connections to bands.
    binds_no_bands: AtomicBool,
    /// Type of its ORB, as a reference has stated it; 0: unknown.
    orb_type: AtomicU32,
}

/// Action if the caller of a request stops waiting for the reply.
pub(super) enum Cancellation {
    /// CancelRequest, over a connection that remains in use.
    Sent,
    /// CancelRequest, and the end of the connection if one caller uses it.
    SentAndClosed,
    /// No message: the server does not support cancellation.
    None,
}

/// ORB type of omniORB, which no longer answers over a connection on which a CancelRequest has arrived.
const OMNIORB_ORB_TYPE: u32 = 0x4154_5400;

/// Properties that distinguish endpoints.
#[derive(Eq, Hash, PartialEq)]
pub(super) struct EndpointKey {
    pub(super) profile_tag: u32,
    pub(super) address: String,
    /// Negotiated code sets; `None`: the reference states none, so none is announced.
    pub(super) code_sets: Option<CodeSets>,
}

/// Time for which an unreachable endpoint is tried last; otherwise each call would first wait for it.
const AVOIDED_FOR: Duration = Duration::from_secs(5);
static START: OnceLock<Instant> = OnceLock::new();

fn milliseconds() -> u64 {
    START.get_or_init(Instant::now).elapsed().as_millis() as u64
}

impl Endpoint {
    pub(super) fn new(transport: &Arc<dyn Transport>, key: Arc<EndpointKey>, known: Weak<Endpoints>) -> Self {
        Self {
            transport: Arc::clone(transport),
            key,
            known,
            avoided_until: AtomicU64::new(0),
            binds_no_bands: AtomicBool::new(false),
            orb_type: AtomicU32::new(0),
        }
    }

    /// Notes the type of its ORB.
    pub(super) fn set_orb_type(&self, orb_type: u32) {
        self.orb_type.store(orb_type, Ordering::Relaxed);
    }

    /// Returns how its server is notified that a reply is no longer wanted.
    pub(super) fn cancellation(&self) -> Cancellation {
        match self.orb_type.load(Ordering::Relaxed) {
            PUNCTUAL_ORB_TYPE | TAO_ORB_TYPE => Cancellation::Sent,
            OMNIORB_ORB_TYPE => Cancellation::None,
            _ => Cancellation::SentAndClosed,
        }
    }

    /// Returns whether its connections announce their code sets.
    pub(super) fn announces_code_sets(&self) -> bool {
        self.key.code_sets.is_some()
    }

    /// Returns the code sets of its connections: without negotiation ISO-8859-1, and no wide text.
    pub(super) fn code_sets(&self) -> CodeSets {
        self.key.code_sets.unwrap_or(CodeSets {
            wchar: WideCharSet::None,
            char: CharSet::Latin1,
        })
    }

    /// Returns whether it could not be reached a short time ago.
    pub(super) fn is_avoided(&self) -> bool {
        let until = self.avoided_until.load(Ordering::Relaxed);
        until != 0 && milliseconds() < until
    }

    /// Returns whether its server may support binding connections to bands.
    pub(super) fn may_bind_bands(&self) -> bool {
        !self.binds_no_bands.load(Ordering::Relaxed)
    }

    /// Notes that its server does not support binding connections to bands.
    pub(super) fn set_binds_no_bands(&self) {
        self.binds_no_bands.store(true, Ordering::Relaxed);
    }

    /// Its address, for the texts of exceptions.
    #[cold]
    pub(super) fn detail(&self) -> Detail {
        Detail::address(self.transport.scheme(), &self.key.address)
    }

    /// Names it in the text of an exception.
    #[cold]
    pub(crate) fn named_in(&self, exception: SystemException) -> SystemException {
        match exception.minor {
            // They state the address and the reason.
            Minor::TLS_HANDSHAKE_FAILED => exception,
            Minor::PEER_SPEAKS_NO_GIOP if exception.detail().is_some() => exception,
            _ => exception.with_detail(&self.detail()),
        }
    }

    /// The exception of a connection that is not trusted.
    #[cold]
    pub(super) fn distrusted(&self, reason: &str) -> SystemException {
        let (kind, minor) = (SystemExceptionKind::NoPermission, Minor::TLS_HANDSHAKE_FAILED);
        let detail = Detail::distrust(self.transport.scheme(), &self.key.address, reason);
        SystemException::new(kind, minor, Completion::No).with_detail(&detail)
    }

    /// How its connections are set up.
    pub(super) fn properties(&self, policy: &ProtocolPolicy) -> ProtocolProperties {
        let properties = policy.properties(self.transport.profile_tag());
        properties.cloned().unwrap_or_default()
    }

    /// Returns whether it is exactly this address of this protocol.
    pub(super) fn is_at(&self, profile_tag: u32, address: &str) -> bool {
        self.key.profile_tag == profile_tag && self.key.address == address
    }

    /// Returns whether it is this address, by the same name or another name of this host.
    pub(crate) fn leads_to(&self, transport: &dyn Transport, address: &str) -> bool {
        self.transport.profile_tag() == transport.profile_tag() && is_same_address(&self.key.address, address)
    }

    /// Connects with the properties that the client's policy has for its protocol.
    pub(super) fn connect(&self, policy: &ProtocolPolicy, timeout: Duration) -> io::Result<Box<dyn Stream>> {
        let connected = self
            .transport
            .connect(&self.key.address, &self.properties(policy), timeout);
        let avoided_until = match &connected {
            Ok(_) => 0,
            Err(_) => milliseconds() + AVOIDED_FOR.as_millis() as u64,
        };
        self.avoided_until.store(avoided_until, Ordering::Relaxed);
        connected
    }
}

/// Returns whether both addresses are the same, by the same name or another name of this host.
pub(crate) fn is_same_address(one: &str, other: &str) -> bool {
    one == other || loopback_port(one).is_some_and(|port| loopback_port(other) == Some(port))
}

/// Returns the port of a loopback address.
fn loopback_port(address: &str) -> Option<&str> {
    let (host, port) = address.rsplit_once(':')?;
    matches!(host, "localhost" | "127.0.0.1" | "[::1]").then_some(port)
}

/// The last reference that named it takes it out of the known ones.
impl Drop for Endpoint {
    fn drop(&mut self) {
        if let Some(known) = self.known.upgrade() {
            known.forget(&self.key);
        }
    }
}
