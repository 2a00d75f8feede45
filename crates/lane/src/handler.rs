//! Interface between a lane (steps 5 and 6 of a call) and the layer above it (steps 7 and 8).

use std::{sync::Arc, time::Instant};

use punctual_cdr::CodeSets;
use punctual_flight::Link;
use punctual_giop::{ListenPoint, MessageHeader};
use punctual_sched::NetworkPriorityMapping;
use punctual_transport::Peer;
use punctual_types::{Priority, SystemException};

use crate::{
    ConnectionData, ConnectionId, LaneContext, NotExecuted, QueueLimits, connections::connection::Connection,
};

/// Layer that handles the requests of lanes.
///
/// Lanes are generic over it, so the compiler sees the path of a request through lane and handler; only the
/// stream is called through `dyn`.
pub trait RequestHandler: ConnectionData {
    /// Data that the handler keeps with each lane.
    type LaneData: Send + Sync;
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
    pub(crate) connection: &'m Arc<Connection<H>>,
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
