//! Parts of an ORB that its references share.

use std::sync::{
    Arc, Weak,
    atomic::{AtomicU64, Ordering},
};

use punctual_giop::{Profile, TAG_PUNCTUAL_TLS};
use punctual_stub::PolicyOverrides;

use super::{
    connection_cache::ConnectionCache, endpoint::Endpoints, policy_scopes::OrbPolicies, tls_addresses,
};
use crate::{
    config::configuration::Configuration, interception::Interceptors, poa_state::objects::Objects,
    pools::registry::Pools,
};

/// Client side of an ORB.
pub(crate) struct ClientCore {
    own: Weak<Self>,
    pub(crate) configuration: Arc<Configuration>,
    /// Target of calls to objects of the same ORB.
    pub(crate) objects: Arc<Objects>,
    /// Lanes that read replies.
    pub(crate) pools: Arc<Pools>,
    pub(crate) interceptors: Arc<Interceptors>,
    /// Client policies of the ORB's scope.
    pub(crate) policies: OrbPolicies,
    /// Connections of threads that serve no lane.
    pub(crate) connections: Arc<ConnectionCache>,
    pub(crate) endpoints: Arc<Endpoints>,
    late_replies: AtomicU64,
}

/// Parts of an ORB that its client side uses.
pub(crate) struct ClientParts {
    pub(crate) configuration: Arc<Configuration>,
    pub(crate) objects: Arc<Objects>,
    pub(crate) pools: Arc<Pools>,
    pub(crate) interceptors: Arc<Interceptors>,
}

impl ClientCore {
    pub(crate) fn new(parts: ClientParts, policies: PolicyOverrides) -> Arc<Self> {
        let ClientParts {
            configuration,
            objects,
            pools,
            interceptors,
        } = parts;
        Arc::new_cyclic(|own| Self {
            own: Weak::clone(own),
            connections: ConnectionCache::new(configuration.limits.max_client_connections),
            policies: OrbPolicies::new(policies),
            endpoints: Endpoints::new(),
            late_replies: AtomicU64::new(0),
            configuration,
            objects,
            pools,
            interceptors,
        })
    }

    /// Returns this core as its references hold it; `None` if the ORB no longer exists.
    pub(super) fn shared(&self) -> Option<Arc<Self>> {
        self.own.upgrade()
    }

    /// Returns whether the profile's object is one of this ORB's.
    pub(super) fn owns(&self, profile: &Profile<String>) -> bool {
        self.objects.issued(&profile.object_key).unwrap_or_else(|| {
            let listens_with_tls = |address: String| self.pools.listen_at(TAG_PUNCTUAL_TLS, &address);
            self.pools.listen_at(profile.tag, &profile.address)
                || tls_addresses::address(profile).is_some_and(listens_with_tls)
        })
    }

    /// Counts a call whose reply did not arrive in time.
    pub(super) fn count_late_reply(&self) {
        self.late_replies.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of calls whose replies did not arrive in time.
    pub(crate) fn late_replies(&self) -> u64 {
        self.late_replies.load(Ordering::Relaxed)
    }
}
