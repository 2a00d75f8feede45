use core::fmt;

/// The vendor minor code set id of the OMG's own minor codes.
pub const OMG_VMCID: u32 = 0x4f4d_0000;
/// The vendor minor code set id of TAO.
pub const TAO_VMCID: u32 = 0x5441_0000;
/// The vendor minor code set id of Punctual (`PU`; not registered with the OMG).
pub const PUNCTUAL_VMCID: u32 = 0x5055_4000;

/// The minor code of a system exception: a vendor in the upper 20 bits, a number in the lower 12.
///
/// ```
/// use punctual_types::Minor;
///
/// let minor = Minor::from(0x4f4d_0004);
/// assert_eq!(minor, Minor::OMG_ORB_SHUT_DOWN);
/// assert_eq!(minor.to_string(), "OMG 4");
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Minor(pub u32);

impl Minor {
    /// No detail.
    pub const NONE: Self = Self(0);
    /// OMG: the priority cannot be mapped to a native one (DATA_CONVERSION); 1 is a character without a code point.
    pub const OMG_PRIORITY_UNMAPPABLE: Self = Self(OMG_VMCID | 2);
    /// OMG: the object adapter could not be found or made (OBJECT_NOT_EXIST).
    pub const OMG_ADAPTER_UNKNOWN: Self = Self(OMG_VMCID | 2);
    /// OMG: the operation would deadlock (BAD_INV_ORDER), such as waiting for a shutdown inside an upcall.
    pub const OMG_WOULD_DEADLOCK: Self = Self(OMG_VMCID | 3);
    /// OMG: the ORB has shut down (BAD_INV_ORDER).
    pub const OMG_ORB_SHUT_DOWN: Self = Self(OMG_VMCID | 4);
    /// OMG: the operation of a portable interceptor's request info is not valid at this point (BAD_INV_ORDER).
    pub const OMG_INVALID_PI_CALL: Self = Self(OMG_VMCID | 14);
    /// OMG: the message has a service context with this id already (BAD_INV_ORDER).
    pub const OMG_SERVICE_CONTEXT_EXISTS: Self = Self(OMG_VMCID | 15);
    /// Punctual: no object is known under this object key; get a fresh reference.
    pub const TARGET_KEY_UNKNOWN: Self = Self(PUNCTUAL_VMCID | 1);
    /// Punctual: the object has been deactivated.
    pub const OBJECT_DEACTIVATED: Self = Self(PUNCTUAL_VMCID | 2);
    /// Punctual: the object has no operation of this name; check that both sides were compiled from the same IDL.
    pub const OPERATION_UNKNOWN: Self = Self(PUNCTUAL_VMCID | 3);
    /// Punctual: the data ends before the value does; check that both sides were compiled from the same IDL.
    pub const MESSAGE_TRUNCATED: Self = Self(PUNCTUAL_VMCID | 4);
    /// Punctual: the message is larger than the limit; raise `max_message_size` on the side that refused it.
    pub const MESSAGE_TOO_LARGE: Self = Self(PUNCTUAL_VMCID | 5);
    /// Punctual: a length is greater than what follows it.
    pub const LENGTH_IMPOSSIBLE: Self = Self(PUNCTUAL_VMCID | 6);
    /// Punctual: a bounded string or sequence is longer than its bound.
    pub const BOUND_EXCEEDED: Self = Self(PUNCTUAL_VMCID | 7);
    /// Punctual: an enum value lies outside its enumerators.
    pub const ENUM_OUT_OF_RANGE: Self = Self(PUNCTUAL_VMCID | 8);
    /// Punctual: a boolean is neither 0 nor 1.
    pub const BOOLEAN_INVALID: Self = Self(PUNCTUAL_VMCID | 9);
    /// Punctual: a string is not terminated by a single NUL at its end.
    pub const STRING_UNTERMINATED: Self = Self(PUNCTUAL_VMCID | 10);
    /// Punctual: text is not valid in the code set that was negotiated for the connection.
    pub const TEXT_INVALID: Self = Self(PUNCTUAL_VMCID | 11);
    /// Punctual: a character does not exist in the code set that was negotiated for the connection.
    pub const TEXT_NOT_IN_CODE_SET: Self = Self(PUNCTUAL_VMCID | 12);
    /// Punctual: the discriminator of a union does not select the member that is set.
    pub const UNION_LABEL_MISMATCH: Self = Self(PUNCTUAL_VMCID | 13);
    /// Punctual: values are nested deeper than the limit; raise `max_nesting`.
    pub const NESTING_TOO_DEEP: Self = Self(PUNCTUAL_VMCID | 14);
    /// Punctual: the peer raised a user exception that the operation does not declare.
    pub const EXCEPTION_UNDECLARED: Self = Self(PUNCTUAL_VMCID | 15);
    /// Punctual: the servant panicked; the server's standard error has the message.
    pub const SERVANT_PANICKED: Self = Self(PUNCTUAL_VMCID | 16);
    /// Punctual: nobody listens at the address of the reference; is the server running?
    pub const CONNECT_REFUSED: Self = Self(PUNCTUAL_VMCID | 17);
    /// Punctual: the connection could not be made within the connect time-out.
    pub const CONNECT_TIMED_OUT: Self = Self(PUNCTUAL_VMCID | 18);
    /// Punctual: the host name of the reference cannot be resolved; check the published address of the server.
    pub const HOST_UNKNOWN: Self = Self(PUNCTUAL_VMCID | 19);
    /// Punctual: the peer closed the connection while the call was under way.
    pub const CONNECTION_LOST: Self = Self(PUNCTUAL_VMCID | 20);
    /// Punctual: the request could not be sent.
    pub const WRITE_FAILED: Self = Self(PUNCTUAL_VMCID | 21);
    /// Punctual: no reply came before the deadline of the call.
    pub const REPLY_TIMED_OUT: Self = Self(PUNCTUAL_VMCID | 22);
    /// Punctual: the reply is not a well-formed GIOP message.
    pub const REPLY_MALFORMED: Self = Self(PUNCTUAL_VMCID | 23);
    /// Punctual: the peer answered MessageError: it did not understand the request.
    pub const PEER_REJECTED_MESSAGE: Self = Self(PUNCTUAL_VMCID | 24);
    /// Punctual: no profile of the reference names a transport this ORB has.
    pub const NO_USABLE_PROFILE: Self = Self(PUNCTUAL_VMCID | 25);
    /// Punctual: the reference has no endpoint for the priority of this thread; set a priority that a lane of the server has.
    pub const NO_ENDPOINT_FOR_PRIORITY: Self = Self(PUNCTUAL_VMCID | 26);
    /// Punctual: the propagated priority is above the highest one the server accepts.
    pub const PRIORITY_ABOVE_ACCEPTED: Self = Self(PUNCTUAL_VMCID | 27);
    /// Punctual: the ORB has been shut down.
    pub const ORB_SHUT_DOWN: Self = Self(PUNCTUAL_VMCID | 28);
    /// Punctual: the location of the object was forwarded too many times.
    pub const TOO_MANY_FORWARDS: Self = Self(PUNCTUAL_VMCID | 29);
    /// Punctual: the limit of connections is reached; raise `max_connections`.
    pub const TOO_MANY_CONNECTIONS: Self = Self(PUNCTUAL_VMCID | 30);
    /// Punctual: too many fragmented messages are under way on one connection.
    pub const TOO_MANY_FRAGMENTED_MESSAGES: Self = Self(PUNCTUAL_VMCID | 31);
    /// Punctual: calls are nested deeper than the limit; raise `max_nested_calls`.
    pub const NESTING_OF_CALLS_TOO_DEEP: Self = Self(PUNCTUAL_VMCID | 32);
    /// Punctual: a thread could not be created with the stack, priority and affinity asked for.
    pub const THREAD_NOT_STARTED: Self = Self(PUNCTUAL_VMCID | 33);
    /// Punctual: an object with this id is already active.
    pub const ALREADY_ACTIVE: Self = Self(PUNCTUAL_VMCID | 34);
    /// Punctual: the reference is nil.
    pub const NIL_REFERENCE: Self = Self(PUNCTUAL_VMCID | 35);
    /// Punctual: the object does not support the interface it was narrowed to.
    pub const WRONG_INTERFACE: Self = Self(PUNCTUAL_VMCID | 36);
    /// Punctual: the text is no object reference; it starts with `IOR:` or `corbaloc:`.
    pub const REFERENCE_MALFORMED: Self = Self(PUNCTUAL_VMCID | 37);
    /// Punctual: the policies of the POA contradict each other.
    pub const POLICY_CONFLICT: Self = Self(PUNCTUAL_VMCID | 38);
    /// Punctual: the value cannot be represented on the wire.
    pub const VALUE_NOT_REPRESENTABLE: Self = Self(PUNCTUAL_VMCID | 39);
    /// Punctual: the call would wait for its own thread, the only one left of the lane that it serves (BAD_INV_ORDER).
    pub const DEADLOCK_DETECTED: Self = Self(PUNCTUAL_VMCID | 40);
    /// Punctual: the thread would wait for itself: it has the mutex, or one that the mutex's owner waits for (BAD_INV_ORDER).
    pub const MUTEX_DEADLOCK: Self = Self(PUNCTUAL_VMCID | 41);
    /// Punctual: the lane's queue of requests is full; call again later, or raise the server's `QueueLimits`.
    pub const REQUEST_QUEUE_FULL: Self = Self(PUNCTUAL_VMCID | 70);
    /// Punctual: the request is larger than the lane's whole queue; raise the server's `QueueLimits::octets`.
    pub const REQUEST_LARGER_THAN_QUEUE: Self = Self(PUNCTUAL_VMCID | 71);
    /// Punctual: the deadline of the call had passed before the server began to serve it.
    pub const REQUEST_EXPIRED: Self = Self(PUNCTUAL_VMCID | 72);
    /// Punctual: as many connections are open as are allowed and all are in use; raise `max_client_connections`.
    pub const CLIENT_CONNECTIONS_EXHAUSTED: Self = Self(PUNCTUAL_VMCID | 60);
    /// Punctual: the request could not be sent before the deadline of the call; nobody reads at the other end, or the network is slow.
    pub const REQUEST_TIMED_OUT: Self = Self(PUNCTUAL_VMCID | 61);
    /// Punctual: client and reference both have priority bands; take one of them away.
    pub const BANDS_ON_BOTH_SIDES: Self = Self(PUNCTUAL_VMCID | 62);
    /// Punctual: priority bands need a reference with a priority model; give the server's adapter one.
    pub const BANDS_WITHOUT_PRIORITY_MODEL: Self = Self(PUNCTUAL_VMCID | 63);
    /// Punctual: the lowest priority of a band is above its highest; swap them.
    pub const BAND_MALFORMED: Self = Self(PUNCTUAL_VMCID | 64);
    /// Punctual: the priority lies in none of the priority bands; set another priority on this thread, or add a band.
    pub const PRIORITY_OUTSIDE_BANDS: Self = Self(PUNCTUAL_VMCID | 65);
    /// Punctual: no lane of the server has a priority in the band; choose bands that hold at least one lane each.
    pub const NO_ENDPOINT_IN_BAND: Self = Self(PUNCTUAL_VMCID | 66);
    /// Punctual: client and reference both name protocols; take one of them away.
    pub const PROTOCOLS_ON_BOTH_SIDES: Self = Self(PUNCTUAL_VMCID | 67);
    /// Punctual: the reference has no profile of the protocols that the client allows.
    pub const NO_PROTOCOL_ALLOWED: Self = Self(PUNCTUAL_VMCID | 68);
    /// Punctual: the call shares a connection, and no thread pool reads the replies; name one with `Orb::set_reply_threadpool`.
    pub const NO_REPLY_THREADPOOL: Self = Self(PUNCTUAL_VMCID | 90);
    /// Punctual: the call shares a connection, and every lane of the pool for replies is below the caller's priority; add a lane.
    pub const NO_LANE_FOR_REPLY: Self = Self(PUNCTUAL_VMCID | 91);
    /// Punctual: the thread pool that was to read the reply has ended while the call was under way.
    pub const REPLY_THREADPOOL_ENDED: Self = Self(PUNCTUAL_VMCID | 92);
    /// Punctual: as many calls share the connection as may at a time; raise `max_shared_calls`.
    pub const SHARED_CALLS_EXHAUSTED: Self = Self(PUNCTUAL_VMCID | 93);
    /// Punctual: the server does not read, and what waits to be sent to it over the shared connection has reached its limit.
    pub const SHARED_CONNECTION_CONGESTED: Self = Self(PUNCTUAL_VMCID | 94);
    /// Punctual: connections are to be bound to bands, which asynchronous calls cannot; call without `binds_bands` (INV_POLICY).
    pub const BANDS_BOUND_ASYNCHRONOUSLY: Self = Self(PUNCTUAL_VMCID | 95);
    /// Punctual: the object is elsewhere, where the arguments of the asynchronous call would have to be written in another way; call
    /// again: the next call goes there at once (TRANSIENT).
    pub const MOVED_WHILE_ASYNCHRONOUS: Self = Self(PUNCTUAL_VMCID | 96);
    /// Punctual: the server's priority transform refused the priority.
    pub const PRIORITY_NOT_TRANSFORMED: Self = Self(PUNCTUAL_VMCID | 50);

    /// Punctual: a request that binds its connection to a band says no band: service context 11 is missing.
    pub const BAND_MISSING: Self = Self(PUNCTUAL_VMCID | 80);
    /// Punctual: the band is none of those that the object's adapter has; bind with one of those in its reference.
    pub const BAND_NOT_OFFERED: Self = Self(PUNCTUAL_VMCID | 81);
    /// Punctual: the connection is bound to another band already; open another connection for this one.
    pub const CONNECTION_BOUND_ALREADY: Self = Self(PUNCTUAL_VMCID | 82);
    /// Punctual: the priority lies outside the band that its connection is bound to; send it over another connection.
    pub const PRIORITY_OUTSIDE_BOUND_BAND: Self = Self(PUNCTUAL_VMCID | 83);
    /// Punctual: an interceptor panicked.
    pub const INTERCEPTOR_PANICKED: Self = Self(PUNCTUAL_VMCID | 110);
    /// Punctual: interceptors have added as many service contexts to one message as they may.
    pub const TOO_MANY_SERVICE_CONTEXTS: Self = Self(PUNCTUAL_VMCID | 111);

    /// Punctual: the calling thread carries no distributable thread; begin a scheduling segment first.
    pub const NO_DISTRIBUTABLE_THREAD: Self = Self(PUNCTUAL_VMCID | 120);
    /// Punctual: the innermost scheduling segment has another name; it is still open.
    pub const SEGMENT_NAME_WRONG: Self = Self(PUNCTUAL_VMCID | 121);
    /// Punctual: the innermost scheduling segment belongs to a scope or to a request, and ends with it.
    pub const SEGMENT_IS_SCOPED: Self = Self(PUNCTUAL_VMCID | 122);
    /// Punctual: no distributable thread of this id is known here: it has ended, or was never here.
    pub const DISTRIBUTABLE_THREAD_UNKNOWN: Self = Self(PUNCTUAL_VMCID | 123);
    /// Punctual: the distributable thread was cancelled.
    pub const DISTRIBUTABLE_THREAD_CANCELLED: Self = Self(PUNCTUAL_VMCID | 124);
    /// Punctual: the distributable thread is active at this host already: an earlier call of it that timed out still runs, or its context was forged.
    pub const DISTRIBUTABLE_THREAD_ACTIVE: Self = Self(PUNCTUAL_VMCID | 125);
    /// Punctual: the deadline of the operation passed, and the operation was cancelled; the distributable thread goes on.
    pub const OPERATION_CANCELLED: Self = Self(PUNCTUAL_VMCID | 126);
    /// Punctual: as many distributable threads are at this host as may be; raise `max_threads` of the scheduling's builder.
    pub const TOO_MANY_DISTRIBUTABLE_THREADS: Self = Self(PUNCTUAL_VMCID | 127);
    /// Punctual: the system made no thread for the distributable thread; look at its limits on threads and memory.
    pub const SPAWN_FAILED: Self = Self(PUNCTUAL_VMCID | 128);
    /// Punctual: the kernel does not admit the deadline: SCHED_DEADLINE wants a period and an execution time that fit beside those admitted, and a thread that no affinity binds.
    pub const DEADLINE_NOT_ADMITTED: Self = Self(PUNCTUAL_VMCID | 129);
    /// Punctual: the scheduling parameters are for another scheduler than the one of this endsystem.
    pub const SCHEDULING_DISCIPLINE_UNSUPPORTED: Self = Self(PUNCTUAL_VMCID | 131);
    /// Punctual: scheduling segments are nested deeper than the limit; raise `max_segments` of the scheduling's builder.
    pub const SEGMENTS_NESTED_TOO_DEEP: Self = Self(PUNCTUAL_VMCID | 130);

    /// Punctual: the control of distributable threads there does not answer this peer; allow it by its `CancellationPolicy`.
    pub const CONTROL_REFUSED: Self = Self(PUNCTUAL_VMCID | 140);

    /// What the code means and what to try next, for the codes of this ORB.
    ///
    /// ```
    /// # use punctual_types::Minor;
    /// assert_eq!(Minor::NIL_REFERENCE.text(), Some("the reference is nil"));
    /// assert_eq!(Minor(1).text(), None, "not one of ours");
    /// ```
    pub const fn text(self) -> Option<&'static str> {
        match self {
            Self::TARGET_KEY_UNKNOWN => {
                Some("no object is known under this object key; get a fresh reference")
            }
            Self::OBJECT_DEACTIVATED => Some("the object has been deactivated"),
            Self::OPERATION_UNKNOWN => Some(
                "the object has no operation of this name; check that both sides were compiled from the same IDL",
            ),
            Self::MESSAGE_TRUNCATED => Some(
                "the data ends before the value does; check that both sides were compiled from the same IDL",
            ),
            Self::MESSAGE_TOO_LARGE => Some(
                "the message is larger than the limit; raise `max_message_size` on the side that refused it",
            ),
            Self::LENGTH_IMPOSSIBLE => Some("a length is greater than what follows it"),
            Self::BOUND_EXCEEDED => Some("a bounded string or sequence is longer than its bound"),
            Self::ENUM_OUT_OF_RANGE => Some("an enum value lies outside its enumerators"),
            Self::BOOLEAN_INVALID => Some("a boolean is neither 0 nor 1"),
            Self::STRING_UNTERMINATED => Some("a string is not terminated by a single NUL at its end"),
            Self::TEXT_INVALID => {
                Some("text is not valid in the code set that was negotiated for the connection")
            }
            Self::TEXT_NOT_IN_CODE_SET => {
                Some("a character does not exist in the code set that was negotiated for the connection")
            }
            Self::UNION_LABEL_MISMATCH => {
                Some("the discriminator of a union does not select the member that is set")
            }
            Self::NESTING_TOO_DEEP => Some("values are nested deeper than the limit; raise `max_nesting`"),
            Self::EXCEPTION_UNDECLARED => {
                Some("the peer raised a user exception that the operation does not declare")
            }
            Self::SERVANT_PANICKED => {
                Some("the servant panicked; the server's standard error has the message")
            }
            Self::CONNECT_REFUSED => {
                Some("nobody listens at the address of the reference; is the server running?")
            }
            Self::CONNECT_TIMED_OUT => Some("the connection could not be made within the connect time-out"),
            Self::HOST_UNKNOWN => Some(
                "the host name of the reference cannot be resolved; check the published address of the server",
            ),
            Self::CONNECTION_LOST => Some("the peer closed the connection while the call was under way"),
            Self::WRITE_FAILED => Some("the request could not be sent"),
            Self::REPLY_TIMED_OUT => Some("no reply came before the deadline of the call"),
            Self::REPLY_MALFORMED => Some("the reply is not a well-formed GIOP message"),
            Self::PEER_REJECTED_MESSAGE => {
                Some("the peer answered MessageError: it did not understand the request")
            }
            Self::NO_USABLE_PROFILE => Some("no profile of the reference names a transport this ORB has"),
            Self::NO_ENDPOINT_FOR_PRIORITY => Some(
                "the reference has no endpoint for the priority of this thread; set a priority that a lane of the server has",
            ),
            Self::PRIORITY_ABOVE_ACCEPTED => Some(
                "the propagated priority is above the highest one the server accepts; the server raises it with `highest_priority`",
            ),
            Self::ORB_SHUT_DOWN => Some("the ORB has been shut down"),
            Self::TOO_MANY_FORWARDS => Some("the location of the object was forwarded too many times"),
            Self::TOO_MANY_CONNECTIONS => {
                Some("the limit of connections is reached; raise `max_connections`")
            }
            Self::TOO_MANY_FRAGMENTED_MESSAGES => {
                Some("too many fragmented messages are under way on one connection")
            }
            Self::NESTING_OF_CALLS_TOO_DEEP => {
                Some("calls are nested deeper than the limit; raise `max_nested_calls`")
            }
            Self::THREAD_NOT_STARTED => {
                Some("a thread could not be created with the stack, priority and affinity asked for")
            }
            Self::ALREADY_ACTIVE => Some("an object with this id is already active"),
            Self::NIL_REFERENCE => Some("the reference is nil"),
            Self::WRONG_INTERFACE => Some("the object does not support the interface it was narrowed to"),
            Self::REFERENCE_MALFORMED => {
                Some("the text is no object reference; it starts with `IOR:` or `corbaloc:`")
            }
            Self::POLICY_CONFLICT => Some("the policies of the POA contradict each other"),
            Self::VALUE_NOT_REPRESENTABLE => Some("the value cannot be represented on the wire"),
            Self::DEADLOCK_DETECTED => Some(
                "the call would wait for its own thread, the only one left of the lane that it serves, which the server's standard error names: give the lane another thread, or call with `WaitStrategy::Serving`",
            ),
            Self::MUTEX_DEADLOCK => Some(
                "the thread would wait for itself: it has the mutex, or one that the mutex's owner waits for; lock mutexes in one order everywhere",
            ),
            Self::REQUEST_QUEUE_FULL => Some(
                "the lane's queue of requests is full; call again later, or raise the server's `QueueLimits`",
            ),
            Self::REQUEST_LARGER_THAN_QUEUE => Some(
                "the request is larger than the lane's whole queue; raise the server's `QueueLimits::octets`",
            ),
            Self::REQUEST_EXPIRED => {
                Some("the deadline of the call had passed before the server began to serve it")
            }
            Self::CLIENT_CONNECTIONS_EXHAUSTED => Some(
                "as many connections are open as are allowed and all are in use; raise `max_client_connections`",
            ),
            Self::REQUEST_TIMED_OUT => Some(
                "the request could not be sent before the deadline of the call; nobody reads at the other end, or the network is slow",
            ),
            Self::BANDS_ON_BOTH_SIDES => {
                Some("client and reference both have priority bands; take one of them away")
            }
            Self::BANDS_WITHOUT_PRIORITY_MODEL => {
                Some("priority bands need a reference with a priority model; give the server's adapter one")
            }
            Self::BAND_MALFORMED => Some("the lowest priority of a band is above its highest; swap them"),
            Self::PRIORITY_OUTSIDE_BANDS => Some(
                "the priority lies in none of the priority bands; set another priority on this thread, or add a band",
            ),
            Self::NO_ENDPOINT_IN_BAND => Some(
                "no lane of the server has a priority in the band; choose bands that hold at least one lane each",
            ),
            Self::PROTOCOLS_ON_BOTH_SIDES => {
                Some("client and reference both name protocols; take one of them away")
            }
            Self::NO_PROTOCOL_ALLOWED => {
                Some("the reference has no profile of the protocols that the client allows")
            }
            Self::NO_REPLY_THREADPOOL => Some(
                "the call shares a connection, and no thread pool reads the replies; name one with `Orb::set_reply_threadpool`, or wait for replies under `ConnectionMode::Exclusive`",
            ),
            Self::NO_LANE_FOR_REPLY => Some(
                "the call shares a connection, and every lane of the pool for replies is below the caller's priority; add a lane, or wait for replies under `ConnectionMode::Exclusive`",
            ),
            Self::REPLY_THREADPOOL_ENDED => {
                Some("the thread pool that was to read the reply has ended while the call was under way")
            }
            Self::SHARED_CALLS_EXHAUSTED => Some(
                "as many calls share the connection as may at a time; raise `max_shared_calls`, or wait for replies under `ConnectionMode::Exclusive`",
            ),
            Self::SHARED_CONNECTION_CONGESTED => Some(
                "the server does not read, and what waits to be sent to it over the shared connection has reached its limit; call again later",
            ),
            Self::BANDS_BOUND_ASYNCHRONOUSLY => Some(
                "connections are to be bound to bands, which asynchronous calls cannot; call without `binds_bands`, or wait for the reply",
            ),
            Self::MOVED_WHILE_ASYNCHRONOUS => Some(
                "the object is elsewhere, where the arguments of the asynchronous call would have to be written in another way; call again: the next call goes there at once",
            ),
            Self::BAND_MISSING => Some(
                "a request that binds its connection to a band says no band: service context 11 is missing",
            ),
            Self::BAND_NOT_OFFERED => Some(
                "the band is none of those that the object's adapter has; bind with one of those in its reference",
            ),
            Self::CONNECTION_BOUND_ALREADY => {
                Some("the connection is bound to another band already; open another connection for this one")
            }
            Self::PRIORITY_OUTSIDE_BOUND_BAND => Some(
                "the priority lies outside the band that its connection is bound to; send it over another connection",
            ),
            Self::PRIORITY_NOT_TRANSFORMED => Some("the server's priority transform refused the priority"),
            Self::CONTROL_REFUSED => Some(
                "the control of distributable threads there does not answer this peer; allow it by its `CancellationPolicy`",
            ),
            Self::NO_DISTRIBUTABLE_THREAD => {
                Some("the calling thread carries no distributable thread; begin a scheduling segment first")
            }
            Self::SEGMENT_NAME_WRONG => {
                Some("the innermost scheduling segment has another name; it is still open")
            }
            Self::SEGMENT_IS_SCOPED => {
                Some("the innermost scheduling segment belongs to a scope or to a request, and ends with it")
            }
            Self::DISTRIBUTABLE_THREAD_UNKNOWN => {
                Some("no distributable thread of this id is known here: it has ended, or was never here")
            }
            Self::DISTRIBUTABLE_THREAD_CANCELLED => Some("the distributable thread was cancelled"),
            Self::DISTRIBUTABLE_THREAD_ACTIVE => Some(
                "the distributable thread is active at this host already: an earlier call of it that timed out still runs, or its context was forged",
            ),
            Self::OPERATION_CANCELLED => Some(
                "the deadline of the operation passed, and the operation was cancelled; the distributable thread goes on",
            ),
            Self::TOO_MANY_DISTRIBUTABLE_THREADS => Some(
                "as many distributable threads are at this host as may be; raise `max_threads` of the scheduling's builder",
            ),
            Self::SPAWN_FAILED => Some(
                "the system made no thread for the distributable thread; look at its limits on threads and memory",
            ),
            Self::DEADLINE_NOT_ADMITTED => Some(
                "the kernel does not admit the deadline: SCHED_DEADLINE wants a period and an execution time that fit beside those admitted, and a thread that no affinity binds",
            ),
            Self::SCHEDULING_DISCIPLINE_UNSUPPORTED => Some(
                "the scheduling parameters are for another scheduler than the one of this endsystem; use its own, or install another one",
            ),
            Self::SEGMENTS_NESTED_TOO_DEEP => Some(
                "scheduling segments are nested deeper than the limit; raise `max_segments` of the scheduling's builder",
            ),
            Self::INTERCEPTOR_PANICKED => {
                Some("an interceptor panicked; the standard error of the process it runs in says where")
            }
            Self::TOO_MANY_SERVICE_CONTEXTS => {
                Some("interceptors have added 16 service contexts to one message, and no more are sent")
            }
            _ => None,
        }
    }
}

impl From<u32> for Minor {
    fn from(value: u32) -> Self {
        Self(value)
    }
}

impl fmt::Display for Minor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.0 & 0xfff;
        match self.0 & !0xfff {
            0 => write!(f, "{number}"),
            OMG_VMCID => write!(f, "OMG {number}"),
            PUNCTUAL_VMCID => write!(f, "Punctual {number}"),
            TAO_VMCID => write!(f, "TAO {number:#x}"),
            _ => write!(f, "{:#010x}", self.0),
        }
    }
}
