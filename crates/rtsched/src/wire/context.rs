use core::time::Duration;

use punctual_cdr::{CdrError, CdrErrorKind, Decode, Decoder, Endian};
use punctual_types::DistributableThreadId;

use super::{CarriedParameters, Clocks, ContextOctets, PeerLayout};

/// What a request says of the distributable thread that makes it: the data of service context 30.
///
/// The [module](super) has an example.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SchedulingContext {
    /// Which thread. Zero stands for no thread and cannot be read.
    pub id: DistributableThreadId,
    /// By what it is scheduled. `None`: by whatever the receiver has for those who do not say.
    pub parameters: Option<CarriedParameters>,
    /// By what the threads are scheduled that it spawns without saying so.
    pub implicit: Option<CarriedParameters>,
    /// Whether the thread begins with the request, and so ends with it: the request spawns it.
    pub begins: bool,
}

/// Behind the byte order: whose encapsulation it is. Other ORBs use context 30 for formats of their own.
const MARK: [u8; 3] = *b"PDT";
const MAJOR: u8 = 1;
const MINOR: u8 = 0;
/// Of the header: byte order, mark, versions, flags, one octet reserved, id.
const HEADER_SIZE: usize = 24;
const HAS_PARAMETERS: u8 = 1;
const HAS_IMPLICIT: u8 = 2;
const BEGINS: u8 = 4;

impl SchedulingContext {
    /// The octets for a request that is sent now.
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

    fn decode(data: &[u8], reader: &Reader) -> Result<Self, CdrError> {
        let mut decoder = Decoder::new(data, Endian::from_flag(data[0])).at(MARK.len() + 3);
        let flags = u8::decode(&mut decoder)?;
        decoder.octets(1)?;
        let id = read_id(&mut decoder)?;
        debug_assert_eq!(decoder.position(), HEADER_SIZE);
        let mut block = |flag| {
            let present = flags & flag != 0;
            let decode = || CarriedParameters::decode(&mut decoder, &reader.clocks, reader.max_clock_skew);
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

/// What a received context is read with.
///
/// ```
/// use std::time::Duration;
///
/// use punctual_rtsched::wire::{Clocks, PeerLayout, Reader, Reading, UtcTime};
/// use punctual_sched::dynamic::Time;
///
/// let clocks = Clocks { local: Time(0), utc: UtcTime(0) };
/// let reader = Reader {
///     max_clock_skew: Duration::from_millis(1),
///     ..Reader::new(clocks, PeerLayout::FixedPriority)
/// };
/// // Of a TAO with 64 bits.
/// assert!(matches!(reader.read(&[4, 0, 0, 0, 0, 0, 0, 0])?, Reading::Context(_)));
/// assert_eq!(reader.read(&[4, 0, 0])?, Reading::Foreign);
/// # Ok::<(), punctual_cdr::CdrError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    /// Now.
    pub clocks: Clocks,
    /// How far the calendars of two hosts may be apart: no deadline comes nearer by more than this because they are.
    pub max_clock_skew: Duration,
    /// Which contexts of other ORBs are read as well.
    pub layout: PeerLayout,
    /// The byte order of the message, which the plain layouts of other ORBs follow.
    pub endian: Endian,
    /// A number for the peer, the same one each time: ids of other ORBs are unique only in the process that makes them.
    pub peer: u64,
}

impl Reader {
    /// How far calendars may be apart unless something else is said: 10 ms.
    pub const DEFAULT_MAX_CLOCK_SKEW: Duration = Duration::from_millis(10);

    /// One for messages in this machine's byte order, with the default skew and the peer's number zero.
    pub fn new(clocks: Clocks, layout: PeerLayout) -> Self {
        Self {
            clocks,
            max_clock_skew: Self::DEFAULT_MAX_CLOCK_SKEW,
            layout,
            endian: Endian::NATIVE,
            peer: 0,
        }
    }

    /// Reads the data of a service context 30.
    ///
    /// # Errors
    /// Where it is one of ours, or of the peer's layout, and is malformed: the request is to be refused, with
    /// [`CdrError::system_exception`].
    pub fn read(&self, data: &[u8]) -> Result<Reading, CdrError> {
        match data {
            [0 | 1, m1, m2, m3, major, ..] if [*m1, *m2, *m3] == MARK => match *major {
                MAJOR => SchedulingContext::decode(data, self).map(Reading::Context),
                major => Ok(Reading::UnknownMajor(major)),
            },
            // Too short to have a version.
            [0 | 1, rest @ ..] if rest == MARK => Err(CdrError {
                kind: CdrErrorKind::Truncated,
                offset: data.len(),
            }),
            _ => Ok(self
                .layout
                .read(data, self)?
                .map_or(Reading::Foreign, Reading::Context)),
        }
    }
}

/// What a service context 30 turned out to be. What is not a context is passed over, as contexts that nobody knows are: the request
/// is served outside of all distributable threads.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "on the stack, and mostly the large one")]
pub enum Reading {
    /// A thread.
    Context(SchedulingContext),
    /// One of ours, in a major version that is not known here.
    UnknownMajor(u8),
    /// None of ours, and not in the layout that the reader was given either.
    Foreign,
}
