//! The interface of an endsystem's control.

use std::time::Duration;

use punctual_stub::rt::{
    CdrError, CdrErrorKind, Decode, Decoder, Encode, Encoder, Interface, ObjectRef, Phase, Skeleton,
    SystemException, Upcall,
};
use punctual_transport::Peer;
use punctual_types::DistributableThreadId;

/// Reference to the control of another endsystem: the target of `corbaloc:…/RTScheduling`.
///
/// Hand-written equivalent of the code generated from this IDL:
///
/// ```idl
/// module PunctualScheduling {
///     typedef octet ThreadId[16];
///     enum Place { AT_HEAD, MOVING, OUT_OF_REACH };
///     struct Whereabouts { Place place; octet hosts; boolean cancelled; };
///
///     interface ThreadControl {
///         // `hosts`: how many further hosts may be queried; `nanoseconds`: remaining time for all.
///         Whereabouts find  (in ThreadId id, in octet hosts, in unsigned long long nanoseconds);
///         Whereabouts cancel(in ThreadId id, in octet hosts, in unsigned long long nanoseconds);
///     };
/// };
/// ```
///
/// ```
/// # mod punctual {
/// #     pub use {punctual_orb::*, punctual_types::*};
/// #     pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_types::DistributableThreadId}; }
/// # }
/// use punctual::{Orb, SystemExceptionKind};
/// use punctual::rtscheduling::{DistributableThreadId, RtScheduling};
/// use punctual::rtscheduling::remote::{RemoteThread, ThreadControlRef, ThreadControlSpec};
/// use std::time::Duration;
///
/// let server = Orb::builder().listen("iiop://127.0.0.1").build()?;
/// let control = RtScheduling::builder().build()?.open_control(&server, ThreadControlSpec::default())?;
/// let client = Orb::builder().build()?;
/// let found = std::thread::scope(|scope| {
///     scope.spawn(|| server.run());
///     let control = client.resolve::<ThreadControlRef>(control.url());
///     server.shutdown();
///     let id = DistributableThreadId(7);
///     control.map(|control| RemoteThread::find(id, &[control], Duration::from_secs(1)))
/// });
/// assert!(found?.is_err(), "there is no such thread");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadControlRef(ObjectRef);

/// Location of a distributable thread.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
/// use std::time::Duration;
///
/// use punctual::rtscheduling::{RtScheduling, SchedulingParameters, remote::Place};
///
/// let scheduling = RtScheduling::builder().build()?;
/// let current = scheduling.current();
/// current.begin_scheduling_segment("track", SchedulingParameters::Importance { importance: 1 }, None)?;
/// let found = current.distributable_thread()?.whereabouts(Duration::from_secs(1))?;
/// assert_eq!((found.place, found.hosts, found.cancelled), (Place::AtHead, 0, false));
/// # current.end_scheduling_segment("track")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Whereabouts {
    /// Result of the search.
    pub place: Place,
    /// Number of further hosts: 0 is the one that was queried first.
    pub hosts: u8,
    /// Whether the thread is cancelled at the last host that the search reached.
    pub cancelled: bool,
}

/// How far a search along the calls of a distributable thread got.
///
/// ```
/// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
/// use punctual::rtscheduling::remote::Place;
///
/// fn what_to_do(place: Place) -> &'static str {
///     match place {
///         Place::AtHead => "wait for its end",
///         Place::Moving => "ask again",
///         Place::OutOfReach => "wait for its call to return",
///     }
/// }
/// assert_eq!(what_to_do(Place::Moving), "ask again");
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Place {
    /// The search reached the host where its head is.
    AtHead,
    /// A call has been sent, and the called host does not know the thread, not yet or no longer. Query again.
    Moving,
    /// The called host offers no control, does not respond, or refuses; or too many hosts are on the way.
    OutOfReach,
}

/// A query to a control.
#[derive(Clone, Copy, Debug)]
pub(super) struct Query {
    pub(super) id: DistributableThreadId,
    /// Whether hosts on the way cancel the thread.
    pub(super) cancels: bool,
    pub(super) hosts: u8,
    pub(super) timeout: Duration,
}

const FIND: &str = "find";
const CANCEL: &str = "cancel";

impl ThreadControlRef {
    /// Queries the endsystem. Returns after [`Query::timeout`] at the latest.
    pub(super) fn query(&self, query: &Query) -> Result<Whereabouts, SystemException> {
        // The call fails unless it decodes a result.
        let mut result = Whereabouts {
            place: Place::OutOfReach,
            hosts: 0,
            cancelled: false,
        };
        let operation = if query.cancels { CANCEL } else { FIND };
        let bounded = self.0.with_timeout(query.timeout);
        bounded.call::<SystemException>(operation, |phase| match phase {
            Phase::Arguments(encoder) => {
                let nanoseconds = u64::try_from(query.timeout.as_nanos()).unwrap_or(u64::MAX);
                (query.id.to_octets(), query.hosts, nanoseconds).encode(encoder)
            }
            Phase::Results(decoder) => {
                result = Whereabouts::decode(decoder)?;
                Ok(())
            }
        })?;
        Ok(result)
    }
}

impl Interface for ThreadControlRef {
    const REPOSITORY_ID: &'static str = "IDL:PunctualScheduling/ThreadControl:1.0";
    const SUPPORTED_IDS: &'static [&'static str] = &[Self::REPOSITORY_ID];

    fn from_object(object: ObjectRef) -> Self {
        Self(object)
    }

    fn as_object(&self) -> &ObjectRef {
        &self.0
    }
}

/// Servant of the control.
pub(super) trait Control: Send + Sync {
    /// Carries out a query. `peer`: `None` for a caller in this ORB.
    fn query(&self, peer: Option<Peer>, query: &Query) -> Result<Whereabouts, SystemException>;
}

impl<S: Control> Skeleton<S> for ThreadControlRef {
    fn dispatch(servant: &S, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
        let cancels = match upcall.operation() {
            FIND => false,
            CANCEL => true,
            _ => return Err(upcall.unknown_operation()),
        };
        let id: [u8; DistributableThreadId::SIZE] = upcall.argument()?;
        let query = Query {
            id: DistributableThreadId::from_octets(id),
            cancels,
            hosts: upcall.argument()?,
            timeout: Duration::from_nanos(upcall.argument()?),
        };
        let found = servant.query(upcall.peer(), &query)?;
        upcall.reply(|reply| found.encode(reply))
    }
}

impl Encode for Whereabouts {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        let place = match self.place {
            Place::AtHead => 0_u32,
            Place::Moving => 1,
            Place::OutOfReach => 2,
        };
        (place, self.hosts, self.cancelled).encode(encoder)
    }
}

impl<'a> Decode<'a> for Whereabouts {
    const MIN_SIZE: usize = 6;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let place = match u32::decode(decoder)? {
            0 => Place::AtHead,
            1 => Place::Moving,
            2 => Place::OutOfReach,
            _ => return Err(decoder.error(CdrErrorKind::EnumOutOfRange)),
        };
        Ok(Self {
            place,
            hosts: u8::decode(decoder)?,
            cancelled: bool::decode(decoder)?,
        })
    }
}
