//! Lanes as the ORB uses them: the types of `punctual_lane` with the ORB's request handler.

use crate::server::RequestDispatcher;

pub(crate) type Lane = punctual_lane::Lane<RequestDispatcher>;
pub(crate) type SharedConnection = punctual_lane::SharedConnection<RequestDispatcher>;
pub(crate) type BlockedThread = punctual_lane::BlockedThread<RequestDispatcher>;
pub(crate) type ReplyLane = punctual_lane::ReplyLane<RequestDispatcher>;
