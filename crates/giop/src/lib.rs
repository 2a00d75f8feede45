//! GIOP: messages, fragments, object references, service contexts and code sets.
//!
//! Decoding lends from the received message, and encoding appends to a buffer that its owner reuses, so that
//! requests and replies need no allocation. Profiles and components of references are decoded once into owned
//! values.
//!
//! Source: CORBA 3.3 part 2, clauses 7 (references, service contexts, code sets) and 9 (GIOP and IIOP).
//! Pure: no I/O, no clock, no thread. [`connection`] is the state machine of a connection.
//!
//! ```
//! use punctual_cdr::{CharSet, Decode, Decoder, Encode, Endian};
//! use punctual_giop::*;
//!
//! let mut buffer = Vec::new();
//! let mut message = MessageWriter::new(
//!     &mut buffer, Version::V1_2, MessageType::Request, Endian::NATIVE, CharSet::Utf8, usize::MAX,
//! );
//! let request = OutgoingRequest {
//!     request_id: 1,
//!     response: ResponseFlags::WithTarget,
//!     target: TargetAddress::Key(b"Tracker"),
//!     operation: "cube",
//!     contexts: &[ServiceContext::Priority(10_922)],
//! };
//! encode_request(message.encoder(), Version::V1_2, &request)?;
//! let body = begin_body(message.encoder(), Version::V1_2)?;
//! 3_i32.encode(message.encoder())?;
//! end_body(message.encoder(), body);
//! message.finish()?;
//!
//! let header = MessageHeader::parse(&buffer, 1 << 20)?;
//! let (request, body) = RequestHeader::decode(&buffer, &header)?;
//! assert_eq!(request.operation, "cube");
//! assert_eq!(request.target, Target::Key(b"Tracker"));
//! assert_eq!(i32::decode(&mut Decoder::new(&buffer, header.endian).at(body))?, 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]

extern crate alloc;
// For `Instant`, which is an argument only.
extern crate std;

mod code_set;
mod component;
pub mod connection;
mod encapsulation;
mod error;
mod header;
mod invocation_policies;
mod last_request;
mod locate;
mod message;
mod message_type;
mod name;
mod peer;
mod policy;
mod profile;
mod profile_tag;
mod protocol;
mod reply;
mod request;
mod service_context;
mod tagged_list;
mod target;
mod url;
mod version;

pub use code_set::{
    CodeSetComponent, CodeSetComponentInfo, ISO_646, ISO_8859_1, UTF_8, UTF_16, char_set_from_id,
    char_set_id, negotiate, wide_char_set_from_id,
};
pub use component::{
    AssociationOptions, Component, PUNCTUAL_ORB_TYPE, SslTransport, TAG_ALTERNATE_IIOP_ADDRESS,
    TAG_CODE_SETS, TAG_ORB_TYPE, TAG_POLICIES, TAG_SSL_SEC_TRANS, TAO_ORB_TYPE, TAO_TAG_ENDPOINTS,
    TAO_TAG_SSL_ENDPOINTS, TaoEndpoint, decode_endpoints_with, encode_endpoints_with,
};
pub use error::{CodeSetIncompatible, FragmentError, HeaderError, UrlError};
pub use header::{HEADER_SIZE, MessageHeader};
pub use invocation_policies::{InvocationPolicies, decode_invocation_policies};
pub use last_request::{IncomingRequest, LastRequest};
pub use locate::{
    LocateReplyHeader, LocateRequestHeader, LocateStatus, encode_locate_reply, encode_locate_request,
};
pub use message::{
    Body, MessageWriter, align_body, begin_body, decode_cancel_request, end_body, write_cancel_request,
    write_close_connection, write_message_error,
};
pub use message_type::MessageType;
pub use name::{Name, NameComponent, NameError, NameNotFound, NotFoundReason};
pub use peer::{Peer, is_loopback};
pub use policy::PolicyValue;
pub use profile::{IiopProfile, Profile, decode_multiple_components, encode_multiple_components};
pub use profile_tag::{
    TAG_DIOP, TAG_INTERNET_IOP, TAG_MULTIPLE_COMPONENTS, TAG_PUNCTUAL_SHM, TAG_PUNCTUAL_TLS, TAG_SHMIOP,
    TAG_UIOP,
};
pub use protocol::{Protocol, ProtocolPolicy, ProtocolProperties};
pub use reply::{
    ReplyHeader, ReplyStatus, decode_system_exception, encode_reply_header, encode_system_exception,
    write_too_large,
};
pub use request::{OutgoingRequest, RequestHeader, ResponseFlags, encode_request};
pub use service_context::{
    BI_DIR_IIOP, BIND_PRIORITY_BAND, CODE_SETS, INVOCATION_POLICIES, ListenPoint, MAX_LISTEN_POINTS,
    MAX_SERVICE_CONTEXTS, REFUSED_PRIORITY, RT_CORBA_PRIORITY, RT_CORBA_PRIORITY_RANGE, RT_SCHEDULING,
    SENDING_CONTEXT_RUN_TIME, ServiceContext, ServiceContexts, UNKNOWN_EXCEPTION_INFO, decode_code_sets,
    decode_listen_points, decode_priority, decode_priority_range, decode_refused_priority,
};
pub use tagged_list::TaggedEntries;
pub use target::{AddressingDisposition, IorView, ProfileView, Target, TargetAddress};
pub use url::{
    DEFAULT_IIOP_PORT, IiopAddress, NAME_SERVICE, ObjectUrl, UrlAddress, corbaname_url, ior_from_string,
    ior_to_string,
};
pub use version::Version;
