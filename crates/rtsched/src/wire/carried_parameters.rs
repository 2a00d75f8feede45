use core::time::Duration;

use punctual_cdr::{CdrError, CdrErrorKind, Decode, Decoder, Endian};
use punctual_sched::dynamic::{ParameterKind, SchedulingParameters, Time, Utility};
use punctual_types::Priority;

use super::{Clocks, ContextOctets, UtcTime, clocks::SentDeadline};

/// Scheduling parameters as they travel: known here, or of a discipline that others have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CarriedParameters {
    /// Of one of our kinds.
    Known(SchedulingParameters),
    /// Of another one. They travel on as they came.
    Unknown(UnknownParameters),
}

/// Parameters of a kind that is not known here: nobody is scheduled by them, and they go on with the thread.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UnknownParameters {
    kind: u16,
    deadline: Option<Time>,
    endian: Endian,
    length: u8,
    fields: [u8; Self::MOST],
}

impl UnknownParameters {
    /// The most octets that fields of an unknown kind can have.
    pub const MOST: usize = MOST_BLOCK - HEADER_SIZE - DEADLINE_SIZE;

    /// Fields of a kind of one's own, in CDR of this byte order, aligned as from an octet whose place is a multiple of 8.
    ///
    /// `None` where the kind is zero or one of ours, or the fields are more than [`Self::MOST`] octets or no multiple of 8: fill
    /// them up with zeroes.
    ///
    /// ```
    /// use punctual_cdr::Endian;
    /// use punctual_rtsched::wire::UnknownParameters;
    /// use punctual_sched::dynamic::Time;
    ///
    /// let energy = UnknownParameters::new(0x8001, Some(Time(5)), Endian::Big, &[0, 0, 0, 9, 0, 0, 0, 0]).unwrap();
    /// assert_eq!((energy.kind(), energy.deadline()), (0x8001, Some(Time(5))));
    /// assert!(UnknownParameters::new(2, None, Endian::Big, &[]).is_none(), "2 is importance");
    /// ```
    pub fn new(kind: u16, deadline: Option<Time>, endian: Endian, fields: &[u8]) -> Option<Self> {
        let fits = fields.len() <= Self::MOST && fields.len().is_multiple_of(ALIGNMENT);
        if kind == 0 || known_kind(kind).is_some() || !fits {
            return None;
        }
        let mut kept = [0; Self::MOST];
        kept[..fields.len()].copy_from_slice(fields);
        Some(Self {
            kind,
            deadline: deadline.filter(|deadline| *deadline != Time::NEVER),
            endian,
            length: fields.len() as u8,
            fields: kept,
        })
    }

    /// The number of their kind.
    pub fn kind(&self) -> u16 {
        self.kind
    }

    /// The end of the work, which can be read whatever the kind.
    pub fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// What else they say, and in which byte order.
    pub fn fields(&self) -> (&[u8], Endian) {
        (&self.fields[..usize::from(self.length)], self.endian)
    }
}

impl From<SchedulingParameters> for CarriedParameters {
    fn from(parameters: SchedulingParameters) -> Self {
        Self::Known(parameters)
    }
}

/// Each block begins at a multiple of this and is a multiple of it long.
const ALIGNMENT: usize = 8;
/// Byte order, flags, kind, size.
const HEADER_SIZE: usize = 8;
/// The deadline and the time left.
const DEADLINE_SIZE: usize = 16;
/// No block is larger.
const MOST_BLOCK: usize = 128;
const HAS_DEADLINE: u8 = 1;

impl CarriedParameters {
    /// The known ones.
    pub fn known(&self) -> Option<&SchedulingParameters> {
        match self {
            Self::Known(parameters) => Some(parameters),
            Self::Unknown(_) => None,
        }
    }

    /// The end of the work, where they say it.
    pub fn deadline(&self) -> Option<Time> {
        match self {
            Self::Known(parameters) => parameters.deadline(),
            Self::Unknown(parameters) => parameters.deadline,
        }
    }

    pub(super) fn encode(&self, clocks: &Clocks, to: &mut ContextOctets) {
        to.align(ALIGNMENT);
        let start = to.position();
        let (endian, kind) = match self {
            Self::Known(parameters) => (Endian::from_flag(to[0]), parameters.kind() as u16),
            Self::Unknown(parameters) => (parameters.endian, parameters.kind),
        };
        let deadline = self
            .deadline()
            .and_then(|deadline| SentDeadline::of(deadline, clocks));
        to.set_endian(endian);
        to.octets(&[endian.flag(), u8::from(deadline.is_some()) * HAS_DEADLINE]);
        to.number(kind.to_be_bytes());
        to.number([0; 4]);
        if let Some(SentDeadline { absolute, left }) = deadline {
            to.number(absolute.0.to_be_bytes());
            to.number(left.to_be_bytes());
        }
        match self {
            Self::Known(parameters) => encode_fields(parameters, to),
            Self::Unknown(parameters) => to.octets(parameters.fields().0),
        }
        to.align(ALIGNMENT);
        to.patch(start + 4, (to.position() - start) as u32);
    }

    /// Reads the block at the decoder's position, which is a multiple of 8, and moves behind it.
    pub(super) fn decode(
        decoder: &mut Decoder<'_>,
        clocks: &Clocks,
        max_skew: Duration,
    ) -> Result<Self, CdrError> {
        let start = decoder.position();
        // Where it lies is told from the start of the context, too.
        let in_context = |error: CdrError| CdrError {
            offset: start + error.offset,
            ..error
        };
        let header = decoder.clone().octets(HEADER_SIZE)?;
        if header[0] > 1 {
            return Err(decoder.error(CdrErrorKind::BooleanInvalid));
        }
        let endian = Endian::from_flag(header[0]);
        let mut sizes = Decoder::new(header, endian).at(2);
        let (kind, size) = (u16::decode(&mut sizes)?, u32::decode(&mut sizes)? as usize);
        if !(HEADER_SIZE..=MOST_BLOCK).contains(&size) || !size.is_multiple_of(ALIGNMENT) {
            return Err(decoder.error(CdrErrorKind::LengthImpossible));
        }
        let mut block = Decoder::new(decoder.octets(size)?, endian).at(HEADER_SIZE);
        let deadline = (header[1] & HAS_DEADLINE != 0)
            .then(|| read_deadline(&mut block))
            .transpose()
            .map_err(in_context)?
            .map(|sent| sent.here(clocks, max_skew));
        match known_kind(kind) {
            Some(kind) => decode_fields(kind, deadline, &mut block)
                .map(Self::Known)
                .map_err(in_context),
            None => UnknownParameters::new(kind, deadline, endian, block.rest())
                .map(Self::Unknown)
                .ok_or(CdrError {
                    kind: if kind == 0 {
                        CdrErrorKind::EnumOutOfRange
                    } else {
                        CdrErrorKind::LengthImpossible
                    },
                    offset: start,
                }),
        }
    }
}

fn read_deadline(block: &mut Decoder<'_>) -> Result<SentDeadline, CdrError> {
    Ok(SentDeadline {
        absolute: UtcTime(u64::decode(block)?),
        left: i64::decode(block)?,
    })
}

fn known_kind(number: u16) -> Option<ParameterKind> {
    use ParameterKind::*;
    [
        FixedPriority,
        Importance,
        Rate,
        Deadline,
        Laxity,
        Urgency,
        RateOrLaxity,
        Utility,
    ]
    .into_iter()
    .find(|kind| *kind as u16 == number)
}

/// Durations first, in nanoseconds; then the numbers of 32 bits, so that nothing is between them.
fn encode_fields(parameters: &SchedulingParameters, to: &mut ContextOctets) {
    use SchedulingParameters as P;
    let (durations, numbers): ([Option<Duration>; 2], [Option<i32>; 2]) = match *parameters {
        P::FixedPriority { priority } => return to.number(priority.value().to_be_bytes()),
        P::Importance { importance } => ([None; 2], [Some(importance), None]),
        P::Rate { period, importance } => ([Some(period), None], [Some(importance), None]),
        P::Deadline {
            period,
            execution_time,
            importance,
            ..
        } => ([Some(period), Some(execution_time)], [Some(importance), None]),
        P::Laxity {
            execution_time,
            importance,
            ..
        } => ([Some(execution_time), None], [Some(importance), None]),
        P::Urgency {
            execution_time,
            criticality,
            importance,
            ..
        } => (
            [Some(execution_time), None],
            [Some(criticality), Some(importance)],
        ),
        P::RateOrLaxity {
            criticality,
            period,
            execution_time,
            importance,
            ..
        } => (
            [Some(period), Some(execution_time)],
            [Some(criticality), Some(importance)],
        ),
        P::Utility {
            execution_time,
            utility,
            ..
        } => (
            [Some(execution_time), Some(utility.decay)],
            // The same octets.
            [Some(utility.value as i32), None],
        ),
    };
    for duration in durations.into_iter().flatten() {
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        to.number(nanoseconds.to_be_bytes());
    }
    for number in numbers.into_iter().flatten() {
        to.number(number.to_be_bytes());
    }
}

/// A deadline that is not said is none; one that the kind does not have is passed over.
fn decode_fields(
    kind: ParameterKind,
    deadline: Option<Time>,
    block: &mut Decoder<'_>,
) -> Result<SchedulingParameters, CdrError> {
    use SchedulingParameters as P;
    let deadline = deadline.unwrap_or(Time::NEVER);
    Ok(match kind {
        ParameterKind::FixedPriority => P::FixedPriority {
            priority: Priority::new(i16::decode(block)?)
                .map_err(|_| block.error(CdrErrorKind::EnumOutOfRange))?,
        },
        ParameterKind::Importance => P::Importance {
            importance: i32::decode(block)?,
        },
        ParameterKind::Rate => P::Rate {
            period: duration(block)?,
            importance: i32::decode(block)?,
        },
        ParameterKind::Deadline => P::Deadline {
            deadline,
            period: duration(block)?,
            execution_time: duration(block)?,
            importance: i32::decode(block)?,
        },
        ParameterKind::Laxity => P::Laxity {
            deadline,
            execution_time: duration(block)?,
            importance: i32::decode(block)?,
        },
        ParameterKind::Urgency => P::Urgency {
            deadline,
            execution_time: duration(block)?,
            criticality: i32::decode(block)?,
            importance: i32::decode(block)?,
        },
        ParameterKind::RateOrLaxity => P::RateOrLaxity {
            deadline,
            period: duration(block)?,
            execution_time: duration(block)?,
            criticality: i32::decode(block)?,
            importance: i32::decode(block)?,
        },
        ParameterKind::Utility => P::Utility {
            deadline,
            execution_time: duration(block)?,
            utility: Utility {
                decay: duration(block)?,
                value: u32::decode(block)?,
            },
        },
    })
}

fn duration(block: &mut Decoder<'_>) -> Result<Duration, CdrError> {
    u64::decode(block).map(Duration::from_nanos)
}
