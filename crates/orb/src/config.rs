use std::time::Duration;

use punctual_giop::connection::ConnectionLimits;
use punctual_lane::{LaneLimits, QueueLimits};

use crate::OrbError;

/// Every limit of an ORB. What exceeds one is an error to the peer or caller concerned, and nothing else changes.
///
/// ```
/// use punctual_orb::{Limits, Orb};
///
/// let mut limits = Limits::default();
/// assert_eq!(limits.max_message_size, 8 << 20);
/// limits.max_message_size = 64 << 10;
/// limits.max_connections = 16;
/// let orb = Orb::builder().limits(limits).build()?;
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Octets of one message, fragments put together; sent or received. Default 8 MiB.
    pub max_message_size: usize,
    /// Connections of clients to one lane; a further one is closed at once. Default 1024.
    pub max_connections: usize,
    /// Connections one calling thread that serves no lane keeps open, over all ORBs. Default 64.
    pub max_connections_per_thread: usize,
    /// Connections that the threads of one lane, or all threads that serve none, have open to servers at a time. Default 1024.
    ///
    /// Past it the one that was unused for longest is closed: of those that threads of the lane have opened or ended threads
    /// have left, else of the calling thread's own. Where none is unused, calls that need another fail with IMP_LIMIT.
    pub max_client_connections: usize,
    /// Calls that are outstanding at a time over one connection that threads share, asynchronous ones included; a further one fails with IMP_LIMIT. At most
    /// 65,536. Default 64. See [`crate::ConnectionMode::Shared`].
    pub max_shared_calls: usize,
    /// Fragmented messages under way on one connection. Default 4.
    pub max_fragmented_messages: usize,
    /// How long a peer may take from the first octet of a message to its last, and a server to take on what waits for it over a
    /// connection that threads share; other replies have the deadline of their call. Default 30 s.
    pub message_completion: Duration,
    /// How long a lane keeps a connection over which nothing comes and no call is outstanding; it is then closed in good order (CloseConnection), at most
    /// as long again later. Connections that a thread of a lane with [`crate::LaneWait::Blocking`] has for itself are kept.
    /// Default: `None`, for ever.
    pub connection_idle: Option<Duration>,
    /// Levels of nested values of recursive types. Default 64.
    pub max_nesting: u16,
    /// Forwards of one call from place to place. Default 8.
    pub max_forwards: usize,
    /// Calls that one thread makes inside each other: a servant that calls an object that calls an object. Default 32.
    pub max_nested_calls: usize,
    /// How long making a connection may take, over all addresses of a host. Default 5 s.
    pub connect_timeout: Duration,
}

impl Limits {
    /// Limits that each lane enforces.
    pub(crate) fn of_lane(&self) -> LaneLimits {
        LaneLimits {
            max_message_size: self.max_message_size,
            max_connections: self.max_connections,
            max_fragmented_messages: self.max_fragmented_messages,
            max_shared_calls: self.max_shared_calls,
            message_completion: self.message_completion,
            connection_idle: self.connection_idle,
        }
    }

    /// Limits of an exclusive connection to a server. The deadlines of calls limit its time.
    pub(crate) fn of_client_connection(&self) -> ConnectionLimits {
        ConnectionLimits {
            max_message_size: self.max_message_size,
            max_fragmented_messages: self.max_fragmented_messages,
            message_completion: None,
        }
    }
}

/// The same limits if a queue with them can hold a request.
pub(crate) fn checked_queue_limits(limits: QueueLimits) -> Result<QueueLimits, OrbError> {
    if limits.requests == 0 || limits.octets == 0 {
        return Err(OrbError::QueueWithoutRoom);
    }
    Ok(limits)
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_message_size: 8 << 20,
            max_connections: 1024,
            max_connections_per_thread: 64,
            max_client_connections: 1024,
            max_shared_calls: 64,
            max_fragmented_messages: 4,
            message_completion: Duration::from_secs(30),
            connection_idle: None,
            max_nesting: 64,
            max_forwards: 8,
            max_nested_calls: 32,
            connect_timeout: Duration::from_secs(5),
        }
    }
}

/// What happens to a request whose priority is above the highest one accepted.
///
/// ```
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual_orb::{OnExcess, Orb, PriorityModel};
/// use punctual_types::{Priority, SystemExceptionKind};
///
/// let server = Orb::builder().build()?;
/// let client = Orb::builder().build()?;
/// client.current().set_priority(Priority::MAX)?;
/// for action in [OnExcess::Refuse, OnExcess::Clamp] {
///     let pool = server.threadpool().build()?;
///     let poa = server
///         .root_poa()
///         .child(&format!("{action:?}"))
///         .threadpool(&pool)
///         .priority_model(PriorityModel::ClientPropagated { default: Priority::MIN })
///         .highest_priority(Priority::new(100)?)
///         .on_excess(action)
///         .build()?;
///     let doubler: DoublerRef = poa.activate(Doubler)?;
/// # use punctual_stub::Interface;
///     let doubler: DoublerRef = client.resolve(&doubler.as_object().to_ior())?;
///     match action {
///         OnExcess::Clamp => assert_eq!(doubler.twice(3)?, 6),
///         OnExcess::Refuse => {
///             assert_eq!(doubler.twice(3).unwrap_err().kind, SystemExceptionKind::NoPermission);
///         }
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum OnExcess {
    /// NO_PERMISSION.
    #[default]
    Refuse,
    /// It runs at the highest one accepted. On a lane above that, which keeps its priority, it is refused all the same.
    Clamp,
}
