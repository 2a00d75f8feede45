//! Errors of channels, and their form on the wire.

use punctual::{Completion, OrbError, SystemException, SystemExceptionKind, any::AnyError};
use punctual_dispatch::DispatchError;

use crate::FilterError;

/// An operation of a channel that failed.
#[derive(thiserror::Error)]
pub enum EventError {
    /// The filter of a subscription cannot be used.
    #[error("subscription refused: {0}")]
    Filter(#[from] FilterError),
    /// The channel has too many consumers, including former ones whose callbacks have not returned, or for
    /// which a command still waits.
    #[error(
        "the channel has {0} consumers, its limit, including disconnected ones still in use by a thread; disconnect \
         some, or raise `ChannelLimits::consumers`"
    )]
    TooManyConsumers(usize),
    /// The filters of the channel have too many elements.
    #[error(
        "the filters of the channel would have more than {0} elements, its limit; disconnect consumers, or \
         raise `FilterLimits::all_elements`"
    )]
    TooManyElements(usize),
    /// The filters of the channel have too many timeouts.
    #[error(
        "the filters of the channel would have more than {0} timeouts, its limit; disconnect consumers, or \
         raise `FilterLimits::all_timers`"
    )]
    TooManyTimeouts(usize),
    /// The channel keeps events for too many gateways.
    #[error("the channel has {0} gateways, its limit; close some, or raise `GatewayLimits::number`")]
    TooManyGateways(usize),
    /// A queue is longer than the channel permits.
    #[error("a queue of {requested} events is outside 1 to {limit}, `ChannelLimits::queue`")]
    Queue {
        /// Number of events.
        requested: usize,
        /// Limit of the channel.
        limit: usize,
    },
    /// The ORB's mapping has no native priority for a lane or a consumer with a thread of its own.
    #[error("priority {} has no native priority under the ORB's mapping; choose another one", .0.value())]
    Unmappable(punctual::Priority),
    /// Two lanes have the same priority.
    #[error(
        "two lanes of the channel have priority {}; give one lane the threads of both, or choose \
         another priority",
        .0.value()
    )]
    DuplicateLane(punctual::Priority),
    /// A level of a schedule has the lowest priority, so no lane below it can serve consumers outside the
    /// schedule.
    #[error(
        "the schedule has a lane of priority 0, and consumers that are not in it need one below its lanes; \
         give its first level a priority of at least the number of its levels"
    )]
    NoLaneBelow,
    /// A lane has a shedding policy with checkpoints or retries, which do not apply to events.
    #[error(
        "the shedding policy of the lane of priority {} uses checkpoints or retries, which event callbacks do \
         not support; use `SheddingPolicy::before_dispatch`",
        .0.value()
    )]
    Shedding(punctual::Priority),
    /// The adapter for objects of the event service expects ids from users.
    #[error(
        "the event service creates objects without stating their ids, and this adapter has `user_ids`; choose \
         one without `persistent` and `user_ids` (a channel published with `Orb::publish` has the same URL \
         after a restart nevertheless)"
    )]
    UserIds,
    /// The channel has no lanes.
    #[error("the channel has no lanes to reconfigure; build it with `Dispatching::Lanes`")]
    WithoutLanes,
    /// The channel has been destroyed.
    #[error("the channel has been destroyed")]
    Destroyed,
    /// The threads that deliver events could not be started.
    #[error("invalid threads of the channel: {0}")]
    Dispatch(#[from] DispatchError),
    /// A thread could not be started.
    #[error("a thread of the channel could not be started: {0}")]
    Timer(#[source] std::io::Error),
    /// A socket for datagrams cannot be used.
    #[error("the datagram gateway failed: {0}")]
    Socket(#[source] std::io::Error),
    /// A supplier announces an event type that is reserved for the service.
    #[error("event type {} is reserved; choose one from {} on", .0.0, crate::RESERVED_TYPES)]
    ReservedType(crate::EventType),
    /// A value could not be encoded, or an event does not contain one of the expected type.
    #[error("cannot encode or decode the content of an event: {0}")]
    Content(#[from] AnyError),
    /// The ORB refused an object.
    #[error(transparent)]
    Orb(OrbError),
    /// A call to a channel or from it failed.
    #[error(transparent)]
    Call(#[from] SystemException),
    /// The adapter of a consumer of another process has lanes, but no lane of the priority at which the
    /// channel calls the consumer.
    #[error(
        "the channel would call this consumer at priority {}, but no lane of its adapter has this priority; \
         give its thread pool such a lane, or call `orb.current().set_priority` with that of one of its \
         lanes before `subscribe`, which has an effect only if the channel is served on an adapter that \
         propagates priorities: on `root_poa()` all consumers have the same priority",
        .0.value()
    )]
    ConsumerWithoutLane(punctual::Priority),
    /// No thread serves the adapter of a consumer of another process.
    #[error(
        "no thread serves the adapter of this consumer, so it receives nothing; call `orb.run()` on a thread \
         of its process, or give the adapter a thread pool"
    )]
    ConsumerUnserved,
    /// A channel refused a subscription or publication.
    #[error("the channel refused: {0}")]
    Refused(String),
}

punctual_types::debug_as_display!(EventError);

impl From<OrbError> for EventError {
    fn from(error: OrbError) -> Self {
        match error {
            // Objects of the event service state no ids.
            OrbError::WrongPolicy(_) => Self::UserIds,
            error => Self::Orb(error),
        }
    }
}

/// The exception of an operation that exceeded a limit of the channel.
pub(crate) fn limit_exceeded() -> SystemException {
    SystemException::new(SystemExceptionKind::ImpLimit, 0, Completion::No)
}

/// The exception of an operation on a channel or proxy that no longer exists.
pub(crate) fn gone() -> SystemException {
    SystemException::new(SystemExceptionKind::ObjectNotExist, 0, Completion::No)
}
