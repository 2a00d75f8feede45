//! Why a message cannot be read at all. Errors inside a message are [`punctual_cdr::CdrError`]s.

use alloc::string::String;

use punctual_cdr::CdrError;
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};
use thiserror::Error;

use crate::{MessageType, Version};

/// The first octets are no GIOP header this side accepts: answer MessageError and close the connection.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum HeaderError {
    /// Another protocol talks to this port.
    #[error(
        "the message starts with octets {0:02x?} instead of \"GIOP\"; does the peer speak another protocol?"
    )]
    BadMagic([u8; 4]),
    /// Fewer octets than a header has; read on.
    #[error("{0} octets are no message header; it has 12")]
    Incomplete(usize),
    /// A version this ORB does not speak.
    #[error("GIOP {0} is not supported; this ORB speaks 1.0 to 1.2")]
    UnsupportedVersion(Version),
    /// No message of that version has this type.
    #[error("GIOP {version} has no message type {value}")]
    UnknownType {
        /// The version of the message.
        version: Version,
        /// The type it claims to have.
        value: u8,
    },
    /// The message would exceed the limit of this side.
    #[error(
        "a message of {size} octets exceeds the limit of {limit}; raise `max_message_size` if it is legitimate"
    )]
    TooLarge {
        /// Octets, the header included.
        size: u64,
        /// The most this side accepts.
        limit: usize,
    },
    /// The header announces fragments of a message that cannot have any.
    #[error("a {message_type:?} message of GIOP {version} cannot be fragmented")]
    CannotBeFragmented {
        /// The version of the message.
        version: Version,
        /// The type of the message.
        message_type: MessageType,
    },
}

/// A fragment does not fit what came before: answer MessageError and close the connection.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum FragmentError {
    /// No fragmented message with this request id (`None` for GIOP 1.1) is under way.
    #[error("a fragment belongs to no message under way (request id {0:?})")]
    NotUnderWay(Option<u32>),
    /// A second message starts under a request id whose first message is not complete.
    #[error(
        "a fragmented message starts while another of the same request id is under way (request id {0:?})"
    )]
    AlreadyUnderWay(Option<u32>),
    /// The fragment has another version or byte order than the first one.
    #[error("a fragment has another version or byte order than the message it continues")]
    Inconsistent,
    /// The message is too short to hold its request id, or its header says another size.
    #[error("a fragment is too short to hold a request id")]
    Truncated,
    /// The whole message would exceed the limit.
    #[error(
        "a fragmented message exceeds the limit of {0} octets; raise `max_message_size` if it is legitimate"
    )]
    TooLarge(usize),
    /// Too many fragmented messages are under way on one connection.
    #[error(
        "more than {0} fragmented messages are under way; raise `max_fragmented_messages` if the peer interleaves more"
    )]
    TooManyPending(usize),
}

/// The client and the server have no code set in common.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error(
    "no code set in common: the server has {server_native:#010x} and none of the conversions the client has"
)]
pub struct CodeSetIncompatible {
    /// The native code set of the server.
    pub server_native: u32,
}

impl From<CodeSetIncompatible> for SystemException {
    fn from(_: CodeSetIncompatible) -> Self {
        Self::new(
            SystemExceptionKind::CodesetIncompatible,
            Minor::NONE,
            Completion::No,
        )
    }
}

/// A text is no object reference.
///
/// ```
/// use punctual_giop::{ObjectUrl, UrlError};
///
/// let error = "corbaloc::localhost:0/Tracker".parse::<ObjectUrl>().unwrap_err();
/// assert_eq!(error, UrlError::BadPort("0".to_owned()));
/// assert_eq!(error.to_string(), "`0` is no port; write a number from 1 to 65535");
/// ```
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum UrlError {
    /// Neither `IOR:` nor `corbaloc:`.
    #[error(
        "`{0}` is no object reference; write `corbaloc::host:port/Key` or the text that starts with `IOR:`"
    )]
    UnknownScheme(String),
    /// The text after `IOR:` is not hexadecimal.
    #[error(
        "`IOR:` is followed by something other than pairs of hexadecimal digits, at character {at}; was it cut?"
    )]
    BadHex {
        /// The place in the text, counted from 0.
        at: usize,
    },
    /// The octets after `IOR:` are no object reference.
    #[error("the octets after `IOR:` are no object reference: {0}; was the text cut?")]
    BadReference(CdrError),
    /// None of the addresses has a protocol that is known.
    #[error("`{0}` names no known protocol; write `iiop:host:port`, `:host:port` or `rir:`")]
    UnknownProtocol(String),
    /// `rir:` cannot stand beside other addresses.
    #[error("`rir:` takes no address and stands alone; write `corbaloc:rir:/NameService`")]
    BadRir,
    /// The version before the `@` is not `1.n`.
    #[error("`{0}` is no IIOP version; write `1.0@`, `1.1@` or `1.2@` in front of the host, or nothing")]
    BadVersion(String),
    /// The host is empty or its brackets are not closed.
    #[error("`{0}` has no valid host; write `host`, `host:port` or `[ipv6]:port`")]
    BadHost(String),
    /// The port is no number from 1 to 65535.
    #[error("`{0}` is no port; write a number from 1 to 65535")]
    BadPort(String),
    /// The key has a `%` without two hexadecimal digits, or a character that must be escaped.
    #[error(
        "the object key `{0}` is malformed; write other characters than letters, digits and ;/:?@&=+$,-_.!~*'() as %xx"
    )]
    BadKey(String),
}
