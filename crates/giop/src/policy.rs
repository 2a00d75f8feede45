//! Policies in references, `Messaging::PolicyValue`, by which a server describes an object.
//!
//! Source: RTCORBA 1.2, clause 5.

use alloc::vec::Vec;

use punctual_cdr::{CdrError, CdrErrorKind, Decode, Decoder, Encode, Encoder, encode_encapsulation};
use punctual_types::{Priority, PriorityModel};

use crate::{ProtocolPolicy, encapsulation};

const PRIORITY_MODEL: u32 = 40;
const CLIENT_PROTOCOL: u32 = 43;
const PRIORITY_BANDED_CONNECTION: u32 = 45;

/// Values of `RTCORBA::PriorityModel`.
const CLIENT_PROPAGATED: u32 = 0;
const SERVER_DECLARED: u32 = 1;

/// A policy in a reference.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum PolicyValue {
    /// The priority at which requests are executed.
    PriorityModel(PriorityModel),
    /// Lowest and highest priorities of the bands that have a connection each.
    PriorityBands(Vec<(i16, i16)>),
    /// The protocols a client may use, in order of preference.
    ClientProtocols(ProtocolPolicy),
    /// Any other policy, or one with a vendor-specific value.
    Other {
        /// The id of the policy's type.
        type_id: u32,
        /// The value, usually an encapsulation.
        data: Vec<u8>,
    },
}

impl PolicyValue {
    /// Returns the id of the policy's type.
    pub fn type_id(&self) -> u32 {
        match self {
            Self::PriorityModel(_) => PRIORITY_MODEL,
            Self::PriorityBands(_) => PRIORITY_BANDED_CONNECTION,
            Self::ClientProtocols(_) => CLIENT_PROTOCOL,
            Self::Other { type_id, .. } => *type_id,
        }
    }

    /// Returns the position that TAO expects: it misreads known policies that follow an unknown one.
    fn rank(&self) -> u8 {
        match self {
            Self::PriorityBands(_) => 0,
            Self::ClientProtocols(_) => 1,
            Self::PriorityModel(_) => 2,
            Self::Other { .. } => 3,
        }
    }

    /// Writes the policies of one reference in an order that every peer can read.
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
            Self::PriorityModel(model) => encode_encapsulation(encoder, |inner| {
                let id = match model {
                    PriorityModel::ClientPropagated { .. } => CLIENT_PROPAGATED,
                    PriorityModel::ServerDeclared(_) => SERVER_DECLARED,
                };
                (id, model.server_priority().value()).encode(inner)
            }),
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

/// Decodes a priority model. A negative server priority, which the specification excludes, counts as the
/// lowest one.
fn priority_model(decoder: &mut Decoder<'_>) -> Result<PolicyValue, CdrError> {
    let model = u32::decode(decoder)?;
    if model != CLIENT_PROPAGATED && model != SERVER_DECLARED {
        return Err(decoder.error(CdrErrorKind::EnumOutOfRange));
    }
    let priority = Priority::new(i16::decode(decoder)?).unwrap_or(Priority::MIN);
    Ok(PolicyValue::PriorityModel(if model == CLIENT_PROPAGATED {
        PriorityModel::ClientPropagated { default: priority }
    } else {
        PriorityModel::ServerDeclared(priority)
    }))
}

/// Decodes a list of protocols. The encoding of their properties is not standardised: `None` for another
/// ORB's.
fn client_protocols(data: &[u8]) -> Option<PolicyValue> {
    let mut decoder = encapsulation::open(data).ok()?;
    let protocols = ProtocolPolicy::decode(&mut decoder).ok()?;
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
