//! Service contexts: data that ORBs exchange beside the arguments. Source: CORBA 3.3 part 2, 7.7.

use alloc::{string::String, vec::Vec};
use core::fmt;

use punctual_cdr::{CdrError, Decode, Decoder, Encode, Encoder, encode_encapsulation};

use crate::{
    InvocationPolicies, encapsulation,
    tagged_list::{TaggedEntries, TaggedList},
};

/// Code sets of the connection, in its first request.
pub const CODE_SETS: u32 = 1;
/// Addresses for which the sender also serves requests on this connection.
pub const BI_DIR_IIOP: u32 = 5;
/// Reference to the sender's run time, for valuetypes.
pub const SENDING_CONTEXT_RUN_TIME: u32 = 6;
/// Messaging policies of the invocation.
pub const INVOCATION_POLICIES: u32 = 7;
/// The Java exception behind an UNKNOWN.
pub const UNKNOWN_EXCEPTION_INFO: u32 = 9;
/// CORBA priority of the client, `IOP::RTCorbaPriority`.
pub const RT_CORBA_PRIORITY: u32 = 10;
/// Priority band to which a connection is bound, `IOP::RTCorbaPriorityRange`.
pub const RT_CORBA_PRIORITY_RANGE: u32 = 11;
/// Implicit operation whose request binds its connection to the band in its [`RT_CORBA_PRIORITY_RANGE`]
/// context. It has no arguments and no results, and does not reach a servant. Source: RTCORBA 1.2, binding of
/// priority banded connections.
pub const BIND_PRIORITY_BAND: &str = "_bind_priority_band";
/// Punctual: the priority of a request that is refused with NO_PERMISSION, and the highest accepted one.
pub const REFUSED_PRIORITY: u32 = crate::PUNCTUAL_ORB_TYPE + 1;
/// TAO: the distributable thread and its scheduling parameters; not an encapsulation.
pub const RT_SCHEDULING: u32 = 30;

/// Most service contexts of a received message: each access to one of them passes over all before it. A
/// message with more is malformed. Punctual sends 19 at most, other ORBs a few.
pub const MAX_SERVICE_CONTEXTS: usize = 64;

/// The service contexts of a received message, borrowing from it.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct ServiceContexts<'a>(TaggedList<'a>);

impl<'a> ServiceContexts<'a> {
    /// No service contexts.
    pub const EMPTY: Self = Self(TaggedList::EMPTY);

    /// Validates the list at the position of `decoder`, which reads `message`, and skips it.
    pub(crate) fn decode(decoder: &mut Decoder<'a>, message: &'a [u8]) -> Result<Self, CdrError> {
        TaggedList::decode(decoder, message, MAX_SERVICE_CONTEXTS).map(Self)
    }

    pub(crate) fn of(list: TaggedList<'a>) -> Self {
        Self(list)
    }

    pub(crate) fn list(&self) -> &TaggedList<'a> {
        &self.0
    }

    /// Iterates over id and data of each, in the order of the message.
    pub fn iter(&self) -> TaggedEntries<'a> {
        self.0.iter()
    }

    /// Returns the data of the first context with this id.
    pub fn find(&self, id: u32) -> Option<&'a [u8]> {
        self.iter().find(|(found, _)| *found == id).map(|(_, data)| data)
    }

    /// Returns the number of contexts.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no contexts.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a> IntoIterator for ServiceContexts<'a> {
    type Item = (u32, &'a [u8]);
    type IntoIter = TaggedEntries<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Debug for ServiceContexts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// A service context to send.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ServiceContext<'a> {
    /// [`CODE_SETS`]: the ids of the code sets of `char` and `wchar` on this connection.
    CodeSets {
        /// Code set of `char` and `string`.
        char: u32,
        /// Code set of `wchar` and `wstring`; 0 for none.
        wchar: u32,
    },
    /// [`RT_CORBA_PRIORITY`]: the CORBA priority of the caller.
    Priority(i16),
    /// [`RT_CORBA_PRIORITY_RANGE`]: the band to which [`BIND_PRIORITY_BAND`] binds the connection.
    PriorityRange {
        /// The lowest priority of the band.
        min: i16,
        /// The highest priority of the band.
        max: i16,
    },
    /// [`REFUSED_PRIORITY`], in the reply to a refused request.
    RefusedPriority {
        /// The priority of the request.
        asked: i16,
        /// The highest priority that would have been accepted.
        highest: i16,
    },
    /// [`INVOCATION_POLICIES`]: timeouts and deadlines of the request.
    InvocationPolicies(InvocationPolicies),
    /// [`BI_DIR_IIOP`]: addresses for which the sender serves requests on this connection.
    ListenPoints(&'a [ListenPoint]),
    /// Any other context, or one to echo verbatim.
    Raw {
        /// Id of the context.
        id: u32,
        /// Data of the context, usually an encapsulation.
        data: &'a [u8],
    },
}

impl Encode for ServiceContext<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        match *self {
            Self::CodeSets { char, wchar } => {
                CODE_SETS.encode(encoder)?;
                encode_encapsulation(encoder, |inner| (char, wchar).encode(inner))
            }
            Self::Priority(priority) => {
                RT_CORBA_PRIORITY.encode(encoder)?;
                encode_encapsulation(encoder, |inner| priority.encode(inner))
            }
            Self::PriorityRange { min, max } => {
                RT_CORBA_PRIORITY_RANGE.encode(encoder)?;
                encode_encapsulation(encoder, |inner| (min, max).encode(inner))
            }
            Self::RefusedPriority { asked, highest } => {
                REFUSED_PRIORITY.encode(encoder)?;
                encode_encapsulation(encoder, |inner| (asked, highest).encode(inner))
            }
            Self::InvocationPolicies(policies) => {
                INVOCATION_POLICIES.encode(encoder)?;
                encode_encapsulation(encoder, |inner| policies.encode(inner))
            }
            Self::ListenPoints(points) => {
                BI_DIR_IIOP.encode(encoder)?;
                encode_encapsulation(encoder, |inner| {
                    (points.len() as u32).encode(inner)?;
                    points
                        .iter()
                        .try_for_each(|point| (point.host.as_str(), point.port).encode(inner))
                })
            }
            Self::Raw { id, data } => (id, data).encode(encoder),
        }
    }
}

/// Decodes the priority in a [`RT_CORBA_PRIORITY`] context. It is untrusted and may be negative.
pub fn decode_priority(data: &[u8]) -> Result<i16, CdrError> {
    i16::decode(&mut encapsulation::open(data)?)
}

/// Decodes the lowest and highest priority in a [`RT_CORBA_PRIORITY_RANGE`] context. They are untrusted, may
/// be negative and in the wrong order.
pub fn decode_priority_range(data: &[u8]) -> Result<(i16, i16), CdrError> {
    let mut decoder = encapsulation::open(data)?;
    Ok((i16::decode(&mut decoder)?, i16::decode(&mut decoder)?))
}

/// Decodes the priority of a request and the highest accepted one in a [`REFUSED_PRIORITY`] context. They are
/// untrusted, and may be negative.
pub fn decode_refused_priority(data: &[u8]) -> Result<(i16, i16), CdrError> {
    decode_priority_range(data)
}

/// Decodes the ids for `char` and `wchar` in a [`CODE_SETS`] context.
pub fn decode_code_sets(data: &[u8]) -> Result<(u32, u32), CdrError> {
    let mut decoder = encapsulation::open(data)?;
    Ok((u32::decode(&mut decoder)?, u32::decode(&mut decoder)?))
}

/// An address for which the sender of a [`BI_DIR_IIOP`] context serves requests.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ListenPoint {
    /// A host name or address.
    pub host: String,
    /// A TCP port.
    pub port: u16,
}

/// Addresses of one [`BI_DIR_IIOP`] context that are considered: a bound on work and memory of its receiver.
pub const MAX_LISTEN_POINTS: usize = 16;

/// Octets of a host in a [`BI_DIR_IIOP`] context: names of DNS are shorter.
const MAX_HOST: usize = 255;

/// Decodes the first addresses in a [`BI_DIR_IIOP`] context, at most [`MAX_LISTEN_POINTS`], without those
/// whose hosts are longer than any name. They are claims of the sender.
pub fn decode_listen_points(data: &[u8]) -> Result<Vec<ListenPoint>, CdrError> {
    let mut decoder = encapsulation::open(data)?;
    let count = u32::decode(&mut decoder)?;
    let mut points = Vec::new();
    for _ in 0..count.min(MAX_LISTEN_POINTS as u32) {
        let host = <&str>::decode(&mut decoder)?;
        let port = u16::decode(&mut decoder)?;
        if host.len() <= MAX_HOST {
            points.push(ListenPoint {
                host: host.into(),
                port,
            });
        }
    }
    Ok(points)
}
