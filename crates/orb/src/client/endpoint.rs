use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use punctual_cdr::CharSet;
use punctual_os::PiMutex;

/// An address that requests are sent to.
///
/// The code set is part of it because it is agreed upon once per connection.
pub(crate) struct Endpoint {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// What was negotiated for text; `None`: the reference said nothing, so nothing is announced and text is ISO-8859-1.
    pub(crate) char_set: Option<CharSet>,
}

/// The endpoints that the references of an ORB name, one object per address.
#[derive(Default)]
pub(crate) struct Endpoints(PiMutex<HashMap<Key, Weak<Endpoint>>>);

#[derive(Eq, Hash, PartialEq)]
struct Key {
    host: String,
    port: u16,
    char_set: Option<CharSet>,
}

impl Endpoints {
    pub(crate) fn get(&self, host: &str, port: u16, char_set: Option<CharSet>) -> Arc<Endpoint> {
        let mut known = self.0.lock();
        let key = Key {
            host: host.to_owned(),
            port,
            char_set,
        };
        if let Some(endpoint) = known.get(&key).and_then(Weak::upgrade) {
            return endpoint;
        }
        // Addresses come and go with servers: forget those that no reference names any more.
        known.retain(|_, endpoint| endpoint.strong_count() > 0);
        let endpoint = Arc::new(Endpoint {
            host: host.to_owned(),
            port,
            char_set,
        });
        known.insert(key, Arc::downgrade(&endpoint));
        endpoint
    }
}
