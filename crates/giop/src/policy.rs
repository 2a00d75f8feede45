//! Policies in references, `Messaging::PolicyValue`: what a server tells its clients about an object.
//!
//! Source: Real-time CORBA 1.2, clause 5.

use alloc::vec::Vec;

use punctual_cdr::{CdrError, CdrErrorKind, Decode, Decoder, Encode, Encoder, encode_encapsulation};

use crate::{ProtocolEntry, encapsulation};

const PRIORITY_MODEL: u32 = 40;
const CLIENT_PROTOCOL: u32 = 43;
const PRIORITY_BANDED_CONNECTION: u32 = 45;

/// A policy that stands in a reference.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum PolicyValue {
    /// Whose priority a request runs at.
    PriorityModel {
        /// The client's or the server's.
        model: PriorityModel,
        /// The object's priority, or what requests without a priority run at.
        server_priority: i16,
    },
    /// The ranges of priorities, lowest and highest, that have a connection each.
    PriorityBands(Vec<(i16, i16)>),
    /// The protocols a client may use, in order of preference.
    ClientProtocols(Vec<ProtocolEntry>),
    /// Any other, or one whose value has a form of its vendor.
    Other {
        /// The id of the policy's type.
        type_id: u32,
        /// Its value, mostly an encapsulation.
        data: Vec<u8>,
    },
}

/// Whose priority a request runs at, `RTCORBA::PriorityModel`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[repr(u32)]
pub enum PriorityModel {
    /// The client's, sent with each request.
    ClientPropagated = 0,
    /// The one the server declared for the object.
    ServerDeclared = 1,
}

impl PolicyValue {
    /// The id of the policy's type.
    pub fn type_id(&self) -> u32 {
        match self {
            Self::PriorityModel { .. } => PRIORITY_MODEL,
            Self::PriorityBands(_) => PRIORITY_BANDED_CONNECTION,
            Self::ClientProtocols(_) => CLIENT_PROTOCOL,
            Self::Other { type_id, .. } => *type_id,
        }
    }

    /// Where TAO expects it: it misreads known policies that stand behind one it does not know.
    fn rank(&self) -> u8 {
        match self {
            Self::PriorityBands(_) => 0,
            Self::ClientProtocols(_) => 1,
            Self::PriorityModel { .. } => 2,
            Self::Other { .. } => 3,
        }
    }

    /// Writes the policies of one reference in the order that every peer reads.
    pub(crate) fn encode_list(policies: &[Self], encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        encoder.length(policies.len())?;
        let mut ordered: Vec<_> = policies.iter().collect();
        ordered.sort_by_key(|policy| policy.rank());
        ordered.into_iter().try_for_each(|policy| policy.encode(encoder))
    }
}

impl Encode for PolicyValue {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.type_id().encode(encoder)?;
        match self {
            Self::PriorityModel {
                model,
                server_priority,
            } => encode_encapsulation(encoder, |inner| (*model as u32, *server_priority).encode(inner)),
            Self::PriorityBands(bands) => encode_encapsulation(encoder, |inner| {
                inner.length(bands.len())?;
                bands.iter().try_for_each(|band| band.encode(inner))
            }),
            Self::ClientProtocols(protocols) => {
                encode_encapsulation(encoder, |inner| protocols.encode(inner))
            }
            Self::Other { data, .. } => data.encode(encoder),
        }
    }
}

impl<'a> Decode<'a> for PolicyValue {
    const MIN_SIZE: usize = 8;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let type_id = u32::decode(decoder)?;
        let data = <&[u8]>::decode(decoder)?;
        Ok(match type_id {
            PRIORITY_MODEL => priority_model(&mut encapsulation::open(data)?)?,
            PRIORITY_BANDED_CONNECTION => {
                let bands = Vec::<Band>::decode(&mut encapsulation::open(data)?)?;
                Self::PriorityBands(bands.into_iter().map(|band| (band.low, band.high)).collect())
            }
            CLIENT_PROTOCOL => client_protocols(data).unwrap_or_else(|| Self::Other {
                type_id,
                data: data.into(),
            }),
            _ => Self::Other {
                type_id,
                data: data.into(),
            },
        })
    }
}

fn priority_model(decoder: &mut Decoder<'_>) -> Result<PolicyValue, CdrError> {
    let model = match u32::decode(decoder)? {
        0 => PriorityModel::ClientPropagated,
        1 => PriorityModel::ServerDeclared,
        _ => return Err(decoder.error(CdrErrorKind::EnumOutOfRange)),
    };
    Ok(PolicyValue::PriorityModel {
        model,
        server_priority: i16::decode(decoder)?,
    })
}

/// The form of protocol properties is not standardised: `None` for what another ORB writes, which is kept as
/// it is.
fn client_protocols(data: &[u8]) -> Option<PolicyValue> {
    let mut decoder = encapsulation::open(data).ok()?;
    let protocols = Vec::decode(&mut decoder).ok()?;
    (decoder.remaining() == 0).then_some(PolicyValue::ClientProtocols(protocols))
}

struct Band {
    low: i16,
    high: i16,
}

impl<'a> Decode<'a> for Band {
    const MIN_SIZE: usize = 4;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        Ok(Self {
            low: i16::decode(decoder)?,
            high: i16::decode(decoder)?,
        })
    }
}
