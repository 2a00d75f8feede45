//! Reads and writes contexts of other ORBs.

use core::time::Duration;

use punctual_cdr::{CdrError, CdrErrorKind, Decode, Decoder, Endian, decode_encapsulation};
use punctual_sched::dynamic::{ParameterKind, SchedulingParameters, TranslationDefaults};
use punctual_types::{DistributableThreadId, Priority};

use super::{
    carried_parameters::CarriedParameters, clocks::kokyu_deadline, context::SchedulingContext,
    octets::ContextOctets, peer_layout::PeerLayout, reader::Reader,
};

impl Reader {
    /// Reads data in the configured layout. `None`: the data is not in this layout.
    pub(super) fn read_peer_context(&self, data: &[u8]) -> Result<Option<SchedulingContext>, CdrError> {
        match self.layout {
            PeerLayout::OwnOnly => Ok(None),
            PeerLayout::FixedPriority => Ok(counter(data).map(|counter| self.context(counter, None))),
            PeerLayout::MostImportantFirst => Ok(split_importance(data).and_then(|(id, importance)| {
                let importance = match self.endian {
                    Endian::Big => i32::from_be_bytes(importance),
                    Endian::Little => i32::from_le_bytes(importance),
                };
                let parameters = SchedulingParameters::Importance { importance };
                Some(self.context(counter(id)?, Some(parameters)))
            })),
            PeerLayout::KokyuFixedPriority
            | PeerLayout::KokyuMostImportantFirst
            | PeerLayout::KokyuMaximumUrgencyFirst => self.read_kokyu(data),
        }
    }

    fn read_kokyu(&self, data: &[u8]) -> Result<Option<SchedulingContext>, CdrError> {
        let Some(mut decoder) = skip_kokyu_type_code(data) else {
            return Ok(None);
        };
        let service = KokyuService::decode(&mut decoder)?;
        let parameters = service.parameters(self, &decoder)?;
        let context = match service.guid.try_into() {
            // One of our ids that has returned.
            Ok(id) => SchedulingContext {
                id: DistributableThreadId::from_octets(id),
                parameters: Some(parameters.into()),
                implicit: None,
                begins: false,
            },
            Err(_) => {
                let counter = counter(service.guid);
                let counter = counter.ok_or_else(|| decoder.error(CdrErrorKind::LengthImpossible))?;
                self.context(counter, Some(parameters))
            }
        };
        if context.id == DistributableThreadId(0) {
            return Err(decoder.error(CdrErrorKind::EnumOutOfRange));
        }
        Ok(Some(context))
    }

    /// Context of a thread whose id is a counter at the peer. Our ids are random, so a collision is
    /// practically impossible.
    fn context(&self, counter: u64, parameters: Option<SchedulingParameters>) -> SchedulingContext {
        SchedulingContext {
            // The number of the peer in front, inverted so that the first octet is not zero for small
            // numbers.
            id: DistributableThreadId((u128::from(!self.peer) << 64) | u128::from(counter)),
            parameters: parameters.map(CarriedParameters::Known),
            implicit: None,
            begins: false,
        }
    }
}

impl PeerLayout {
    /// Encodes the context in this layout, for a server that reads no other one. `None`: nothing is sent in
    /// this layout.
    ///
    /// The id is shortened to the 8 octets of TAO's counters: an id that came from this peer is sent as it
    /// was. Parameters without an importance are translated; none, or unknown ones, have importance 0.
    ///
    /// ```
    /// # mod punctual {
    /// #     pub(crate) use punctual_cdr as value;
    /// #     pub mod rtscheduling { pub use {
    /// #         punctual_rtsched::*, punctual_sched::dynamic::*, punctual_types::DistributableThreadId,
    /// #     }; }
    /// # }
    /// use punctual::rtscheduling::{DistributableThreadId, SchedulingParameters};
    /// use punctual::rtscheduling::wire::{PeerLayout, SchedulingContext};
    /// use punctual::value::Endian;
    ///
    /// let context = SchedulingContext {
    ///     id: DistributableThreadId(4),
    ///     parameters: Some(SchedulingParameters::Importance { importance: 9 }.into()),
    ///     implicit: None,
    ///     begins: false,
    /// };
    /// let sent = PeerLayout::MostImportantFirst.encode(&context, Endian::Little);
    /// assert_eq!(sent.as_deref(), Some(&[4, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0][..]));
    /// assert!(PeerLayout::OwnOnly.encode(&context, Endian::Little).is_none());
    /// ```
    pub fn encode(self, context: &SchedulingContext, endian: Endian) -> Option<ContextOctets> {
        let mut octets = ContextOctets::new(endian);
        match self {
            Self::FixedPriority => octets.octets(&counter_of(context.id)),
            Self::MostImportantFirst => {
                octets.octets(&counter_of(context.id));
                octets.number(importance(context).to_be_bytes());
            }
            Self::OwnOnly
            | Self::KokyuFixedPriority
            | Self::KokyuMostImportantFirst
            | Self::KokyuMaximumUrgencyFirst => return None,
        }
        Some(octets)
    }
}

/// Returns the reverse of [`counter`].
fn counter_of(DistributableThreadId(id): DistributableThreadId) -> [u8; 8] {
    (id as u64).to_le_bytes()
}

fn importance(context: &SchedulingContext) -> i32 {
    let known = context.parameters.as_ref().and_then(CarriedParameters::known);
    let translated = known.map(|known| {
        let defaults = TranslationDefaults::default();
        known.translated(ParameterKind::Importance, &defaults)
    });
    translated
        .and_then(|parameters| parameters.importance())
        .unwrap_or(0)
}

/// Returns the octets of a `size_t`. Their byte order does not matter, because they only have to be unique.
fn counter(octets: &[u8]) -> Option<u64> {
    match octets.len() {
        4 | 8 => {
            let mut whole = [0; 8];
            whole[..octets.len()].copy_from_slice(octets);
            Some(u64::from_le_bytes(whole))
        }
        _ => None,
    }
}

fn split_importance(data: &[u8]) -> Option<(&[u8], [u8; 4])> {
    let (id, importance) = data.split_last_chunk()?;
    Some((id, *importance))
}

/// `struct Kokyu::Svc_Ctxt_DSRT_QoS`.
struct KokyuService<'a> {
    guid: &'a [u8],
    importance: i32,
    criticality: i32,
    desired_priority: i16,
    deadline: u64,
    execution_time: u64,
}

const TK_STRUCT: u32 = 15;
const KOKYU_ID: &[u8] = b"IDL:omg.org/Kokyu/Svc_Ctxt_DSRT_QoS:1.0\0";

/// Returns a decoder at the value of the Any in the encapsulation, if the value has that type. Only the kind
/// and the repository id of the TypeCode are checked.
fn skip_kokyu_type_code(data: &[u8]) -> Option<Decoder<'_>> {
    let outer = Decoder::new(&[], Endian::NATIVE);
    let mut decoder = decode_encapsulation(&outer, data).ok()?;
    if u32::decode(&mut decoder).ok()? != TK_STRUCT {
        return None;
    }
    let type_code = <&[u8]>::decode(&mut decoder).ok()?;
    let mut type_code = decode_encapsulation(&outer, type_code).ok()?;
    (<&[u8]>::decode(&mut type_code).ok()? == KOKYU_ID).then_some(decoder)
}

impl<'a> Decode<'a> for KokyuService<'a> {
    const MIN_SIZE: usize = 32;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        Ok(Self {
            guid: <&[u8]>::decode(decoder)?,
            importance: i32::decode(decoder)?,
            criticality: i32::decode(decoder)?,
            desired_priority: i16::decode(decoder)?,
            deadline: u64::decode(decoder)?,
            execution_time: u64::decode(decoder)?,
        })
    }
}

impl KokyuService<'_> {
    fn parameters(&self, reader: &Reader, decoder: &Decoder<'_>) -> Result<SchedulingParameters, CdrError> {
        Ok(match reader.layout {
            PeerLayout::KokyuFixedPriority => SchedulingParameters::FixedPriority {
                priority: Priority::new(self.desired_priority)
                    .map_err(|_| decoder.error(CdrErrorKind::EnumOutOfRange))?,
            },
            PeerLayout::KokyuMaximumUrgencyFirst => SchedulingParameters::Urgency {
                criticality: self.criticality,
                deadline: kokyu_deadline(self.deadline, &reader.clocks),
                execution_time: Duration::from_nanos(self.execution_time.saturating_mul(100)),
                importance: 0,
            },
            _ => SchedulingParameters::Importance {
                importance: self.importance,
            },
        })
    }
}
