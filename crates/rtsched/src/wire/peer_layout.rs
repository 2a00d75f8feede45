use core::time::Duration;

use punctual_cdr::{CdrError, CdrErrorKind, Decode, Decoder, Endian, decode_encapsulation};
use punctual_sched::dynamic::SchedulingParameters;
use punctual_types::{DistributableThreadId, Priority};

use super::{CarriedParameters, Reader, SchedulingContext, clocks::kokyu_deadline};

/// Which contexts of TAO's example schedulers are read beside our own. They are not marked and do not agree with each other, so
/// it has to be said which of them the peers use.
///
/// Their ids are counters of the process that makes them: see [`Reader::peer`]. Their parameters are the thread's own; implicit ones
/// do not travel.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum PeerLayout {
    /// None. Contexts that are not ours are passed over.
    #[default]
    OwnOnly,
    /// The Fixed_Priority example: 4 or 8 octets of id and nothing else. The priority is in service context 10, if anywhere.
    FixedPriority,
    /// The MIF example: 4 or 8 octets of id, then the importance in 4 octets.
    MostImportantFirst,
    /// FP over Kokyu: of `Kokyu::Svc_Ctxt_DSRT_QoS` the id and the priority; the sender leaves the rest as it was in memory.
    KokyuFixedPriority,
    /// MIF over Kokyu: of `Kokyu::Svc_Ctxt_DSRT_QoS` the id and the importance.
    KokyuMostImportantFirst,
    /// MUF over Kokyu: of `Kokyu::Svc_Ctxt_DSRT_QoS` the id, the criticality, the deadline and the execution time.
    KokyuMaximumUrgencyFirst,
}

impl PeerLayout {
    /// `None`: the data is not in this layout.
    pub(super) fn read(self, data: &[u8], reader: &Reader) -> Result<Option<SchedulingContext>, CdrError> {
        match self {
            Self::OwnOnly => Ok(None),
            Self::FixedPriority => Ok(counter(data).map(|counter| reader.context(counter, None))),
            Self::MostImportantFirst => Ok(split_importance(data).and_then(|(id, importance)| {
                let importance = match reader.endian {
                    Endian::Big => i32::from_be_bytes(importance),
                    Endian::Little => i32::from_le_bytes(importance),
                };
                let parameters = SchedulingParameters::Importance { importance };
                Some(reader.context(counter(id)?, Some(parameters)))
            })),
            Self::KokyuFixedPriority | Self::KokyuMostImportantFirst | Self::KokyuMaximumUrgencyFirst => {
                let Some(mut decoder) = behind_kokyu_type_code(data) else {
                    return Ok(None);
                };
                let service = KokyuService::decode(&mut decoder)?;
                let parameters = service.parameters(self, reader, &decoder)?;
                let context = match service.guid.try_into() {
                    // One of ours, that has come back.
                    Ok(id) => SchedulingContext {
                        id: DistributableThreadId::from_octets(id),
                        parameters: Some(parameters.into()),
                        implicit: None,
                        begins: false,
                    },
                    Err(_) => {
                        let id = counter(service.guid);
                        reader.context(
                            id.ok_or_else(|| decoder.error(CdrErrorKind::LengthImpossible))?,
                            Some(parameters),
                        )
                    }
                };
                if context.id == DistributableThreadId(0) {
                    return Err(decoder.error(CdrErrorKind::EnumOutOfRange));
                }
                Ok(Some(context))
            }
        }
    }
}

impl Reader {
    /// Of a thread whose id is a counter at the peer. Ours are random: that one of them looks like these happens as good as never.
    fn context(&self, counter: u64, parameters: Option<SchedulingParameters>) -> SchedulingContext {
        SchedulingContext {
            // The peer in front, turned round so that the first octet is not zero for small numbers of peers.
            id: DistributableThreadId((u128::from(!self.peer) << 64) | u128::from(counter)),
            parameters: parameters.map(CarriedParameters::Known),
            implicit: None,
            begins: false,
        }
    }
}

/// The octets of a `size_t`. Which number they are does not matter, as long as it is always the same.
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

/// A decoder at the value of the Any that the encapsulation holds, if it is one of that type. Of the TypeCode nothing but kind and
/// repository id is looked at; its length says where it ends.
fn behind_kokyu_type_code(data: &[u8]) -> Option<Decoder<'_>> {
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
    fn parameters(
        &self,
        layout: PeerLayout,
        reader: &Reader,
        decoder: &Decoder<'_>,
    ) -> Result<SchedulingParameters, CdrError> {
        Ok(match layout {
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
