//! Errors of headers, fragments and URLs. Errors inside a message are [`punctual_cdr::CdrError`]s.

use alloc::{
    format,
    string::{String, ToString as _},
};

use punctual_cdr::CdrError;
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};
use thiserror::Error;

use crate::{MessageType, NameError, Version};

/// Data that does not start with an acceptable GIOP header: send MessageError and close the connection.
#[derive(Clone, Copy, Eq, Error, PartialEq)]
pub enum HeaderError {
    /// The data does not start with `GIOP`.
    #[error("not a GIOP message: it starts with octets {0:02x?}; check that the peer uses GIOP")]
    BadMagic([u8; 4]),
    /// The header is incomplete.
    #[error("GIOP header too short: {0} of 12 bytes")]
    Incomplete(usize),
    /// The version is not supported.
    #[error("GIOP {0} is not supported; use 1.0 to 1.2")]
    UnsupportedVersion(Version),
    /// The version has no such message type.
    #[error("GIOP {version} has no message type {value}")]
    UnknownType {
        /// The version of the message.
        version: Version,
        /// The type in the header.
        value: u8,
    },
    /// The message exceeds the size limit.
    #[error(
        "message of {size} octets exceeds the limit of {limit}; raise `max_message_size` if it is legitimate"
    )]
    TooLarge {
        /// Size in octets, including the header.
        size: u64,
        /// Maximal size.
        limit: usize,
    },
    /// The header announces fragments of a message that cannot be fragmented.
    #[error("a {message_type:?} message of GIOP {version} cannot be fragmented")]
    CannotBeFragmented {
        /// The version of the message.
        version: Version,
        /// The type of the message.
        message_type: MessageType,
    },
}

/// A fragment that does not match the preceding messages: send MessageError and close the connection.
#[derive(Clone, Copy, Eq, Error, PartialEq)]
pub enum FragmentError {
    /// No fragmented message with this request id (`None` for GIOP 1.1) is incomplete.
    #[error("fragment of an unknown message (request id {0:?})")]
    NotUnderWay(Option<u32>),
    /// A message starts with the request id of an incomplete message.
    #[error("fragmented message with the request id of an incomplete message ({0:?})")]
    AlreadyUnderWay(Option<u32>),
    /// The fragment has another version or byte order than the first one.
    #[error("fragment with another version or byte order than its message")]
    Inconsistent,
    /// The message is too short for its request id, or differs in size from its header.
    #[error("a fragment is too short to hold a request id")]
    Truncated,
    /// The fragment adds nothing and is not the last one.
    #[error("empty fragment before the last one")]
    Empty,
    /// The whole message would exceed the limit.
    #[error(
        "a fragmented message exceeds the limit of {0} octets; raise `max_message_size` if it is legitimate"
    )]
    TooLarge(usize),
    /// Too many fragmented messages of one connection are incomplete.
    #[error(
        "more than {0} fragmented messages are incomplete; raise `max_fragmented_messages` if the peer \
         interleaves more"
    )]
    TooManyPending(usize),
}

/// The client and the server have no code set in common.
#[derive(Clone, Copy, Eq, Error, PartialEq)]
#[error("no common code set: the server has {server_native:#010x} and no conversion code set of the client")]
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

/// The text of an error without its advice, which concerns the values of calls.
fn fact(error: &CdrError) -> String {
    let mut text = error.to_string();
    text.truncate(text.find(';').unwrap_or(text.len()));
    text
}

/// The part of a URL that an error is about, as messages name it.
fn quoted(part: &str) -> String {
    if part.is_empty() {
        "an empty address".into()
    } else {
        format!("`{part}`")
    }
}

/// A text that is not an object reference.
///
/// ```
/// # use punctual_giop as punctual;
/// use punctual::{UrlError, ior_from_string};
///
/// let error = ior_from_string("IOR:00zz").unwrap_err();
/// assert_eq!(error, UrlError::BadHex { at: 6 });
/// assert!(error.to_string().ends_with("error at character 6; check that the text is complete"));
/// ```
#[derive(Clone, Eq, Error, PartialEq)]
pub enum UrlError {
    /// None of the schemes `IOR:`, `corbaloc:`, `corbaname:` and `file:`.
    #[error(
        "{} is not an object reference; use `corbaloc::host:port/Key`, `corbaname::host:port#name`, \
         `file:///path` or a text that starts with `IOR:`",
        quoted(.0)
    )]
    UnknownScheme(String),
    /// An endpoint, `iiop://host:port`; this is the text behind `iiop://`.
    #[error(
        "`iiop://{0}` is an endpoint, which servers listen at; did you mean `corbaloc::{0}{key}`?",
        key = if .0.contains('/') { "" } else { "/NAME" }
    )]
    Endpoint(String),
    /// The text after `IOR:` is not hexadecimal.
    #[error(
        "`IOR:` must be followed by pairs of hexadecimal digits; error at character {at}; check that the \
         text is complete"
    )]
    BadHex {
        /// The place in the text, counted from 0.
        at: usize,
    },
    /// The octets after `IOR:` are not an object reference.
    #[error("malformed object reference after `IOR:`: {}; check that the text is complete", fact(.0))]
    BadReference(CdrError),
    /// None of the addresses has a known protocol.
    #[error("{} names no known protocol; use `iiop:host:port`, `:host:port` or `rir:`", quoted(.0))]
    UnknownProtocol(String),
    /// An address of TLS, whose transport the ORB does not have.
    #[error(
        "`{0}` is an address of TLS, and this ORB has no transport for it; add that of crate `punctual-tls` with \
         `OrbBuilder::transport` (docs/tls.md)"
    )]
    NoTls(String),
    /// A host and a port where a protocol should be.
    #[error("`{0}` names no protocol; did you mean `corbaloc::{0}`?")]
    MissingProtocol(String),
    /// A protocol other than `iiop` without an address, as in a path with `/`, which ends the address.
    #[error("`{0}:` has no address; a path has `%2f` instead of `/`: `corbaloc:{0}:1.2@%2frun%2fserver/Key`")]
    NoAddress(String),
    /// `rir:` is combined with an address.
    #[error("`rir:` cannot be combined with addresses; use `corbaloc:rir:/NameService`")]
    BadRir,
    /// The version before the `@` is not `1.n`.
    #[error("`{0}` is not an IIOP version; use `1.0@`, `1.1@` or `1.2@` before the host, or nothing")]
    BadVersion(String),
    /// The host is empty or its brackets are not closed.
    #[error("{} has no valid host; use `host`, `host:port` or `[ipv6]:port`", quoted(.0))]
    BadHost(String),
    /// The port is not a number from 1 to 65535.
    #[error("`{0}` is not a port; use a number from 1 to 65535")]
    BadPort(String),
    /// An address of a protocol without a default port has no port.
    #[error(
        "`{0}` has no port, which this protocol needs; add it, as in `corbaloc:ssliop:1.2@host:2810/Key`"
    )]
    NoPort(String),
    /// The key has a `%` without two hexadecimal digits, or a character that must be escaped.
    #[error(
        "malformed object key `{0}`; escape characters other than letters, digits and ;/:?@&=+$,-_.!~*'() \
         as %xx"
    )]
    BadKey(String),
    /// The text after the `#` has a `%` without two hexadecimal digits, a character that must be escaped, or
    /// is not UTF-8.
    #[error(
        "malformed name `{0}` in `corbaname:`; escape characters other than letters, digits and \
         ;/:?@&=+$,-_.!~*'() as %xx, in UTF-8: a `\\` is %5c"
    )]
    BadNameEscape(String),
    /// The text after the `#` is not a name.
    #[error("malformed name `{0}` in `corbaname:`: {1}")]
    BadName(String, NameError),
    /// The path after `file:` is not absolute, is on another host, or has a character that must be escaped.
    #[error("`{0}` is not the path of a file here; write `file:///absolute/path`, with a space as %20")]
    BadPath(String),
}

punctual_types::debug_as_display!(UrlError, HeaderError, FragmentError, CodeSetIncompatible);
