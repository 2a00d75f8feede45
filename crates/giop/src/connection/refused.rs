//! Reasons for which a connection refuses received messages.

use core::time::Duration;

use punctual_cdr::CdrError;
use thiserror::Error;

use super::Role;
use crate::{FragmentError, HeaderError, MessageType, Version};

/// The peer has broken the protocol or exceeded a limit: send MessageError, then close the stream. For
/// [`Self::request_id`], a reply, and CloseConnection if no other request is being served.
#[derive(Clone, Copy, Eq, Error, PartialEq)]
#[error("{reason}")]
pub struct Refused {
    /// Reason for the refusal.
    pub reason: Refusal,
    /// Version in which to send MessageError: that of the message, or the highest supported one if its
    /// version is unknown; 1.0 if what was received is not GIOP.
    pub version: Version,
    /// Id of a request of GIOP 1.2 or later that expects a reply, but exceeds the limit on the size of
    /// messages: its client should receive the reply of [`write_too_large`](crate::write_too_large). `None`
    /// also if the id had not arrived with the message header.
    pub request_id: Option<u32>,
}

punctual_types::debug_as_display!(Refused, Refusal);

impl Refused {
    /// Returns whether the message exceeds the limit on the size of messages.
    pub fn is_too_large(&self) -> bool {
        self.reason.is_too_large()
    }

    /// Returns whether the octets begin as an alert of TLS (RFC 8446, 5.1) instead of a message.
    pub fn is_tls(&self) -> bool {
        const ALERT: u8 = 21;
        matches!(self.reason, Refusal::Header(HeaderError::BadMagic([ALERT, ..])))
    }

    /// Returns whether the octets are no message of GIOP: they do not begin with its magic.
    pub fn is_other_protocol(&self) -> bool {
        matches!(self.reason, Refusal::Header(HeaderError::BadMagic(_)))
    }
}

impl Refusal {
    pub(super) fn is_too_large(self) -> bool {
        matches!(
            self,
            Self::Header(HeaderError::TooLarge { .. }) | Self::Fragment(FragmentError::TooLarge(_))
        )
    }
}

/// Reason for which a received message is refused.
#[derive(Clone, Copy, Eq, Error, PartialEq)]
pub enum Refusal {
    /// The octets are not the header of an acceptable message.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// A fragment does not continue an earlier message, or exceeds a limit.
    #[error(transparent)]
    Fragment(#[from] FragmentError),
    /// The content of the message cannot be decoded.
    #[error("malformed {message_type:?} message: {error}")]
    Malformed {
        /// Type of the message.
        message_type: MessageType,
        /// Position and reason of the failure.
        error: CdrError,
    },
    /// The peer may not send such a message on this connection.
    #[error("unexpected {message_type:?} message (role of this side: {role:?})")]
    NotPermitted {
        /// Role of this side.
        role: Role,
        /// Type of the message.
        message_type: MessageType,
    },
    /// The rest of a message did not arrive in time.
    #[error("message incomplete after {0:?}; raise `message_completion` if the peer is that slow")]
    Incomplete(Duration),
}
