use std::{io, sync::Arc};

use punctual_transport::{
    AddressError, Listener, Protocol, ProtocolPolicy, ProtocolProperties, Transport, Transports,
};

use punctual_types::Priority;

use crate::OrbError;

/// Where to listen over one protocol, and how.
#[derive(Clone)]
pub(crate) struct ListenAt {
    transport: Arc<dyn Transport>,
    address: String,
    /// What clients are told, where that is another address.
    published: Option<String>,
    properties: ProtocolProperties,
    /// The highest priority that requests may have which come in there.
    pub(crate) highest_priority: Priority,
}

impl ListenAt {
    /// From endpoints as the user writes them, `SCHEME://ADDRESS`; `published` must have the same scheme.
    pub(crate) fn parse(
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
                        "it must begin with `{}://`, as `{endpoint}` does",
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
        })
    }

    /// Any place of this protocol.
    pub(crate) fn anywhere(transport: &Arc<dyn Transport>, protocol: &Protocol) -> Self {
        Self {
            transport: Arc::clone(transport),
            address: transport.default_address().to_owned(),
            published: None,
            properties: protocol.properties.clone(),
            highest_priority: Priority::MAX,
        }
    }

    pub(crate) fn profile_tag(&self) -> u32 {
        self.transport.profile_tag()
    }

    /// The place beside it for a lane of this name.
    pub(crate) fn for_lane(&self, lane: &str) -> Self {
        let beside = |address: &String| self.transport.lane_address(address, lane);
        Self {
            address: beside(&self.address),
            published: self.published.as_ref().map(beside),
            ..self.clone()
        }
    }

    pub(super) fn open(&self) -> Result<Acceptor, OrbError> {
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

    pub(super) fn explain(&self, source: io::Error) -> OrbError {
        match source.downcast::<AddressError>() {
            Ok(error) => OrbError::Address(error),
            Err(source) => OrbError::Listen {
                address: format!("{}://{}", self.transport.scheme(), self.address),
                source,
            },
        }
    }
}

/// An open listener of a lane.
pub(crate) struct Acceptor {
    pub(crate) transport: Arc<dyn Transport>,
    pub(super) listener: Box<dyn Listener>,
    pub(super) properties: ProtocolProperties,
    pub(super) highest_priority: Priority,
}

impl Acceptor {
    /// Where clients reach it, as its transport says.
    pub(crate) fn address(&self) -> &str {
        self.listener.address()
    }
}
