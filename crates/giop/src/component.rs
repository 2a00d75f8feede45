//! Tagged components: the details of a profile. Source: CORBA 3.3 part 2, 7.6.6.

use alloc::{string::String, vec::Vec};

use punctual_cdr::{CdrError, Decode, Decoder, Encode, Encoder, Endian, TaggedComponent};

use crate::{
    CodeSetComponentInfo, PolicyValue,
    encapsulation::{encapsulate, open},
};

/// The type of the ORB that created the reference.
pub const TAG_ORB_TYPE: u32 = 0;
/// Code sets of the server.
pub const TAG_CODE_SETS: u32 = 1;
/// Policies of the object for its clients.
pub const TAG_POLICIES: u32 = 2;
/// Another address of the same object.
pub const TAG_ALTERNATE_IIOP_ADDRESS: u32 = 3;
/// The port for TLS beside that of the profile. Source: SSLIOP, Security Service 1.8, 3.7.
pub const TAG_SSL_SEC_TRANS: u32 = 20;
/// TAO: the ports for TLS beside the [`TAO_TAG_ENDPOINTS`] from the second one on.
pub const TAO_TAG_SSL_ENDPOINTS: u32 = 0x5441_4f01;
/// TAO: the endpoints of the object with the priorities that they serve.
pub const TAO_TAG_ENDPOINTS: u32 = 0x5441_4f02;

/// The [`TAG_ORB_TYPE`] of this ORB, `PUNC`; not registered with the OMG.
pub const PUNCTUAL_ORB_TYPE: u32 = 0x5055_4e43;
/// The [`TAG_ORB_TYPE`] of TAO.
pub const TAO_ORB_TYPE: u32 = 0x5441_4f00;

/// A component of an IIOP profile, decoded.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Component {
    /// [`TAG_ORB_TYPE`].
    OrbType(u32),
    /// [`TAG_CODE_SETS`].
    CodeSets(CodeSetComponentInfo),
    /// [`TAG_ALTERNATE_IIOP_ADDRESS`].
    AlternateIiopAddress {
        /// A host name or address.
        host: String,
        /// A TCP port.
        port: u16,
    },
    /// [`TAG_POLICIES`]; always encoded in the order that TAO can read.
    Policies(Vec<PolicyValue>),
    /// [`TAO_TAG_ENDPOINTS`]; the first one repeats the address of the profile, with its priority.
    TaoEndpoints(Vec<TaoEndpoint>),
    /// [`TAG_SSL_SEC_TRANS`].
    Ssl(SslTransport),
    /// [`TAO_TAG_SSL_ENDPOINTS`]; endpoints without TLS have port 0.
    TaoSslEndpoints(Vec<SslTransport>),
    /// Any other component, verbatim.
    Other(TaggedComponent),
}

impl Component {
    /// Decodes a component of an IIOP profile; a component with an unknown tag is [`Self::Other`].
    pub fn decode(component: &TaggedComponent) -> Result<Self, CdrError> {
        let decoder = || open(&component.data);
        Ok(match component.tag {
            TAG_ORB_TYPE => Self::OrbType(u32::decode(&mut decoder()?)?),
            TAG_CODE_SETS => Self::CodeSets(CodeSetComponentInfo::decode(&mut decoder()?)?),
            TAG_POLICIES => Self::Policies(Vec::decode(&mut decoder()?)?),
            TAG_ALTERNATE_IIOP_ADDRESS => {
                let mut decoder = decoder()?;
                Self::AlternateIiopAddress {
                    host: String::decode(&mut decoder)?,
                    port: u16::decode(&mut decoder)?,
                }
            }
            TAO_TAG_ENDPOINTS => Self::TaoEndpoints(Vec::decode(&mut decoder()?)?),
            TAG_SSL_SEC_TRANS => Self::Ssl(SslTransport::decode(&mut decoder()?)?),
            TAO_TAG_SSL_ENDPOINTS => Self::TaoSslEndpoints(Vec::decode(&mut decoder()?)?),
            _ => Self::Other(component.clone()),
        })
    }

    /// Encodes the component in the native byte order. Fails if a host contains a NUL.
    pub fn encode(&self) -> Result<TaggedComponent, CdrError> {
        self.encode_in(Endian::NATIVE)
    }

    /// Encodes the component in this byte order.
    pub fn encode_in(&self, endian: Endian) -> Result<TaggedComponent, CdrError> {
        let data = match self {
            Self::OrbType(orb_type) => encapsulate(endian, |encoder| orb_type.encode(encoder)),
            Self::CodeSets(code_sets) => encapsulate(endian, |encoder| code_sets.encode(encoder)),
            Self::AlternateIiopAddress { host, port } => {
                encapsulate(endian, |encoder| (host, port).encode(encoder))
            }
            Self::Policies(policies) => {
                encapsulate(endian, |encoder| PolicyValue::encode_list(policies, encoder))
            }
            Self::TaoEndpoints(endpoints) => encapsulate(endian, |encoder| endpoints.encode(encoder)),
            Self::Ssl(transport) => encapsulate(endian, |encoder| transport.encode(encoder)),
            Self::TaoSslEndpoints(ports) => encapsulate(endian, |encoder| ports.encode(encoder)),
            Self::Other(component) => return Ok(component.clone()),
        }?;
        Ok(TaggedComponent {
            tag: self.tag(),
            data,
        })
    }

    /// Returns the tag of the component.
    pub fn tag(&self) -> u32 {
        match self {
            Self::OrbType(_) => TAG_ORB_TYPE,
            Self::CodeSets(_) => TAG_CODE_SETS,
            Self::AlternateIiopAddress { .. } => TAG_ALTERNATE_IIOP_ADDRESS,
            Self::Policies(_) => TAG_POLICIES,
            Self::TaoEndpoints(_) => TAO_TAG_ENDPOINTS,
            Self::Ssl(_) => TAG_SSL_SEC_TRANS,
            Self::TaoSslEndpoints(_) => TAO_TAG_SSL_ENDPOINTS,
            Self::Other(component) => component.tag,
        }
    }
}

/// `SSLIOP::SSL`: the port for TLS of a host, with what the server offers and requires there.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct SslTransport {
    /// Options that the server offers.
    pub supports: AssociationOptions,
    /// Options without which it accepts no connection.
    pub requires: AssociationOptions,
    /// A TCP port; 0: none.
    pub port: u16,
}

/// `Security::AssociationOptions`: a set of bits. Source: Security Service 1.8, 2.3.
///
/// ```
/// # mod punctual { pub(crate) use punctual_giop as transport; }
/// use punctual::transport::AssociationOptions;
///
/// let supported = AssociationOptions::PROTECTED.and(AssociationOptions::TRUST_IN_TARGET);
/// assert!(supported.has(AssociationOptions::PROTECTED));
/// assert!(!supported.has(AssociationOptions::NO_PROTECTION));
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct AssociationOptions(pub u16);

impl AssociationOptions {
    /// Connections without protection.
    pub const NO_PROTECTION: Self = Self(1);
    /// Changed, repeated and reordered messages are detected, and no third party can read them.
    pub const PROTECTED: Self = Self(2 | 4 | 8 | 16);
    /// The server has a certificate.
    pub const TRUST_IN_TARGET: Self = Self(32);
    /// The client has a certificate.
    pub const TRUST_IN_CLIENT: Self = Self(64);

    /// Returns the options of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether it has all options of the other set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl Encode for SslTransport {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        (self.supports.0, self.requires.0, self.port).encode(encoder)
    }
}

impl<'a> Decode<'a> for SslTransport {
    const MIN_SIZE: usize = 6;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        Ok(Self {
            supports: AssociationOptions(u16::decode(decoder)?),
            requires: AssociationOptions(u16::decode(decoder)?),
            port: u16::decode(decoder)?,
        })
    }
}

/// An endpoint and the CORBA priority that it serves, in TAO's encoding in an IIOP profile.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct TaoEndpoint {
    /// A host name or address.
    pub host: String,
    /// A TCP port.
    pub port: u16,
    /// Priority of its lane; -1 if it serves all priorities.
    pub priority: i16,
}

impl Encode for TaoEndpoint {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        (&self.host, self.port, self.priority).encode(encoder)
    }
}

impl<'a> Decode<'a> for TaoEndpoint {
    const MIN_SIZE: usize = 8;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        Ok(Self {
            host: String::decode(decoder)?,
            port: u16::decode(decoder)?,
            priority: i16::decode(decoder)?,
        })
    }
}

/// Encodes addresses and the CORBA priorities that they serve (-1: all) as a [`TAO_TAG_ENDPOINTS`] component
/// of any protocol.
///
/// `address` writes one address. Fails if `address` does.
pub fn encode_endpoints_with<A>(
    endian: Endian,
    endpoints: &[(A, i16)],
    mut address: impl FnMut(&A, &mut Encoder<'_>) -> Result<(), CdrError>,
) -> Result<TaggedComponent, CdrError> {
    let data = encapsulate(endian, |encoder| {
        encoder.length(endpoints.len())?;
        endpoints.iter().try_for_each(|(place, priority)| {
            address(place, encoder)?;
            priority.encode(encoder)
        })
    })?;
    Ok(TaggedComponent {
        tag: TAO_TAG_ENDPOINTS,
        data,
    })
}

/// Decodes the component written by [`encode_endpoints_with`]; `address` reads one address.
pub fn decode_endpoints_with<'c, A>(
    component: &'c TaggedComponent,
    mut address: impl FnMut(&mut Decoder<'c>) -> Result<A, CdrError>,
) -> Result<Vec<(A, i16)>, CdrError> {
    let decoder = &mut open(&component.data)?;
    // Each has at least a priority.
    let count = decoder.length(2)?;
    (0..count)
        .map(|_| Ok((address(decoder)?, i16::decode(decoder)?)))
        .collect()
}
