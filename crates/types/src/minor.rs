//! Minor codes of system exceptions: one table with number, kind and text.

use core::fmt;

use crate::SystemExceptionKind;

/// The vendor minor code set id of the OMG's own minor codes.
pub const OMG_VMCID: u32 = 0x4f4d_0000;
/// The vendor minor code set id of TAO.
pub const TAO_VMCID: u32 = 0x5441_0000;
/// The vendor minor code set id of Punctual (`PU`; not registered with the OMG).
pub const PUNCTUAL_VMCID: u32 = 0x5055_4000;

/// The minor code of a system exception: a vendor in the upper 20 bits, a number in the lower 12.
///
/// ```
/// # use punctual_types as punctual;
/// use punctual::Minor;
///
/// let minor = Minor::from(0x4f4d_0004);
/// assert_eq!(minor, Minor::OMG_ORB_SHUT_DOWN);
/// assert_eq!(minor.to_string(), "OMG 4");
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Minor(pub u32);

macro_rules! omg {
    ($($name:ident = $number:literal, $kind:ident, $text:literal;)*) => {
        /// Minor codes of the OMG. The same number has a different meaning for each kind of exception.
        impl Minor {
            /// No detail.
            pub const NONE: Self = Self(0);
            $(
                #[doc = concat!(stringify!($kind), ": ", $text, ".")]
                pub const $name: Self = Self(OMG_VMCID | $number);
            )*

            /// Codes of the OMG that Punctual raises: kind of exception, code and meaning with advice.
            pub const OMG: &[(SystemExceptionKind, Self, &'static str)] =
                &[$((SystemExceptionKind::$kind, Self::$name, $text)),*];
        }
    };
}

// Source: CORBA 3.3 part 1, annex A.5.
omg! {
    OMG_REQUEST_DISCARDED = 1, Transient, "the adapter's manager discards requests; try again later";
    OMG_NO_WIDE_CODE_SET = 1, InvObjref,
        "the reference states no code set for `wchar` and `wstring`, such as a `corbaloc` URL or one of an \
         ORB without wide text: they cannot be sent to this object; use the object's `IOR:`, or `string`";
    OMG_PRIORITY_UNMAPPABLE = 2, DataConversion,
        "the priority cannot be mapped to a native one; choose another priority or priority mapping";
    OMG_WOULD_DEADLOCK = 3, BadInvOrder,
        "the operation would deadlock, such as waiting for a shutdown inside an upcall; call it on another \
         thread";
    OMG_ORB_SHUT_DOWN = 4, BadInvOrder,
        "the ORB has been shut down, or its last handle was dropped; keep an `Orb` as long as it is in use";
    OMG_ADAPTER_DESTROYED = 4, Transient,
        "the object's adapter is being destroyed; call again, because it may be made again";
    OMG_WIDE_TEXT_IN_REQUEST = 5, Marshal,
        "GIOP 1.0, which the reference states, has no `wchar` and `wstring`; let the server publish GIOP \
         1.2";
    OMG_WIDE_TEXT_IN_REPLY = 6, Marshal,
        "GIOP 1.0, in which the client called, has no `wchar` and `wstring`; let the client call in GIOP \
         1.2";
    OMG_NO_REFERENCE = 10, BadParam,
        "the text is no reference; give the server an `IOR:…` or a `corbaloc` URL of the object";
    OMG_INVALID_PI_CALL = 14, BadInvOrder,
        "the operation of a portable interceptor's request info is invalid at this point; call it at \
         another one";
    OMG_SERVICE_CONTEXT_EXISTS = 15, BadInvOrder,
        "the message already has a service context with this id; let it be replaced, or use another id";
}

impl Minor {
    /// Returns the meaning of a code of Punctual or the OMG in exceptions of this kind, and advice.
    ///
    /// ```
    /// # use punctual_types::{Minor, SystemExceptionKind};
    /// let code = Minor::OMG_REQUEST_DISCARDED;
    /// assert!(code.meaning(SystemExceptionKind::Transient).is_some_and(|text| text.contains("discards")));
    /// assert_eq!(code.meaning(SystemExceptionKind::NoMemory), None);
    /// ```
    pub fn meaning(self, kind: SystemExceptionKind) -> Option<&'static str> {
        let of_omg = || {
            let mut codes = Self::OMG.iter();
            codes
                .find(|(of, code, _)| (*of, *code) == (kind, self))
                .map(|(.., text)| *text)
        };
        self.text().or_else(of_omg)
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

macro_rules! table {
    ($($name:ident = $number:literal, $kind:ident, $text:literal;)*) => {
        /// Punctual's own minor codes.
        impl Minor {
            $(
                #[doc = concat!("Punctual ", $number, ": ", $text, ".")]
                pub const $name: Self = Self(PUNCTUAL_VMCID | $number);
            )*

            /// All of Punctual's codes, by number.
            pub const OWN: &[Self] = &[$(Self::$name),*];

            /// Returns the meaning of one of Punctual's codes, and advice.
            ///
            /// ```
            /// # use punctual_types::Minor;
            /// let text = Minor::NESTING_TOO_DEEP.text();
            /// assert_eq!(text, Some("values are nested too deeply; raise `max_nesting`"));
            /// assert_eq!(Minor(1).text(), None, "not one of Punctual's codes");
            /// ```
            pub const fn text(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some($text),)*
                    _ => None,
                }
            }

            /// Returns the kind of exception that one of Punctual's codes usually belongs to.
            ///
            /// ```
            /// # use punctual_types::{Minor, SystemExceptionKind};
            /// assert_eq!(Minor::CONNECT_REFUSED.kind(), Some(SystemExceptionKind::Transient));
            /// ```
            pub const fn kind(self) -> Option<SystemExceptionKind> {
                match self {
                    $(Self::$name => Some(SystemExceptionKind::$kind),)*
                    _ => None,
                }
            }
        }
    };
}

// A new code gets a new number; the number of a removed code is not used again.
table! {
    TARGET_KEY_UNKNOWN = 1, ObjectNotExist,
        "no object is known under this object key: the server has not activated it, or has restarted; obtain a new reference";
    OBJECT_DEACTIVATED = 2, ObjectNotExist,
        "the object has been deactivated; obtain a new reference from the server";
    OPERATION_UNKNOWN = 3, BadOperation,
        "the object has no operation of this name; check that both sides were compiled from the same IDL";
    MESSAGE_TRUNCATED = 4, Marshal,
        "the data ends before the value does; check that both sides were compiled from the same IDL";
    MESSAGE_TOO_LARGE = 5, ImpLimit,
        "the message exceeds the size limit of the ORB that raises this (8 MiB unless it sets another one); raise \
         its `max_message_size`, or send less at a time";
    LENGTH_IMPOSSIBLE = 6, Marshal,
        "a length exceeds the data that follows it; check that both sides were compiled from the same IDL";
    BOUND_EXCEEDED = 7, Marshal,
        "a bounded string or sequence exceeds its bound; send fewer elements, or raise the bound in the IDL \
         of both sides";
    ENUM_OUT_OF_RANGE = 8, Marshal,
        "an enum value is not among its enumerators; check that both sides were compiled from the same IDL";
    BOOLEAN_INVALID = 9, Marshal,
        "a boolean is neither 0 nor 1; check that both sides were compiled from the same IDL";
    STRING_UNTERMINATED = 10, Marshal,
        "a string does not end with its only NUL; check that both sides were compiled from the same IDL";
    TEXT_INVALID = 11, DataConversion,
        "text is invalid in the code set negotiated for the connection; check the native code set of the \
         sender";
    TEXT_NOT_IN_CODE_SET = 12, DataConversion,
        "a character does not exist in the code set negotiated for the connection; send other text, or let \
         the peer use UTF-8";
    UNION_LABEL_MISMATCH = 13, BadParam,
        "the discriminator of a union does not select the member that is set; set one of its labels";
    NESTING_TOO_DEEP = 14, ImpLimit, "values are nested too deeply; raise `max_nesting`";
    EXCEPTION_UNDECLARED = 15, Unknown,
        "the peer raised a user exception that the operation does not declare; add it to the `raises` \
         clause of both sides";
    SERVANT_PANICKED = 16, Unknown, "the servant panicked; the server's standard error has the message";
    CONNECT_REFUSED = 17, Transient,
        "no server is listening at the address of the reference; check that the server is running (or was \
         it restarted? resolve again)";
    CONNECT_TIMED_OUT = 18, Timeout,
        "the connection could not be established within the connect timeout; check that the host can be \
         reached, or raise `connect_timeout`";
    HOST_UNKNOWN = 19, Transient,
        "the host name of the reference cannot be resolved; check the server's published address";
    CONNECTION_LOST = 20, CommFailure,
        "the peer closed the connection after the request was sent and before it replied; whether the \
         operation was executed is not known (call again only if it may run twice)";
    WRITE_FAILED = 21, CommFailure,
        "the request could not be sent; check that the server is running, and call again";
    REPLY_TIMED_OUT = 22, Timeout,
        "no reply arrived before the deadline of the call; check that the server has called `run` or has a pool \
         for the object, look with `punctual top` at what its lane does, or raise the timeout (the operation \
         may still be executed)";
    REPLY_MALFORMED = 23, CommFailure,
        "the reply is not a well-formed GIOP message; check that the peer is an ORB";
    PEER_REJECTED_MESSAGE = 24, CommFailure,
        "the peer replied MessageError: it did not understand the request, or the request exceeds its \
         limit on the size of messages; check the GIOP version in the reference and that limit";
    NO_USABLE_PROFILE = 25, InvObjref,
        "no profile of the reference names a transport of this ORB; let the server listen on `iiop://`, too";
    NO_ENDPOINT_FOR_PRIORITY = 26, InvPolicy,
        "the reference has no endpoint for this thread's priority; call `orb.current().set_priority` with \
         that of one of the server's lanes";
    PRIORITY_ABOVE_ACCEPTED = 27, NoPermission,
        "the propagated priority exceeds the highest accepted one; raise the server's `highest_priority`";
    TOO_MANY_FORWARDS = 29, Transient,
        "the request was forwarded too many times; check that the servers do not forward to one another";
    NESTING_OF_CALLS_TOO_DEEP = 32, ImpLimit, "calls are nested too deeply; raise `max_nested_calls`";
    THREAD_NOT_STARTED = 33, Internal,
        "a thread could not be created with the requested stack, priority and affinity; `punctual doctor` \
         prints what is missing";
    ALREADY_ACTIVE = 34, BadInvOrder,
        "an object with this id is already active; deactivate it first, or use another id";
    TOO_MANY_ENDPOINTS = 35, ImpLimit,
        "the reference names too many endpoints or priority bands; raise `max_endpoints` if its server is \
         trusted";
    REFERENCE_MALFORMED = 37, InvObjref,
        "the text is not an object reference; it must start with `IOR:` or `corbaloc:`";
    POLICY_CONFLICT = 38, InvPolicy, "the policies of the POA contradict each other; remove one of them";
    VALUE_NOT_REPRESENTABLE = 39, BadParam,
        "the value cannot be represented on the wire; a string must not contain NUL, and lengths end at 2³²";
    DEADLOCK_DETECTED = 40, BadInvOrder,
        "the call would wait for its own thread, the last one of its lane (the server's standard error \
         names the lane); add a thread to the lane, or call with `WaitStrategy::Serving`";
    MUTEX_DEADLOCK = 41, BadInvOrder,
        "the thread would wait for itself: it owns the mutex, or one that the mutex's owner waits for; lock \
         mutexes in the same order everywhere";
    NOT_SERVED = 42, BadInvOrder,
        "the object belongs to an ORB of this process that no thread serves; call its `run` on another \
         thread, or give the object's adapter a thread pool: `.threadpool(&orb.threadpool().build()?)`";
    PRIORITY_NOT_TRANSFORMED = 50, Internal,
        "the server's priority transform refused the priority; call with another one, or extend the \
         transform";
    CLIENT_CONNECTIONS_EXHAUSTED = 60, ImpLimit,
        "the limit on client connections is reached and all are in use; raise `max_client_connections`";
    REQUEST_TIMED_OUT = 61, Timeout,
        "the deadline of the call had passed before the request was sent; the timeout is too short (0?), the \
         peer does not read, or the network is slow (raise the timeout, or look at the peer)";
    BANDS_ON_BOTH_SIDES = 62, InvPolicy, "client and reference both have priority bands; remove one of them";
    BANDS_WITHOUT_PRIORITY_MODEL = 63, InvPolicy,
        "priority bands need a reference with a priority model, and this one has none; give the server's \
         adapter a `priority_model`, or take the bands from this reference: \
         `with_policies(PolicyOverrides::new().priority_bands([]))`";
    BAND_MALFORMED = 64, BadParam, "the lowest priority of a band is above its highest; swap them";
    PRIORITY_OUTSIDE_BANDS = 65, InvPolicy,
        "the priority is in none of the priority bands; set another priority on this thread, or add a band";
    NO_ENDPOINT_IN_BAND = 66, InvPolicy,
        "no lane of the server has a priority in the band; choose bands that contain at least one lane each";
    PROTOCOLS_ON_BOTH_SIDES = 67, InvPolicy, "client and reference both name protocols; remove one of them";
    NO_PROTOCOL_ALLOWED = 68, InvPolicy,
        "the reference has no profile for the protocols that the client allows; allow one of its protocols";
    REQUEST_QUEUE_FULL = 70, Transient,
        "the lane's request queue is full; retry later, or raise the server's `QueueLimits`";
    REQUEST_LARGER_THAN_QUEUE = 71, ImpLimit,
        "the request is larger than the lane's whole queue; raise the server's `QueueLimits::octets`";
    REQUEST_EXPIRED = 72, Timeout,
        "the deadline of the call had passed before the server started to execute it; add threads to the \
         lane, or raise the timeout";
    HELD_REQUESTS_FULL = 73, Transient,
        "the adapter's manager holds requests, and there is no room for this one; retry later, or give \
         `PoaManager::hold` larger `QueueLimits` (collocated calls count as requests, too)";
    BAND_MISSING = 80, BadParam,
        "a request that binds its connection to a band names no band: service context 11 is missing; check \
         the peer's ORB";
    BAND_NOT_OFFERED = 81, InvPolicy,
        "the object's adapter does not have this band; bind with one of the bands in its reference";
    CONNECTION_BOUND_ALREADY = 82, BadInvOrder,
        "the connection is already bound to another band; open another connection";
    PRIORITY_OUTSIDE_BOUND_BAND = 83, InvPolicy,
        "the priority is outside the band that its connection is bound to; use another connection";
    NO_REPLY_THREADPOOL = 90, InvPolicy,
        "no thread pool reads the replies to asynchronous calls and to calls that share a connection; make \
         one after the ORB: `orb.set_reply_threadpool(&orb.threadpool().lane(Priority::MAX, 1).build()?)?`";
    NO_LANE_FOR_REPLY = 91, InvPolicy,
        "every lane of the reply pool is below the caller's priority; give it a lane of this priority or \
         above, such as `.lane(Priority::MAX, 1)`";
    REPLY_THREADPOOL_ENDED = 92, CommFailure,
        "the thread pool that was to read the reply was destroyed during the call; destroy it after the \
         last reply";
    SHARED_CALLS_EXHAUSTED = 93, ImpLimit,
        "the limit on calls that share a connection is reached; raise `max_shared_calls`, or use \
         `ConnectionMode::Exclusive`";
    SHARED_CONNECTION_CONGESTED = 94, Transient,
        "the server does not read, and the data to be sent to it over the shared connection has reached its \
         limit; retry later";
    BANDS_BOUND_ASYNCHRONOUSLY = 95, InvPolicy,
        "asynchronous calls cannot bind connections to bands; call without `binds_bands`, or wait for the \
         reply";
    MOVED_WHILE_ASYNCHRONOUS = 96, Transient,
        "the object was forwarded to a server that needs another encoding of the asynchronous call's \
         arguments; retry: the next call goes there directly";
    CLOSED_BEFORE_REQUEST = 97, Transient,
        "the server closed the connection before it had received the request, and again on each new \
         connection; retry when it has started";
    DECODED_TOO_LARGE = 100, ImpLimit,
        "the values in the message take more memory than is allowed; raise `max_decoded_size` on the side \
         that received it";
    OUT_OF_MEMORY = 101, NoMemory,
        "there is no memory for the values in the message; lower `max_decoded_size`, or raise the limit of \
         the process";
    TYPE_CODE_INVALID = 102, BadTypecode,
        "a type code is malformed, or describes a value without end; check the program that has built it";
    TYPE_UNSUPPORTED = 103, NoImplement,
        "this form of a value is not supported; send no local objects in an `any`, declare value types that \
         their type code does not describe as truncatable or register them (`OrbBuilder::value_type`), and \
         send no text that is split between chunks of a value in a reply";
    VALUE_CYCLIC = 104, NoImplement,
        "a value refers to one that contains it, with a member whose value type may not close a circle; \
         name that value type with `Builder::circular` in build.rs, and extract it from an `any` as that \
         type";
    VALUE_MALFORMED = 105, Marshal,
        "tags, chunks or indirections of a value are malformed; check that both sides were compiled from \
         the same IDL";
    VALUE_TYPE_UNKNOWN = 106, Marshal,
        "a value has a type that the receiver's IDL does not have, and cannot be truncated to one that it \
         has; compile the IDL of that type in the same file, or register it with `OrbBuilder::value_type`";
    FIXED_INVALID = 107, DataConversion,
        "the octets of a `fixed` are no digits and sign, or too many digits; check that both sides were \
         compiled from the same IDL";
    RESPONSE_HANDLER_DROPPED = 108, NoResponse,
        "the servant dropped its response handler without an answer, and may have executed the request; let \
         it answer each handler once";
    DEFERRED_REPLY_ENDED = 109, NoResponse,
        "the server's ORB shut down before the servant answered, and it may have executed the request; call \
         again when the server is back, if it may run twice";
    INTERCEPTOR_PANICKED = 110, Unknown,
        "an interceptor panicked; the standard error of its process has the message";
    TOO_MANY_SERVICE_CONTEXTS = 111, ImpLimit,
        "interceptors added more than 16 service contexts to a message; put their data into fewer of them";
    DEFERRED_REPLIES_FULL = 112, Transient,
        "the servants of the server's lane owe as many answers as it permits; try again later, or raise \
         `max_deferred_replies` there";
    CALLBACKS_FULL = 113, Transient,
        "as many calls with handlers are outstanding as their `Callbacks` have room for, or no thread takes \
         handlers; wait for the call itself, or give them more room";
    NO_LANE_FOR_CALLBACK = 114, InvPolicy,
        "no lane of the pool has the priority of the call or a higher one, so none may run its handler; \
         give the pool such a lane";
    ADAPTER_INACTIVE = 115, ObjAdapter,
        "the adapter's manager was deactivated, and its adapters serve no further request; create an \
         adapter with another manager";
    ADAPTER_NOT_FOUND = 116, ObjectNotExist,
        "the object's adapter does not exist, and no adapter activator has made it; check that the server \
         creates it";
    SERVANT_MANAGER_FAILED = 117, ObjAdapter,
        "the servant manager or adapter activator panicked, or gave a servant that the adapter's threads have \
         too little stack for; the server's standard error may say more";
    KEY_REPEATED = 118, Marshal, "a map has the same key twice; the sender must remove one of the entries";
    SERVER_STARTING = 119, Transient,
        "the server is starting, and has not activated the object yet; call again, and keep the reference";
    NO_DISTRIBUTABLE_THREAD = 120, BadInvOrder,
        "the calling thread carries no distributable thread; begin a scheduling segment first; in a servant, \
         let the server's `RtScheduling` accept the claims of this client's host with `accept_claims`";
    SEGMENT_NAME_WRONG = 121, BadParam,
        "the innermost scheduling segment has another name and remains open; end segments in reverse order";
    SEGMENT_IS_SCOPED = 122, BadInvOrder,
        "the innermost scheduling segment belongs to a scope or a request, and ends with it; end only \
         segments that this code has begun";
    DISTRIBUTABLE_THREAD_UNKNOWN = 123, ObjectNotExist,
        "no distributable thread with this id is known at this host: it has ended, or never visited; \
         nothing needs to be cancelled here";
    DISTRIBUTABLE_THREAD_CANCELLED = 124, ThreadCancelled,
        "the distributable thread was cancelled; release what it holds, and return";
    DISTRIBUTABLE_THREAD_ACTIVE = 125, BadInvOrder,
        "the distributable thread is already active at this host: an earlier call that timed out is still \
         running, or its context was forged; wait for its end, or begin another thread";
    OPERATION_CANCELLED = 126, Timeout,
        "the deadline of the operation passed, it was cancelled, and the distributable thread continues; \
         state a later deadline, or reduce the load";
    TOO_MANY_DISTRIBUTABLE_THREADS = 127, ImpLimit,
        "this host's limit on distributable threads is reached; raise `max_threads` of the scheduling \
         builder";
    SPAWN_FAILED = 128, NoResources,
        "the system could not create a thread for the distributable thread; check its limits on threads and \
         memory";
    DEADLINE_NOT_ADMITTED = 129, NoResources,
        "the kernel did not admit the deadline: SCHED_DEADLINE needs a period, an execution time that fits \
         beside those already admitted, and a thread without affinity; reduce the execution time";
    SEGMENTS_NESTED_TOO_DEEP = 130, ImpLimit,
        "scheduling segments are nested too deeply; raise `max_segments` of the scheduling builder";
    SCHEDULING_DISCIPLINE_UNSUPPORTED = 131, InvPolicy,
        "the scheduling parameters are for a scheduler that this endsystem does not have; use its own, or \
         install that one";
    SCHEDULING_PARAMETERS_MALFORMED = 132, Marshal,
        "the endsystem's scheduler cannot read the scheduling parameters of its own kind that the request \
         carries; install the same version of the scheduler on both endsystems";
    NOTHING_PUBLISHED = 133, ObjectNotExist,
        "the server has published nothing under the name in the URL; compare it with the one that the \
         server prints";
    PRIORITY_UNSET = 134, Initialize,
        "the thread has no CORBA priority: `set_priority` was not called on it, or it executes a request \
         for an adapter without `priority_model`; call `orb.current().set_priority` first";
    REPLY_TOO_LARGE = 135, ImpLimit,
        "a reply exceeds the limit on the size of messages of the client itself; raise `max_message_size` in \
         the client, or request less at a time";
    CONTROL_REFUSED = 140, NoPermission,
        "the peer may not control distributable threads at this host; permit it in the `CancellationPolicy`";
    OBJECT_ENDING = 141, Transient,
        "the object was deactivated, and its servant activator has not etherealized its servant yet; call \
         again later, not inside an upcall of the same program";
    CONTEXT_VALUE_MISSING = 142, Marshal,
        "the last context property has a name, but no value; the client's ORB must send them in pairs";
    REPLIES_LATE = 143, Timeout,
        "no reply arrived before the deadline of the call, but replies to earlier calls did, after theirs: the \
         server is slow; look with `punctual top` at what its lane does, give it more threads, or raise the \
         timeout (the operation may still be executed)";
    DESCRIPTORS_EXHAUSTED = 144, NoResources,
        "this process may open no further file, and no unused connection was left to be closed; raise the limit \
         of open files (`ulimit -n`, `LimitNOFILE=`)";
    SERVANT_MANAGER_RECURSION = 145, ObjAdapter,
        "a servant manager or adapter activator called an object that cannot be found before this call of it \
         has returned; let it call only active objects, and objects of other adapters";
    SERVANT_MANAGER_BUSY = 146, Transient,
        "the object's servant manager or adapter activator is in a call that waits for the calling thread; \
         call again later";
    TLS_REQUIRED = 147, NoPermission,
        "this ORB may send over TLS only, and the reference offers no TLS; let the server listen at \
         `ssliop://HOST:PORT`, or permit plain connections in the TLS settings (`client.use`)";
    TLS_NOT_AVAILABLE = 148, NoPermission,
        "the server can be reached over TLS only, and this ORB has no TLS; add the transport \
         `punctual_tls::Tls` (for `punctual call` and other commands: `--tls FILE`)";
    TLS_HANDSHAKE_FAILED = 149, NoPermission,
        "no trusted TLS connection to the server could be made; compare its certificate with `trust`, and \
         the own certificate with what the server trusts (see docs/tls.md)";
    PEER_USES_TLS = 150, CommFailure,
        "the server answered a plain request with a record of TLS: the port is one for TLS; use its `ssliop` \
         address, or resolve a reference that states it";
    VALUE_RELEASED = 151, BadParam,
        "a value in a circle is sent while it is being released, or after `ValueGraph::close` with a \
         reference that keeps nothing; send a clone of one that was found in a value, or the closed value";
    PEER_SPEAKS_NO_GIOP = 152, CommFailure,
        "the peer does not speak GIOP: the server of another protocol listens at this address; check host and \
         port";
    ADDRESS_FORBIDDEN = 153, Transient,
        "this user may not connect to the address; a Unix socket needs the right to write to its file (w), and \
         to search the folders above it (x)";
    ADDRESS_MALFORMED = 154, InvObjref,
        "the address in the reference is none of its transport: Unix sockets and shared memory have an \
         absolute path, with `%2f` instead of `/` in a URL (`corbaloc:uiop:1.2@%2frun%2fserver/Key`), and \
         TCP has a host and a port";
    NAMING_COMPONENT_TOO_LONG = 160, ImpLimit,
        "id and kind of a component of the name have more octets than the naming service permits; shorten them, \
         or raise `NamingLimits::component` (`punctual naming serve --component`)";
    NAMING_TOO_MANY_COMPONENTS = 161, ImpLimit,
        "the name has more components than the naming service permits; resolve a context on the way and go on \
         there, or raise `NamingLimits::components` (`punctual naming serve --components`)";
    NAMING_CONTEXTS_EXHAUSTED = 162, ImpLimit,
        "the naming service has as many contexts as it permits; destroy those that are no longer used \
         (`punctual naming serve --prune` drops those without a name), or raise `NamingLimits::contexts` \
         (`--contexts`)";
    NAMING_BINDINGS_EXHAUSTED = 163, ImpLimit,
        "the naming context has as many bindings as the service permits; unbind some, bind in a context below \
         it, or raise `NamingLimits::bindings` (`punctual naming serve --bindings`)";
    NAMING_OCTETS_EXHAUSTED = 164, ImpLimit,
        "the names and references of the naming service take as many octets as it permits; unbind some, or \
         raise `NamingLimits::octets` (`punctual naming serve --octets`)";
    NAMING_REFERENCE_TOO_LARGE = 165, ImpLimit,
        "the reference has more octets than the naming service permits; publish fewer addresses in it, or raise \
         `NamingLimits::reference` (`punctual naming serve --reference`)";
    NAMING_ROOT_PERMANENT = 166, NoPermission,
        "the root context of a naming service cannot be destroyed; end its process, or start it with another \
         store";
    NAMING_NIL_CONTEXT = 167, BadParam,
        "nil cannot be bound as a naming context; create one with `bind_new_context`, or bind nil with `bind`";
    NAMING_NO_NUMBER = 168, BadParam,
        "an iterator returns at least one binding; call `next_n` with 1 or more";
    NAMING_NOT_STORED = 169, PersistStore,
        "the naming service could not write the change to its file; make room on its disk (its standard error \
         and `NamingService::store_failure` say why) and try again: it opens the file again once a second";
    NAMING_CHANGES_WAITING = 170, Transient,
        "as many changes wait for the disk of the naming service as it permits; try again, or raise \
         `NamingLimits::changes` and the number of threads that serve (`punctual naming serve --threads`)";
    NAMING_GONE = 171, ObjectNotExist,
        "the naming context or iterator no longer exists: it has been destroyed, or was not used for too long; \
         resolve the context or list the bindings again";
    NAMING_NO_CONTEXT = 172, BadParam,
        "the context that is to be bound is one of this naming service and does not exist; create it with \
         `bind_new_context`";
}
