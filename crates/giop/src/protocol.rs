//! Protocols that a client may use, with the properties of their connections.
//!
//! Their encoding in references is not standardised; this is TAO's.

use alloc::{collections::BTreeSet, vec::Vec};

use punctual_cdr::{CdrError, Decode, Decoder, Encode, Encoder};

use crate::{
    TAG_INTERNET_IOP, TAG_PUNCTUAL_SHM, TAG_PUNCTUAL_TLS, TAG_SHMIOP, TAG_UIOP, profile_tag::TAG_SCIOP,
};

/// Protocols in order of preference: the value of `RTCORBA::ServerProtocolPolicy` and
/// `RTCORBA::ClientProtocolPolicy`.
///
/// ```
/// # use punctual_giop as punctual;
/// use punctual::{Protocol, ProtocolPolicy};
///
/// // Unix sockets if they lead to the server, TCP otherwise.
/// let policy = ProtocolPolicy::new([Protocol::UIOP, Protocol::IIOP]);
/// assert_eq!(policy.protocols().len(), 2);
/// ```
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct ProtocolPolicy {
    protocols: Vec<Protocol>,
    /// The profile tags of `protocols`, in the same order.
    tags: Vec<u32>,
}

impl ProtocolPolicy {
    /// Creates a policy; the first protocol is preferred. Of several entries for one protocol, the first
    /// counts.
    pub fn new(protocols: impl IntoIterator<Item = Protocol>) -> Self {
        let mut policy = Self::default();
        let mut seen = BTreeSet::new();
        for protocol in protocols {
            if seen.insert(protocol.profile_tag) {
                policy.tags.push(protocol.profile_tag);
                policy.protocols.push(protocol);
            }
        }
        policy
    }

    /// Returns the protocols in order of preference.
    pub fn protocols(&self) -> &[Protocol] {
        &self.protocols
    }

    /// Returns the profile tags of the protocols, in the same order.
    pub fn tags(&self) -> &[u32] {
        &self.tags
    }

    /// Returns the properties of the protocol with this profile tag, if the policy names it.
    pub fn properties(&self, profile_tag: u32) -> Option<&ProtocolProperties> {
        let mut protocols = self.protocols.iter();
        let protocol = protocols.find(|protocol| protocol.profile_tag == profile_tag)?;
        Some(&protocol.properties)
    }
}

impl Encode for ProtocolPolicy {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.protocols.encode(encoder)
    }
}

impl<'a> Decode<'a> for ProtocolPolicy {
    const MIN_SIZE: usize = 4;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        Vec::decode(decoder).map(Self::new)
    }
}

/// A protocol and the properties of its connections: `RTCORBA::Protocol`.
///
/// ```
/// # use punctual_giop as punctual;
/// use punctual::{Protocol, ProtocolProperties};
///
/// let mut properties = ProtocolProperties::default();
/// properties.no_delay = false;
/// let tcp = Protocol::IIOP.with(properties);
/// assert_eq!(tcp.profile_tag, 0);
/// ```
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Protocol {
    /// Tag of the protocol's profiles in references.
    pub profile_tag: u32,
    /// Properties of the protocol's connections.
    pub properties: ProtocolProperties,
}

impl Protocol {
    /// GIOP over TCP.
    pub const IIOP: Self = Self::tagged(TAG_INTERNET_IOP);
    /// GIOP over Unix domain sockets, compatible with TAO.
    pub const UIOP: Self = Self::tagged(TAG_UIOP);
    /// GIOP over Punctual's shared memory.
    pub const SHM: Self = Self::tagged(TAG_PUNCTUAL_SHM);

    /// GIOP over TLS. In a [`ProtocolPolicy`] of a client it permits no other connections.
    pub const TLS: Self = Self::tagged(TAG_PUNCTUAL_TLS);

    /// Returns the protocol whose profiles have this tag, with default properties.
    pub const fn tagged(profile_tag: u32) -> Self {
        Self {
            profile_tag,
            properties: ProtocolProperties::DEFAULT,
        }
    }

    /// Replaces the properties.
    pub fn with(self, properties: ProtocolProperties) -> Self {
        Self { properties, ..self }
    }
}

impl Encode for Protocol {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        let octets = |size: Option<u32>| size.map_or(0, |size| i32::try_from(size).unwrap_or(i32::MAX));
        let of = &self.properties;
        let sizes = (octets(of.send_buffer_size), octets(of.recv_buffer_size));
        let flags = (of.keep_alive, of.dont_route, of.no_delay);
        self.profile_tag.encode(encoder)?;
        match self.profile_tag {
            TAG_INTERNET_IOP | TAG_SCIOP => (sizes, flags).encode(encoder),
            TAG_UIOP => sizes.encode(encoder),
            // Octets to preallocate, names of the mapped file and of its lock.
            TAG_SHMIOP => (sizes, flags, (0_i32, "", "")).encode(encoder),
            _ => Ok(()),
        }
    }
}

impl<'a> Decode<'a> for Protocol {
    const MIN_SIZE: usize = 4;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let mut protocol = Self::tagged(u32::decode(decoder)?);
        let properties = &mut protocol.properties;
        if matches!(
            protocol.profile_tag,
            TAG_INTERNET_IOP | TAG_SCIOP | TAG_UIOP | TAG_SHMIOP
        ) {
            let octets = |size: i32| u32::try_from(size).ok().filter(|size| *size > 0);
            properties.send_buffer_size = octets(i32::decode(decoder)?);
            properties.recv_buffer_size = octets(i32::decode(decoder)?);
            if protocol.profile_tag != TAG_UIOP {
                properties.keep_alive = bool::decode(decoder)?;
                properties.dont_route = bool::decode(decoder)?;
                properties.no_delay = bool::decode(decoder)?;
            }
            if protocol.profile_tag == TAG_SHMIOP {
                i32::decode(decoder)?;
                <&str>::decode(decoder)?;
                <&str>::decode(decoder)?;
            }
        }
        Ok(protocol)
    }
}

/// Properties of the connections of a protocol: `RTCORBA::TCPProtocolProperties` and those of TAO for other
/// transports. Each transport applies those that it supports.
///
/// ```
/// # use punctual_giop as punctual;
/// use punctual::ProtocolProperties;
///
/// let mut properties = ProtocolProperties::default();
/// properties.send_buffer_size = Some(1 << 16);
/// assert!(properties.no_delay && properties.keep_alive);
/// ```
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub struct ProtocolProperties {
    /// Minimal size of the send buffer in octets; Linux doubles it for its own bookkeeping. Default: the
    /// system's.
    pub send_buffer_size: Option<u32>,
    /// Size of the receive buffer in octets. Default: the system's.
    pub recv_buffer_size: Option<u32>,
    /// TCP: probes idle peers to detect dead ones. Default: true.
    pub keep_alive: bool,
    /// TCP: sends only to hosts on directly connected networks, bypassing gateways. Default: false.
    pub dont_route: bool,
    /// TCP: sends small messages immediately (disables Nagle's algorithm). Default: true.
    pub no_delay: bool,
    /// TCP: marks packets with a network priority derived from the CORBA priority. Not encoded in references.
    /// Default: false.
    pub enable_network_priority: bool,
}

impl ProtocolProperties {
    /// The value of [`Default`], for constants.
    pub const DEFAULT: Self = Self {
        send_buffer_size: None,
        recv_buffer_size: None,
        keep_alive: true,
        dont_route: false,
        no_delay: true,
        enable_network_priority: false,
    };
}

impl Default for ProtocolProperties {
    fn default() -> Self {
        Self::DEFAULT
    }
}
