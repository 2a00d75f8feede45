//! Events that a connection reports to its user, message by message.

use crate::{MessageHeader, ReplyStatus};

/// Result of [`ReceiveHalf::poll`](super::ReceiveHalf::poll).
///
/// The octets of a message with a header are available from
/// [`ReceiveHalf::message`](super::ReceiveHalf::message) or [`ReceiveHalf::take`](super::ReceiveHalf::take)
/// until the next poll. Fragments are reassembled: the header is that of the whole message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Event {
    /// A request. Its header is not decoded yet: the receiver does this once, with its own
    /// [`crate::LastRequest`].
    Request(MessageHeader),
    /// A LocateRequest, not decoded yet.
    LocateRequest(MessageHeader),
    /// A Reply or LocateReply.
    Reply(ReceivedReply),
    /// The client has withdrawn this request. If only part of it had been received, that part has been
    /// discarded.
    Cancelled(u32),
    /// The next message states for which addresses the peer serves requests on this connection:
    /// [`ReceiveHalf::accept_bidirectional`](super::ReceiveHalf::accept_bidirectional). Without it, the
    /// connection remains as it is. Reported once, if it is
    /// [awaited](super::ReceiveHalf::awaiting_bidirectional_offer).
    BidirectionalOffer,
    /// The peer has closed the connection gracefully: it has not executed outstanding requests.
    CloseConnection,
    /// The peer did not understand a message of this side.
    MessageError,
    /// A message was consumed that needs no action: part of a fragmented message, a CancelRequest to a
    /// client, or a request received after this side has sent CloseConnection, which tells the client that
    /// the request is not executed.
    Progress,
}

/// A Reply or LocateReply, as far as it is decoded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReceivedReply {
    /// Header of the message.
    pub header: MessageHeader,
    /// Request that it answers.
    pub request_id: u32,
    /// The part behind the request id.
    pub content: ReplyContent,
}

/// Content of a reply, by its kind.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ReplyContent {
    /// Reply to a Request.
    Reply(ReplyBody),
    /// LocateReply: [`crate::LocateReplyHeader`] decodes it.
    LocateReply,
}

/// Body of a Reply.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReplyBody {
    /// Its kind.
    pub status: ReplyStatus,
    /// Its offset in the message.
    pub offset: usize,
}
