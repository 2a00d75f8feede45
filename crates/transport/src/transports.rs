use std::sync::Arc;

use crate::{AddressError, Transport};

/// The transports an ORB has.
#[derive(Clone, Default)]
pub struct Transports(Vec<Arc<dyn Transport>>);

impl Transports {
    /// Those that every ORB has: TCP, Unix domain sockets and shared memory.
    pub fn standard() -> Self {
        Self(vec![
            Arc::new(crate::Tcp),
            Arc::new(crate::Unix),
            Arc::new(crate::Shm),
        ])
    }

    /// Adds one. It takes the place of one with the same scheme or the same tag.
    pub fn add(&mut self, transport: Arc<dyn Transport>) {
        let same = |other: &Arc<dyn Transport>| {
            other.scheme() == transport.scheme() || other.profile_tag() == transport.profile_tag()
        };
        self.0.retain(|other| !same(other));
        self.0.push(transport);
    }

    /// The one whose profiles have this tag.
    pub fn with_tag(&self, tag: u32) -> Option<&Arc<dyn Transport>> {
        self.0.iter().find(|transport| transport.profile_tag() == tag)
    }

    /// The one whose endpoints begin with this scheme.
    pub fn with_scheme(&self, scheme: &str) -> Option<&Arc<dyn Transport>> {
        self.0.iter().find(|transport| transport.scheme() == scheme)
    }

    /// Splits an endpoint, `SCHEME://ADDRESS`, into the transport and the address.
    pub fn endpoint<'e>(&self, endpoint: &'e str) -> Result<(&Arc<dyn Transport>, &'e str), AddressError> {
        let known = endpoint
            .split_once("://")
            .and_then(|(scheme, address)| Some((self.with_scheme(scheme)?, address)));
        known.ok_or_else(|| {
            let schemes: Vec<_> = self.0.iter().map(|transport| transport.scheme()).collect();
            let hint = format!(
                "write `iiop://HOST:PORT`, such as `iiop://localhost:2809`, or another of its schemes ({})",
                schemes.join(", ")
            );
            AddressError::new(endpoint, hint)
        })
    }
}
