use std::{
    collections::HashMap,
    io,
    sync::{Arc, Weak},
    time::Duration,
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
    /// What was negotiated for text; `None`: the reference said nothing, so nothing is announced and text is ISO-8859-1.
    pub(crate) char_set: Option<CharSet>,
}

impl Endpoint {
    /// How its connections are set up.
    pub(super) fn properties(&self, policy: &ProtocolPolicy) -> ProtocolProperties {
        let properties = policy.properties(self.transport.profile_tag());
        properties.cloned().unwrap_or_default()
    }

    /// Connects, as the client's policy says for its protocol.
    pub(super) fn connect(&self, policy: &ProtocolPolicy, timeout: Duration) -> io::Result<Box<dyn Stream>> {
        self.transport
            .connect(&self.address, &self.properties(policy), timeout)
    }
}

/// The endpoints that the references of an ORB name, one object per address.
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
        // Addresses come and go with servers: forget those that no reference names any more.
        known.retain(|_, endpoint| endpoint.strong_count() > 0);
        let endpoint = Arc::new(Endpoint {
            transport: Arc::clone(transport),
            address: address.to_owned(),
            char_set,
        });
        known.insert(key, Arc::downgrade(&endpoint));
        endpoint
    }
}
