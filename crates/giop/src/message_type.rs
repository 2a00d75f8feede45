//! Types of messages. Source: CORBA 3.3 part 2, 9.4.1.

use crate::Version;

/// The kind of a message, `GIOP::MsgType`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[repr(u8)]
pub enum MessageType {
    /// Calls an operation.
    Request = 0,
    /// Replies to a Request.
    Reply = 1,
    /// The sender no longer waits for a reply.
    CancelRequest = 2,
    /// Queries the location of an object.
    LocateRequest = 3,
    /// Replies to a LocateRequest.
    LocateReply = 4,
    /// Closes the connection in an orderly way: requests without a reply have not been executed.
    CloseConnection = 5,
    /// The sender did not understand a message.
    MessageError = 6,
    /// Continues a message; since 1.1.
    Fragment = 7,
}

impl MessageType {
    /// Returns the type that the octet means in this version.
    pub const fn from_wire(value: u8, version: Version) -> Option<Self> {
        Some(match value {
            0 => Self::Request,
            1 => Self::Reply,
            2 => Self::CancelRequest,
            3 => Self::LocateRequest,
            4 => Self::LocateReply,
            5 => Self::CloseConnection,
            6 => Self::MessageError,
            7 if version.minor > 0 => Self::Fragment,
            _ => return None,
        })
    }

    /// Returns whether fragments can follow a message of this type. Source: CORBA 3.3 part 2, 9.4.9.
    pub const fn can_be_fragmented(self, version: Version) -> bool {
        match self {
            Self::Request | Self::Reply | Self::Fragment => version.minor >= 1,
            Self::LocateRequest | Self::LocateReply => version.minor >= 2,
            _ => false,
        }
    }
}
