//! Endpoints at which a lane listens, and their acceptors.

use std::{
    io,
    ops::Deref,
    sync::{Arc, OnceLock},
};

use punctual_transport::{
    AddressError, Listener, Protocol, ProtocolPolicy, ProtocolProperties, Transport, Transports,
};
use punctual_types::Priority;

use crate::LaneError;

/// Endpoint at which a lane listens over one protocol.
#[derive(Clone)]
pub struct LaneEndpoint {
    transport: Arc<dyn Transport>,
    address: String,
    /// Address that is published to clients, if it differs.
    published: Option<String>,
    properties: ProtocolProperties,
    /// Highest priority of requests that arrive there.
    pub highest_priority: Priority,
    /// Place where the user states it, for errors: file and line.
    pub stated_at: Option<String>,
}

impl LaneEndpoint {
    /// Parses `SCHEME://ADDRESS`; `published` must have the same scheme.
    ///
    /// # Errors
    /// An unknown scheme, or a published address of another one.
    pub fn parse(
        transports: &Transports,
        endpoint: &str,
        published: Option<&str>,
        policy: &ProtocolPolicy,
    ) -> Result<Self, AddressError> {
        let (transport, address) = transports.endpoint(endpoint)?;
        let published = match published {
            None => None,
            Some(text) => {
                let (other, published) = transports.endpoint(text)?;
                if !Arc::ptr_eq(transport, other) {
                    let hint = format!(
                        "it must begin with `{}://`, like `{endpoint}`",
                        transport.scheme()
                    );
                    return Err(AddressError::new(text, hint));
                }
                Some(published.to_owned())
            }
        };
        let properties = policy.properties(transport.profile_tag()).cloned();
        Ok(Self {
            transport: Arc::clone(transport),
            address: address.to_owned(),
            published,
            properties: properties.unwrap_or_default(),
            highest_priority: Priority::MAX,
            stated_at: None,
        })
    }

    /// Creates the default endpoint of a protocol.
    pub fn default_of(transport: &Arc<dyn Transport>, protocol: &Protocol) -> Self {
        Self {
            transport: Arc::clone(transport),
            address: transport.default_address().to_owned(),
            published: None,
            properties: protocol.properties.clone(),
            highest_priority: Priority::MAX,
            stated_at: None,
        }
    }

    /// Returns the profile tag of its transport.
    pub fn profile_tag(&self) -> u32 {
        self.transport.profile_tag()
    }

    /// Returns the endpoint beside this one for a lane of this name.
    pub fn for_lane(&self, lane: &str) -> Self {
        let beside = |address: &String| self.transport.lane_address(address, lane);
        Self {
            address: beside(&self.address),
            published: self.published.as_ref().map(beside),
            ..self.clone()
        }
    }

    /// Returns the endpoint of lane `number` of a pool that listens at this one.
    pub fn numbered(&self, number: u16) -> Self {
        let numbered = |address: &String| self.transport.numbered_address(address, number);
        Self {
            address: numbered(&self.address),
            published: self.published.as_ref().map(numbered),
            ..self.clone()
        }
    }

    /// Returns whether its transport can listen; one over TLS needs a certificate.
    pub fn can_listen(&self) -> bool {
        self.transport.can_listen()
    }

    /// Whether it names a free port, which differs in each run: the next one would have the same address.
    pub fn is_at_free_port(&self) -> bool {
        self.transport.numbered_address(&self.address, 1) == self.address
    }

    pub(crate) fn open(&self) -> Result<Acceptor, LaneError> {
        let listener = self
            .transport
            .listen(&self.address, self.published.as_deref(), &self.properties)
            .map_err(|error| self.explain(error))?;
        Ok(Acceptor {
            transport: Arc::clone(&self.transport),
            listener,
            properties: self.properties.clone(),
            highest_priority: self.highest_priority,
        })
    }

    pub(crate) fn explain(&self, source: io::Error) -> LaneError {
        let place = self.stated_at.as_deref();
        match source.downcast::<AddressError>() {
            Ok(error) => LaneError::Address(match place {
                Some(place) => error.stated_at(place),
                None => error,
            }),
            Err(source) => LaneError::Listen {
                address: format!(
                    "{}://{}{}",
                    self.transport.scheme(),
                    self.address,
                    place.map_or_else(String::new, |place| format!(" (stated at {place})"))
                ),
                source,
            },
        }
    }
}

/// Acceptors of a lane; none before the lane listens.
#[derive(Default)]
pub struct Acceptors(OnceLock<Vec<Acceptor>>);

impl Acceptors {
    pub(crate) fn are_open(&self) -> bool {
        self.0.get().is_some()
    }

    pub(crate) fn open(&self, acceptors: Vec<Acceptor>) -> &[Acceptor] {
        self.0.get_or_init(|| acceptors)
    }
}

impl Deref for Acceptors {
    type Target = [Acceptor];

    fn deref(&self) -> &[Acceptor] {
        self.0.get().map_or(&[], Vec::as_slice)
    }
}

/// Open listener of a lane.
pub struct Acceptor {
    /// Transport of the listener.
    pub transport: Arc<dyn Transport>,
    pub(crate) listener: Box<dyn Listener>,
    pub(crate) properties: ProtocolProperties,
    pub(crate) highest_priority: Priority,
}

impl Acceptor {
    /// Address at which clients reach the listener, in the form of its transport.
    pub fn address(&self) -> &str {
        self.listener.address()
    }

    /// Descriptors that each accepted connection has open.
    pub(crate) fn descriptors_per_connection(&self) -> usize {
        self.transport.descriptors_per_connection()
    }
}
