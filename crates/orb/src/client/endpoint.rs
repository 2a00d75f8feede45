//! Addresses that requests are sent to, one object per address.

use std::{
    collections::HashMap,
    io,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use punctual_cdr::CharSet;
use punctual_os::PiMutex;
use punctual_transport::{ProtocolPolicy, ProtocolProperties, Stream, Transport};

/// An address that requests are sent to.
///
/// The code set is part of it because it is agreed upon once per connection.
pub(crate) struct Endpoint {
    transport: Arc<dyn Transport>,
    address: String,
    /// Negotiated code set; `None`: the reference has none, so none is announced and text is ISO-8859-1.
    pub(crate) char_set: Option<CharSet>,
    /// Time until which other endpoints are tried first, in milliseconds since [`START`]; 0: the last attempt
    /// succeeded.
    avoided_until: AtomicU64,
    /// Whether the server does not support binding connections to bands.
    binds_no_bands: AtomicBool,
}

/// Time for which an unreachable endpoint is tried last; otherwise each call would first wait for it.
const AVOIDED_FOR: Duration = Duration::from_secs(5);
static START: OnceLock<Instant> = OnceLock::new();

fn milliseconds() -> u64 {
    START.get_or_init(Instant::now).elapsed().as_millis() as u64
}

impl Endpoint {
    /// The code set of its connections.
    pub(super) fn char_set_in_force(&self) -> CharSet {
        self.char_set.unwrap_or(CharSet::Latin1)
    }

    /// Whether it could not be reached a short time ago.
    pub(super) fn is_avoided(&self) -> bool {
        let until = self.avoided_until.load(Ordering::Relaxed);
        until != 0 && milliseconds() < until
    }

    /// Whether its server may support binding connections to bands.
    pub(super) fn may_bind_bands(&self) -> bool {
        !self.binds_no_bands.load(Ordering::Relaxed)
    }

    /// Notes that its server does not support binding connections to bands.
    pub(super) fn set_binds_no_bands(&self) {
        self.binds_no_bands.store(true, Ordering::Relaxed);
    }

    /// How its connections are set up.
    pub(super) fn properties(&self, policy: &ProtocolPolicy) -> ProtocolProperties {
        let properties = policy.properties(self.transport.profile_tag());
        properties.cloned().unwrap_or_default()
    }

    /// Whether it is this address, by the same name or another name of this host.
    pub(crate) fn leads_to(&self, transport: &dyn Transport, address: &str) -> bool {
        self.transport.profile_tag() == transport.profile_tag()
            && (self.address == address
                || loopback_port(&self.address).is_some_and(|port| loopback_port(address) == Some(port)))
    }

    /// Connects with the properties that the client's policy has for its protocol.
    pub(super) fn connect(&self, policy: &ProtocolPolicy, timeout: Duration) -> io::Result<Box<dyn Stream>> {
        let connected = self
            .transport
            .connect(&self.address, &self.properties(policy), timeout);
        let avoided_until = match &connected {
            Ok(_) => 0,
            Err(_) => milliseconds() + AVOIDED_FOR.as_millis() as u64,
        };
        self.avoided_until.store(avoided_until, Ordering::Relaxed);
        connected
    }
}

/// The port of a loopback address.
fn loopback_port(address: &str) -> Option<&str> {
    let (host, port) = address.rsplit_once(':')?;
    matches!(host, "localhost" | "127.0.0.1" | "[::1]").then_some(port)
}

/// The endpoints of an ORB's references.
#[derive(Default)]
pub(crate) struct Endpoints(PiMutex<HashMap<Key, Weak<Endpoint>>>);

#[derive(Eq, Hash, PartialEq)]
struct Key {
    profile_tag: u32,
    address: String,
    char_set: Option<CharSet>,
}

impl Endpoints {
    pub(crate) fn get(
        &self,
        transport: &Arc<dyn Transport>,
        address: &str,
        char_set: Option<CharSet>,
    ) -> Arc<Endpoint> {
        let mut known = self.0.lock();
        let key = Key {
            profile_tag: transport.profile_tag(),
            address: address.to_owned(),
            char_set,
        };
        if let Some(endpoint) = known.get(&key).and_then(Weak::upgrade) {
            return endpoint;
        }
        // Addresses change with servers: remove those that no reference names any longer.
        known.retain(|_, endpoint| endpoint.strong_count() > 0);
        let endpoint = Arc::new(Endpoint {
            transport: Arc::clone(transport),
            address: address.to_owned(),
            char_set,
            avoided_until: AtomicU64::new(0),
            binds_no_bands: AtomicBool::new(false),
        });
        known.insert(key, Arc::downgrade(&endpoint));
        endpoint
    }
}
