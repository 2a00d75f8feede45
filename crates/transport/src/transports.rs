//! The transports of an ORB.

use std::sync::Arc;

use crate::{AddressError, Protection, Transport};

/// The transports of an ORB.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use std::sync::Arc;
///
/// use punctual::transport::{Layered, Tcp, Trace, Transports};
///
/// let mut transports = Transports::standard();
/// // The traced TCP replaces the other one, whose scheme and tag it has.
/// transports.add(Arc::new(Layered::new(Tcp, Trace::new(100))));
/// let (transport, address) = transports.endpoint("iiop://localhost:2809")?;
/// assert_eq!((transport.scheme(), address), ("iiop", "localhost:2809"));
/// # Ok::<(), punctual_transport::AddressError>(())
/// ```
#[derive(Clone, Default)]
pub struct Transports(Vec<Arc<dyn Transport>>);

impl Transports {
    /// Returns the transports of every ORB: TCP, Unix domain sockets and shared memory.
    pub fn standard() -> Self {
        Self(vec![
            Arc::new(crate::Tcp),
            Arc::new(crate::Unix),
            Arc::new(crate::Shm),
        ])
    }

    /// Adds a transport, and removes those with the same scheme or tag; the only one over TLS, too.
    pub fn add(&mut self, transport: Arc<dyn Transport>) {
        let same = |other: &Arc<dyn Transport>| {
            other.scheme() == transport.scheme() || other.profile_tag() == transport.profile_tag()
        };
        let both_protected =
            |other: &Arc<dyn Transport>| other.protection().is_some() && transport.protection().is_some();
        self.0.retain(|other| !same(other) && !both_protected(other));
        self.0.push(transport);
    }

    /// Returns the transport whose profiles have this tag.
    pub fn with_tag(&self, tag: u32) -> Option<&Arc<dyn Transport>> {
        self.0.iter().find(|transport| transport.profile_tag() == tag)
    }

    /// Returns the transport with this scheme.
    pub fn with_scheme(&self, scheme: &str) -> Option<&Arc<dyn Transport>> {
        self.0.iter().find(|transport| transport.scheme() == scheme)
    }

    /// Returns the transport over TLS, if there is one.
    pub fn protected(&self) -> Option<(&Arc<dyn Transport>, Protection)> {
        let mut all = self.0.iter();
        all.find_map(|transport| Some((transport, transport.protection()?)))
    }

    /// Returns whether this is the scheme of IIOP over TLS (`ssliop`), and there is no transport for it: that
    /// is in a crate of its own, `punctual-tls`.
    pub fn lacks_tls_for(&self, scheme: &str) -> bool {
        scheme == "ssliop" && self.with_scheme(scheme).is_none()
    }

    /// Splits an endpoint, `SCHEME://ADDRESS`, into transport and address.
    pub fn endpoint<'e>(&self, endpoint: &'e str) -> Result<(&Arc<dyn Transport>, &'e str), AddressError> {
        let known = endpoint
            .split_once("://")
            .and_then(|(scheme, address)| Some((self.with_scheme(scheme)?, address)));
        known.ok_or_else(|| {
            if endpoint
                .split_once("://")
                .is_some_and(|(scheme, _)| self.lacks_tls_for(scheme))
            {
                let hint = "it is one of TLS, and this ORB has no transport for it; add that of crate \
                            `punctual-tls` with `OrbBuilder::transport` (docs/tls.md)";
                return AddressError::new(endpoint, hint);
            }
            let schemes: Vec<_> = self.0.iter().map(|transport| transport.scheme()).collect();
            let hint = format!(
                "use `iiop://HOST:PORT`, such as `iiop://localhost:2809`, or another scheme ({})",
                schemes.join(", ")
            );
            AddressError::new(endpoint, hint)
        })
    }
}
