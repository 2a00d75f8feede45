//! Interface between a lane and the layer above it.

use std::{any::Any, sync::Arc, time::Instant};

use punctual_cdr::CodeSets;
use punctual_flight::Link;
use punctual_giop::{ListenPoint, MessageHeader, Version};
use punctual_sched::NetworkPriorityMapping;
use punctual_transport::Peer;
use punctual_types::{Priority, SystemException};

use crate::{ConnectionId, LaneContext, QueueLimits};

/// Layer that handles the requests of lanes.
///
/// Lanes are generic over it, so the compiler sees the whole path of a request; nothing on it is called
/// through `dyn`.
pub trait RequestHandler: Send + Sync + Sized + 'static {
    /// Data that the handler keeps with each lane.
    type LaneData: Send + Sync;
    /// Data that the handler keeps with each connection over which a peer may call.
    type PeerData: Send + Sync;
    /// Purpose of a connection over which this side calls: which calls may share it.
    type Purpose: Send + Sync;
    /// Right to have a connection to a server open; dropped when the lane closes the connection.
    type Permit: Send;
    /// Memory that a thread keeps from request to request.
    type Buffers: Send;

    /// Creates the buffers of a thread.
    fn new_buffers(self: &Arc<Self>) -> Self::Buffers;

    /// Mapping of CORBA priorities to the marks of packets.
    fn network_priority_mapping(&self) -> &dyn NetworkPriorityMapping;

    /// Handles a request and writes the reply, if any, to `reply`.
    ///
    /// # Errors
    /// [`MessageError`] if the header of the request is malformed.
    fn handle_request(
        &self,
        lane: &LaneContext<Self::LaneData>,
        request: &RequestMessage<'_, Self>,
        buffers: &mut Self::Buffers,
        reply: &mut Vec<u8>,
    ) -> Result<Disposition, MessageError>;

    /// Answers a LocateRequest and writes the reply to `reply`.
    ///
    /// # Errors
    /// [`MessageError`] if the header of the request is malformed.
    fn handle_locate(
        &self,
        lane: &LaneContext<Self::LaneData>,
        request: &RequestMessage<'_, Self>,
        reply: &mut Vec<u8>,
    ) -> Result<(), MessageError>;

    /// Writes the reply to a request that the lane refuses. Returns whether its client waits for one.
    ///
    /// # Errors
    /// [`MessageError`] if the header of the request is malformed.
    fn refuse_request(
        &self,
        lane: &LaneContext<Self::LaneData>,
        request: &RequestMessage<'_, Self>,
        exception: &SystemException,
        reply: &mut Vec<u8>,
    ) -> Result<bool, MessageError>;

    /// Returns whether a request that was just put aside by [`Disposition::Hold`] should still be held.
    fn is_held(&self, request: &RequestMessage<'_, Self>) -> bool;

    /// Data for a connection from `peer`, accepted at an endpoint with this highest accepted priority.
    fn accepted(lane: &Self::LaneData, peer: Peer, highest_priority: Priority) -> Self::PeerData;

    /// Decides whether this side may call the peer of an accepted connection over it, which claims to serve
    /// requests for these addresses. Returns the purpose of such calls.
    fn accept_bidirectional(&self, peer: &Self::PeerData, points: &[ListenPoint]) -> Option<Self::Purpose>;

    /// Notes that an accepted connection is in use; [`Self::disconnected`] follows.
    fn connected(peer: &Self::PeerData);

    /// Notes that an accepted connection has been closed.
    fn disconnected(peer: &Self::PeerData);

    /// Prepares the calling thread to serve the lane, until the result is dropped.
    fn enter_lane(lane: &Self::LaneData) -> impl Drop;

    /// Separates requests that the calling thread serves while an upcall of its own waits from that upcall,
    /// until the result is dropped.
    fn set_apart() -> impl Drop;

    /// Releases what belongs to a lane whose last thread has ended.
    fn lane_ended(lane: &Self::LaneData);

    /// Drops the [`DeferredRequest`](crate::DeferredRequest) that its client has withdrawn. `false`: there is
    /// none with this id.
    fn cancel_deferred(lane: &Self::LaneData, connection: ConnectionId, request_id: u32) -> bool;

    /// Ends the kept requests whose deadlines have passed. Returns the next deadline.
    fn expire_deferred(lane: &Self::LaneData, now: Instant) -> Option<Instant>;

    /// Ends all kept requests, and admits no further one: the lane is stopping. Replies that other threads
    /// are sending have been sent when this returns.
    fn end_deferred(lane: &Self::LaneData);
}

/// Request or LocateRequest that a lane has received.
pub struct RequestMessage<'m, H: RequestHandler> {
    /// The whole message, fragments assembled.
    pub octets: &'m [u8],
    /// Header of the message.
    pub header: &'m MessageHeader,
    /// Offsets in the message at which fragments of GIOP 1.1 begin.
    pub fragment_starts: &'m [usize],
    /// Code sets of text and wide text on the connection.
    pub code_sets: CodeSets,
    /// Data of the connection.
    pub peer: &'m H::PeerData,
    /// Connection, for the flight recorder.
    pub link: Link,
    /// Time at which the request was read from its connection; `None`: just now.
    pub read_at: Option<Instant>,
    /// Whether [`Disposition::Redispatch`] is permitted: the request has not been in a queue yet.
    pub may_move: bool,
    pub(crate) connection: &'m dyn EarlyReplies,
}

impl<H: RequestHandler> RequestMessage<'_, H> {
    /// Sends a reply before the request is served, as SYNC_WITH_SERVER demands; its packets travel at this
    /// priority. [`Disposition::NoReply`] follows.
    ///
    /// Octets for which the socket has no room are kept, as those of any reply. A broken connection is
    /// detected at its next use; the request is served regardless.
    #[cold]
    pub fn reply_early(&self, handler: &H, reply: &[u8], priority: Option<Priority>) {
        let mapping = handler.network_priority_mapping();
        self.connection
            .reply_early(mapping, reply, self.header.version, priority);
    }
}

/// Connection to which a reply can be sent while its request is handled: an `Arc` of the lane's type.
pub(crate) trait EarlyReplies: Any {
    fn reply_early(
        &self,
        mapping: &dyn NetworkPriorityMapping,
        reply: &[u8],
        version: Version,
        priority: Option<Priority>,
    );
}

/// Action of the lane after a request.
#[derive(Clone, Copy, Debug)]
pub enum Disposition {
    /// Sends the reply that was written; its packets travel at this priority.
    Reply(Option<Priority>),
    /// No reply: the client expects none.
    NoReply,
    /// Keeps the request, which has not been served, until [`crate::Lane::release_held`]; refuses it with
    /// TRANSIENT if these limits leave no room. A thread that blocks in `read` keeps the request of its
    /// connection itself, and no limit counts it.
    Hold(QueueLimits),
    /// Passes the request, which has not been served, to another lane.
    Redispatch(Redispatch),
    /// Sends the reply to a request that has not been served, if there is one, as [`Self::Reply`] does, and
    /// charges the connection for it.
    NotExecuted(Option<Option<Priority>>, NotExecuted),
}

/// Why a message occupied a lane although no request was served.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NotExecuted {
    /// The request was refused: [`crate::LaneLimits::max_refused_requests`].
    Refused,
    /// The request was refused, and so would be each one of this peer: its connection is closed.
    NotAdmitted,
    /// The peer queried an object's location, or withdrew a request:
    /// [`crate::LaneLimits::max_unserved_messages`].
    Elsewhere,
}

/// Lane of the same pool that should serve a request instead, and the share of its queue that may be used for
/// it.
#[derive(Clone, Copy, Debug)]
pub struct Redispatch {
    /// Priority of that lane.
    pub priority: Priority,
    /// Limits of its queue for such requests.
    pub limits: QueueLimits,
}

/// The header of a message is malformed: the peer gets MessageError and loses its connection.
#[derive(Clone, Copy, Debug)]
pub struct MessageError;
