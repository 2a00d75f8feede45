//! Scheduling parameters in a context.

use core::time::Duration;

use punctual_cdr::{CdrError, CdrErrorKind, Decode, Decoder, Endian};
use punctual_sched::dynamic::{ParameterKind, SchedulingParameters, Time, UserKind, UserParameters, Utility};
use punctual_types::Priority;

use super::{
    clocks::{Clocks, SentDeadline, UtcTime},
    octets::ContextOctets,
};

/// Scheduling parameters in a context, of a known or an unknown kind.
///
/// ```
/// # mod punctual {
/// #     pub(crate) use punctual_cdr as value;
/// #     pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; }
/// # }
/// use punctual::rtscheduling::{SchedulingParameters, Time, wire::{CarriedParameters, UnknownParameters}};
/// use punctual::value::Endian;
///
/// let known = CarriedParameters::from(SchedulingParameters::Importance { importance: 5 });
/// assert_eq!(known.known().and_then(SchedulingParameters::importance), Some(5));
///
/// let foreign = UnknownParameters::new(0x8001, Some(Time(9)), Endian::Big, &[0; 8]);
/// let foreign = CarriedParameters::Unknown(foreign.expect("the kind is user-defined"));
/// assert_eq!((foreign.known(), foreign.deadline()), (None, Some(Time(9))));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CarriedParameters {
    /// Parameters of a known kind.
    Known(SchedulingParameters),
    /// Parameters of an unknown kind, which travel on unchanged.
    Unknown(UnknownParameters),
}

/// Parameters of an unknown kind: no thread is scheduled by them, and they travel on with the thread.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UnknownParameters {
    kind: u16,
    deadline: Option<Time>,
    endian: Endian,
    length: u8,
    fields: [u8; Self::MOST],
}

impl UnknownParameters {
    /// Maximum number of octets in the fields of an unknown kind.
    pub const MOST: usize = MOST_BLOCK - HEADER_SIZE - DEADLINE_SIZE;

    /// Takes fields of an own kind, in CDR of this byte order, aligned from an offset that is a multiple of
    /// 8.
    ///
    /// `None`: the kind is zero or one of ours, or the length of the fields exceeds [`Self::MOST`] or is not
    /// a multiple of 8 (pad with zeros).
    ///
    /// ```
    /// # mod punctual {
    /// #     pub(crate) use punctual_cdr as value;
    /// #     pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; }
    /// # }
    /// use punctual::{rtscheduling::{Time, wire::UnknownParameters}, value::Endian};
    ///
    /// let fields = [0, 0, 0, 9, 0, 0, 0, 0];
    /// let energy = UnknownParameters::new(0x8001, Some(Time(5)), Endian::Big, &fields).unwrap();
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

    /// Number of the kind.
    pub fn kind(&self) -> u16 {
        self.kind
    }

    /// Deadline, which every kind may have.
    pub fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// Parameters of a user-defined scheduler; `None`: the kind is not user-defined, or the fields are no
    /// sequence of at most [`UserParameters::MOST`] octets.
    pub fn user(&self) -> Option<UserParameters> {
        let kind = UserKind::new(self.kind)?;
        let (fields, endian) = self.fields();
        let mut decoder = Decoder::new(fields, endian);
        let length = u32::decode(&mut decoder).ok()?;
        let octets = decoder.octets(usize::try_from(length).ok()?).ok()?;
        let parameters = UserParameters::new(kind, octets)?;
        Some(parameters.with_deadline(self.deadline.unwrap_or(Time::NEVER)))
    }

    /// Remaining fields, and their byte order.
    pub fn fields(&self) -> (&[u8], Endian) {
        (&self.fields[..usize::from(self.length)], self.endian)
    }
}

impl From<SchedulingParameters> for CarriedParameters {
    fn from(parameters: SchedulingParameters) -> Self {
        Self::Known(parameters)
    }
}

/// Offsets and sizes of blocks are multiples of this.
const ALIGNMENT: usize = 8;
/// Size of the header of a block: byte order, flags, kind, size.
const HEADER_SIZE: usize = 8;
/// Size of the deadline and the remaining time.
const DEADLINE_SIZE: usize = 16;
/// Maximum size of a block.
const MOST_BLOCK: usize = 128;
const HAS_DEADLINE: u8 = 1;

impl CarriedParameters {
    /// Returns parameters of a known kind.
    pub fn known(&self) -> Option<&SchedulingParameters> {
        match self {
            Self::Known(parameters) => Some(parameters),
            Self::Unknown(_) => None,
        }
    }

    /// Deadline, if the parameters have one.
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
            Self::Known(parameters) => (Endian::from_flag(to[0]), parameters.kind().number()),
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

    /// Reads the block at the decoder's position, which is a multiple of 8.
    pub(super) fn decode(
        decoder: &mut Decoder<'_>,
        clocks: &Clocks,
        max_skew: Duration,
    ) -> Result<Self, CdrError> {
        let start = decoder.position();
        // Errors state the offset from the start of the context.
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
    let mut kinds = ParameterKind::STANDARD.into_iter();
    kinds.find(|kind| kind.number() == number)
}

/// Durations first, in nanoseconds, then the 32-bit numbers, so that no padding is necessary.
fn encode_fields(parameters: &SchedulingParameters, to: &mut ContextOctets) {
    use SchedulingParameters as P;
    let (durations, numbers): ([Option<Duration>; 2], [Option<i32>; 2]) = match *parameters {
        P::User(parameters) => return encode_user(&parameters, to),
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
            // The same octets as a `u32`.
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

/// A `sequence<octet>`.
fn encode_user(parameters: &UserParameters, to: &mut ContextOctets) {
    let octets = parameters.octets();
    to.number((octets.len() as u32).to_be_bytes());
    to.octets(octets);
}

/// A missing deadline becomes [`Time::NEVER`]; a deadline that the kind does not have is ignored.
fn decode_fields(
    kind: ParameterKind,
    deadline: Option<Time>,
    block: &mut Decoder<'_>,
) -> Result<SchedulingParameters, CdrError> {
    use SchedulingParameters as P;
    let deadline = deadline.unwrap_or(Time::NEVER);
    Ok(match kind {
        // Only the scheduler of that kind reads them: see `UnknownParameters::user`.
        ParameterKind::User(_) => return Err(block.error(CdrErrorKind::EnumOutOfRange)),
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
