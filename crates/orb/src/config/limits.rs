//! Limits of an ORB.

use std::time::Duration;

use punctual_cdr::Decoder;
use punctual_giop::connection::ConnectionLimits;
use punctual_lane::{AcceptLimits, LaneLimits, QueueLimits};

use crate::OrbError;

/// Declares the limits: each row (documentation, type, default) becomes a field and its setter.
macro_rules! limits {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $default:expr,)*) => {
        /// Limits of an ORB. Exceeding a limit is an error for the peer or caller concerned and affects
        /// nothing else. Each function sets one limit.
        ///
        /// ```
        /// # use punctual_orb as punctual;
        /// use punctual::{Limits, Orb};
        ///
        /// let limits = Limits::default().max_message_size(64 << 10).max_connections(16);
        /// let orb = Orb::builder().limits(limits).build()?;
        /// # Ok::<(), punctual_orb::OrbError>(())
        /// ```
        #[derive(Clone, Copy, Debug)]
        #[must_use]
        pub struct Limits {
            $(pub(crate) $name: $type,)*
        }

        impl Limits {
            $($(#[$doc])*
            pub const fn $name(mut self, $name: $type) -> Self {
                self.$name = $name;
                self
            })*
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }
    };
}

limits! {
    /// Octets of a sent or received message, reassembled from its fragments. Default 8 MiB.
    max_message_size: usize = 8 << 20,
    /// Octets of memory that the strings, sequences and references of one message may take when they are
    /// decoded, as owned values or in a lane's arena; what is lent from the message does not count. Twice the
    /// size of the message is always allowed. More is IMP_LIMIT for the caller. Default 64 MiB.
    max_decoded_size: usize = 64 << 20,
    /// Octets that a buffer, arena or result of a thread keeps from one message to the next. Larger ones are
    /// freed after the message, so that each larger message allocates anew. Default 1 MiB.
    max_kept_buffer: usize = 1 << 20,
    /// Octets of memory that a lane keeps for its connections: incomplete messages, replies that clients have
    /// not read, and buffers beyond the first 8 KiB of each connection. Above it, buffers without content are
    /// freed, then the connection that holds most is closed. Two messages of [`Self::max_message_size`] are
    /// always permitted. Default 64 MiB.
    max_lane_memory: usize = 64 << 20,
    /// Connections of clients to one lane. For a further one, the lane closes the connection that has been
    /// idle for longest (CloseConnection; its client connects again when it needs to); if none is idle, the
    /// new one is closed. Fewer if the limit of open files (`ulimit -n`) has no room for the connections of
    /// all lanes: each then has its share, which is reported once. Default 1024.
    max_connections: usize = 1024,
    /// Connections of one peer to one lane, handled in the same way. A peer is a host (an IPv6 network of 64
    /// bits), or a process of this host over a Unix socket or shared memory; processes of this host that use
    /// TCP cannot be distinguished and have no such limit. Default 256.
    max_connections_per_peer: usize = 256,
    /// Connections per second that a lane accepts from one such peer, after `max_connections_per_peer` at
    /// once; further ones are closed immediately. At least 1. Default 100.
    accept_rate_per_peer: u32 = 100,
    /// Connections that a lane accepts before it serves those that it has, at least 1. Default 1.
    accepts_per_wake_up: usize = 1,
    /// Processor time that a lane spends on accepting and closing connections, in percent of one processor,
    /// from 1 to 100, beyond 2 ms at once. Meanwhile, further peers wait in the kernel's queue. Default 2.
    accept_percent: u32 = 2,
    /// Processor time that a lane spends on messages for which no request is served, in percent of one
    /// processor, from 1 to 100, beyond 20 ms at once: refused requests, LocateRequests, CancelRequests, and
    /// parts of messages until their request is served. Meanwhile, the connections concerned wait for their
    /// turns. Default 5.
    unserved_percent: u32 = 5,
    /// Open connections of one calling thread that serves no lane, for all ORBs. Default 64.
    max_connections_per_thread: usize = 64,
    /// Open connections to servers of the threads of one lane, or of all threads that serve no lane. Default
    /// 1024. At the limit, the connection that has been idle for longest is closed: among those that threads
    /// of the lane have opened or ended threads have left, else among the calling thread's own. If none is
    /// idle, calls that need a connection fail with IMP_LIMIT.
    max_client_connections: usize = 1024,
    /// Outstanding calls over one shared connection, asynchronous ones included; further ones fail with
    /// IMP_LIMIT. At most 65,536. Default 64. See [`crate::ConnectionMode::Shared`].
    max_shared_calls: usize = 64,
    /// Response handlers of the requests of one lane that exist at a time: requests whose servants answer
    /// later. Further requests for operations that are compiled as deferred are refused with TRANSIENT before
    /// the servant is called; 0 refuses all. Default 256.
    max_deferred_replies: usize = 256,
    /// Incomplete fragmented messages on one connection, received or being sent. Default 4.
    max_fragmented_messages: usize = 4,
    /// Size in octets above which a reply, or a request over a shared connection, is sent in fragments of
    /// this size, between which other messages pass: a long message of low priority delays a short one by one
    /// fragment at most. Rounded down to a multiple of 8, at least 256. Applies to GIOP 1.2 only (an encoded
    /// message of 1.1 cannot be divided), and the peers have to accept interleaved fragments; a long message
    /// may arrive after shorter ones that were sent after it. A thread copies each request that it divides.
    /// Default `None`: nothing is divided.
    fragment_size: Option<usize> = None,
    /// Requests of one connection that may be refused in excess of those that are served; at the next one,
    /// the lane closes the connection. Each served request restores one, and each second a thirtieth of the
    /// limit. A peer whose requests no adapter admits at the lane's priority loses its connection with the
    /// first refusal. Requests count as refused if they are for unknown objects or for priorities that are
    /// not accepted, or if servants or interceptors answer them with NO_PERMISSION, COMPLETED_NO. Default 64.
    max_refused_requests: u32 = 64,
    /// LocateRequests, CancelRequests and requests of one connection that reach no servant, in excess of
    /// served requests, restored in the same way; at the next one, the lane closes the connection. Such
    /// requests are forwarded, end in an interceptor, had expired when they arrived, are for adapters that
    /// discard them, or arrive while the server starts ([`Self::startup`]). Default 256.
    max_unserved_messages: u32 = 256,
    /// Maximum time from the first octet of a message to its last. A client that does not read a reply within
    /// this time is disconnected, as is a server that accepts none of the octets that wait for it on a shared
    /// connection; other replies are limited by the deadline of their call. Default 30 s.
    message_completion: Duration = Duration::from_secs(30),
    /// Time after which a lane closes a connection without traffic and outstanding calls (CloseConnection);
    /// it may take up to twice this time. Connections dedicated to a thread of a lane with
    /// [`crate::LaneWait::Blocking`] are kept. `None`: unlimited. Default 5 minutes: longer than the periods
    /// of control loops, so that their connections stay, and short enough for peers that have vanished
    /// silently.
    connection_idle: Option<Duration> = Some(Duration::from_secs(300)),
    /// Nesting depth of values of recursive types, in an `any` as elsewhere; type codes have 64 levels at
    /// most. Default 64, at most 512 ([`crate::OrbError::NestingLimit`]). Each level above 64 takes up to
    /// 4 KiB of stack: the activation of a servant checks that the threads of its pool have it
    /// ([`crate::OrbError::StackTooSmall`]); threads that call `Orb::run`, or receive such results, must have
    /// it as well: 2 MiB are enough for 512 levels.
    max_nesting: u16 = 64,
    /// Octets of an object key that contains a name: the id of an object with its adapter's path, or the name
    /// of [`crate::Orb::publish`]. Requests with longer keys find no object. Default 4,096.
    max_object_key: usize = 4096,
    /// Endpoints, and priority bands, that one reference may name, over all its profiles. Default 256. A
    /// reference with more cannot be used: IMP_LIMIT.
    max_endpoints: usize = 256,
    /// Forwards of one call. Default 8.
    max_forwards: usize = 8,
    /// Nested calls of one thread: a servant that calls an object that calls an object. Default 32.
    max_nested_calls: usize = 32,
    /// Timeout for opening a connection, over all addresses of a host. Default 5 s.
    connect_timeout: Duration = Duration::from_secs(5),
    /// Longest time for which [`crate::Orb::resolve`] waits for the server of a URL, regardless of the
    /// timeouts of calls: the server does not answer before one of its threads has called
    /// [`crate::Orb::run`]. Default 10 s.
    resolve_timeout: Duration = Duration::from_secs(10),
    /// Longest time from the start of the ORB in which requests for objects of persistent adapters that are
    /// not active are answered with TRANSIENT ([`Minor::SERVER_STARTING`](punctual_types::Minor)) instead of
    /// OBJECT_NOT_EXIST, because the server may not have activated them yet; [`crate::Orb::run`] ends it.
    /// `Duration::ZERO`: never. Default 30 s.
    startup: Duration = Duration::from_secs(30),
    /// Longest time for which [`crate::Poa::deactivate`] waits for the requests that the object is executing.
    /// Default 30 s.
    deactivation: Duration = Duration::from_secs(30),
    /// Requests that each lane of a pool keeps for objects whose last incarnation has not ended yet: a
    /// servant activator incarnates an object anew only after [`crate::ServantActivator::etherealize`].
    /// Further ones are refused with TRANSIENT. The memory is allocated when such an adapter is created.
    /// At least 1, of 4 KiB each on average. Default 16.
    held_while_ending: usize = 16,
}

impl Limits {
    /// Fails if a limit is impossible.
    pub(crate) fn check(&self) -> Result<(), OrbError> {
        match self.max_nesting {
            ..=Decoder::MAX_NESTING_LIMIT => Ok(()),
            max_nesting => Err(OrbError::NestingLimit(max_nesting)),
        }
    }

    /// Returns the limits that each lane enforces.
    pub(crate) fn of_lane(&self, accepts_bidirectional: bool) -> LaneLimits {
        LaneLimits {
            max_message_size: self.max_message_size,
            max_kept_buffer: self.max_kept_buffer,
            max_memory: self.max_lane_memory,
            accepting: AcceptLimits {
                connections: self.max_connections,
                per_peer: self.max_connections_per_peer,
                rate_per_peer: self.accept_rate_per_peer,
                per_wake_up: self.accepts_per_wake_up,
                percent: self.accept_percent,
            },
            unserved_percent: self.unserved_percent,
            max_fragmented_messages: self.max_fragmented_messages,
            fragment_size: self.fragment_size,
            accepts_bidirectional,
            max_shared_calls: self.max_shared_calls,
            max_refused_requests: self.max_refused_requests,
            max_unserved_messages: self.max_unserved_messages,
            message_completion: self.message_completion,
            connection_idle: self.connection_idle,
        }
    }

    /// Returns the limits of an exclusive connection to a server, whose time is limited by the deadlines of
    /// calls.
    pub(crate) fn of_client_connection(&self) -> ConnectionLimits {
        ConnectionLimits {
            max_message_size: self.max_message_size,
            max_fragmented_messages: self.max_fragmented_messages,
            message_completion: None,
        }
    }
}

/// Returns the same limits if a queue with them can hold a request.
pub(crate) fn checked_queue_limits(limits: QueueLimits) -> Result<QueueLimits, OrbError> {
    if limits.requests == 0 || limits.octets == 0 {
        return Err(OrbError::QueueWithoutRoom);
    }
    Ok(limits)
}

/// Treatment of a request whose priority is above the highest accepted one.
///
/// ```
/// # mod punctual { pub use {punctual_orb::*, punctual_types::*}; }
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual::{OnExcess, Orb, Priority, PriorityModel, SystemExceptionKind};
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
    /// The request is refused with NO_PERMISSION.
    #[default]
    Refuse,
    /// The request runs at the highest accepted priority. On a lane of a higher priority it is refused
    /// nevertheless, since lanes keep their priority.
    Clamp,
}
