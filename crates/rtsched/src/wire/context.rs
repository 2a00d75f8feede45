//! Our format of service context 30.

use core::time::Duration;

use punctual_cdr::{CdrError, CdrErrorKind, Decode, Decoder, Endian};
use punctual_types::DistributableThreadId;

use super::{carried_parameters::CarriedParameters, clocks::Clocks, octets::ContextOctets};

/// The distributable thread that makes a request: the data of service context 30.
///
/// ```
/// # mod punctual {
/// #     pub(crate) use punctual_cdr as value;
/// #     pub mod rtscheduling { pub use {
/// #         punctual_rtsched::*, punctual_sched::dynamic::*, punctual_types::DistributableThreadId,
/// #     }; }
/// # }
/// use punctual::rtscheduling::{DistributableThreadId, Time};
/// use punctual::rtscheduling::wire::{Clocks, PeerLayout, Reader, Reading, SchedulingContext, UtcTime};
/// use punctual::value::Endian;
///
/// // A oneway request spawns the thread.
/// let id = DistributableThreadId(7);
/// let context = SchedulingContext { id, parameters: None, implicit: None, begins: true };
/// let clocks = Clocks { local: Time(0), utc: UtcTime(0) };
/// let octets = context.encode(&clocks, Endian::NATIVE);
/// let reading = Reader::new(clocks, PeerLayout::OwnOnly).read(&octets)?;
/// assert_eq!(reading, Reading::Context(context));
/// # Ok::<(), punctual_cdr::CdrError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SchedulingContext {
    /// Id of the thread. Zero means no thread and is refused.
    pub id: DistributableThreadId,
    /// Scheduling parameters; `None`: the defaults of the receiver.
    pub parameters: Option<CarriedParameters>,
    /// Scheduling parameters of threads that it spawns implicitly.
    pub implicit: Option<CarriedParameters>,
    /// Whether the request spawns the thread, which then ends with the request.
    pub begins: bool,
}

/// Mark of our format, after the byte order. Other ORBs use context 30 for their own formats.
pub(super) const MARK: [u8; 3] = *b"PDT";
pub(super) const MAJOR: u8 = 1;
const MINOR: u8 = 0;
/// Size of the header: byte order, mark, versions, flags, one reserved octet, id.
const HEADER_SIZE: usize = 24;
const HAS_PARAMETERS: u8 = 1;
const HAS_IMPLICIT: u8 = 2;
const BEGINS: u8 = 4;

impl SchedulingContext {
    /// Encodes the context for a request that is sent now.
    pub fn encode(&self, clocks: &Clocks, endian: Endian) -> ContextOctets {
        let mut octets = ContextOctets::new(endian);
        let flags = (u8::from(self.parameters.is_some()) * HAS_PARAMETERS)
            | (u8::from(self.implicit.is_some()) * HAS_IMPLICIT)
            | (u8::from(self.begins) * BEGINS);
        octets.octets(&[endian.flag()]);
        octets.octets(&MARK);
        octets.octets(&[MAJOR, MINOR, flags, 0]);
        octets.octets(&self.id.to_octets());
        for parameters in [&self.parameters, &self.implicit].into_iter().flatten() {
            parameters.encode(clocks, &mut octets);
        }
        octets
    }

    pub(super) fn decode(data: &[u8], clocks: &Clocks, max_clock_skew: Duration) -> Result<Self, CdrError> {
        let mut decoder = Decoder::new(data, Endian::from_flag(data[0])).at(MARK.len() + 3);
        let flags = u8::decode(&mut decoder)?;
        decoder.octets(1)?;
        let id = read_id(&mut decoder)?;
        debug_assert_eq!(decoder.position(), HEADER_SIZE);
        let mut block = |flag| {
            let present = flags & flag != 0;
            let decode = || CarriedParameters::decode(&mut decoder, clocks, max_clock_skew);
            present.then(decode).transpose()
        };
        Ok(Self {
            id,
            parameters: block(HAS_PARAMETERS)?,
            implicit: block(HAS_IMPLICIT)?,
            begins: flags & BEGINS != 0,
        })
    }
}

fn read_id(decoder: &mut Decoder<'_>) -> Result<DistributableThreadId, CdrError> {
    let mut id = [0; DistributableThreadId::SIZE];
    id.copy_from_slice(decoder.octets(DistributableThreadId::SIZE)?);
    match DistributableThreadId::from_octets(id) {
        DistributableThreadId(0) => Err(decoder.error(CdrErrorKind::EnumOutOfRange)),
        id => Ok(id),
    }
}
