//! State of a connection that several threads of a lane change: one word, so that each decision is one atomic
//! step.
//!
//! Sequentially consistent, because the lane's stop and the closing of connections build on the order of
//! these steps.

use std::sync::atomic::{AtomicU64, Ordering};

/// Phase in the life of a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Phase {
    /// Requests are read and replies are sent.
    Open,
    /// The peer has sent its last octet; replies may still be owed.
    PeerClosed,
    /// The lane has removed it.
    Closed,
}

/// Phase, number of requests in service, flags of special conditions, and in the upper half the number of
/// requests that have ended.
#[derive(Default)]
pub(crate) struct ConnectionState(AtomicU64);

/// One request that has ended.
const ENDED: u64 = 1 << 32;
const PEER_CLOSED: u64 = 1 << 31;
const CLOSED: u64 = 1 << 30;
/// A thread blocks in `read` for it; it is in no poller.
const DEDICATED: u64 = 1 << 29;
/// Messages wait because the socket has no room for them.
const CONGESTED: u64 = 1 << 28;
/// It waits to be served by another thread.
const HANDED_OVER: u64 = 1 << 27;
/// The peer has exhausted a budget: nothing more is served.
const EXHAUSTED: u64 = 1 << 26;
/// The lane works for it, and no request has been served meanwhile.
const UNSERVED: u64 = 1 << 25;
const REQUESTS: u64 = UNSERVED - 1;

impl ConnectionState {
    pub(crate) fn phase(&self) -> Phase {
        match self.get() {
            state if state & CLOSED != 0 => Phase::Closed,
            state if state & PEER_CLOSED != 0 => Phase::PeerClosed,
            _ => Phase::Open,
        }
    }

    /// Counts a request that will be served.
    pub(crate) fn begin_request(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// Counts a request that goes into a queue. The thread that has read it counts it out, too, which is no
    /// end.
    pub(crate) fn begin_queued_request(&self) {
        self.0.fetch_add(1_u64.wrapping_sub(ENDED), Ordering::SeqCst);
    }

    /// Counts a request out. `true`: it was the last one of a peer that has sent everything, and no reply
    /// waits to be sent.
    pub(crate) fn end_request(&self) -> bool {
        // One request less in service, and one more that has ended.
        let before = self.0.fetch_add(ENDED - 1, Ordering::SeqCst);
        before & (REQUESTS | PEER_CLOSED | CONGESTED) == PEER_CLOSED | 1
    }

    /// Returns the number of requests that have ended, modulo 2³².
    pub(crate) fn ended_requests(&self) -> u32 {
        (self.get() >> 32) as u32
    }

    /// Returns whether no more than this many requests are in service.
    pub(crate) fn serves_at_most(&self, requests: u64) -> bool {
        self.get() & REQUESTS <= requests
    }

    pub(crate) fn is_in_service(&self) -> bool {
        self.get() & REQUESTS != 0
    }

    /// Notes that the peer has sent its last octet. `true`: no request is in service.
    pub(crate) fn peer_closed(&self) -> bool {
        self.0.fetch_or(PEER_CLOSED, Ordering::SeqCst) & REQUESTS == 0
    }

    /// Notes that the lane has removed the connection.
    pub(crate) fn close(&self) {
        self.0.fetch_or(CLOSED, Ordering::SeqCst);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.phase() == Phase::Closed
    }

    /// Notes that one thread blocks in `read` for the connection from now on.
    pub(crate) fn dedicate(&self) {
        self.0.fetch_or(DEDICATED, Ordering::SeqCst);
    }

    pub(crate) fn is_dedicated(&self) -> bool {
        self.get() & DEDICATED != 0
    }

    /// Returns whether no thread that was woken for the connection may read it.
    pub(crate) fn is_closed_or_dedicated(&self) -> bool {
        self.get() & (CLOSED | DEDICATED) != 0
    }

    pub(crate) fn is_congested(&self) -> bool {
        self.get() & CONGESTED != 0
    }

    /// Notes that messages wait for room. `true`: it was noted before.
    pub(crate) fn set_congested(&self) -> bool {
        self.0.fetch_or(CONGESTED, Ordering::SeqCst) & CONGESTED != 0
    }

    /// Notes that nothing waits for room any longer.
    pub(crate) fn clear_congested(&self) {
        self.0.fetch_and(!CONGESTED, Ordering::SeqCst);
    }

    /// Notes that it waits to be served by another thread. `true`: it was noted before.
    pub(crate) fn set_handed_over(&self) -> bool {
        self.0.fetch_or(HANDED_OVER, Ordering::SeqCst) & HANDED_OVER != 0
    }

    pub(crate) fn is_handed_over(&self) -> bool {
        self.get() & HANDED_OVER != 0
    }

    /// Notes that a thread serves it now.
    pub(crate) fn clear_handed_over(&self) {
        self.0.fetch_and(!HANDED_OVER, Ordering::SeqCst);
    }

    /// Notes that the peer has exhausted a budget. `true`: it was noted before.
    pub(crate) fn set_exhausted(&self) -> bool {
        self.0.fetch_or(EXHAUSTED, Ordering::SeqCst) & EXHAUSTED != 0
    }

    pub(crate) fn is_exhausted(&self) -> bool {
        self.get() & EXHAUSTED != 0
    }

    /// Notes that the lane has worked for it although no request was served.
    pub(crate) fn set_unserved(&self) {
        self.0.fetch_or(UNSERVED, Ordering::SeqCst);
    }

    /// Notes that the lane has served a request for it.
    pub(crate) fn clear_unserved(&self) {
        self.0.fetch_and(!UNSERVED, Ordering::SeqCst);
    }

    #[inline(always)]
    pub(crate) fn is_unserved(&self) -> bool {
        self.get() & UNSERVED != 0
    }

    #[inline(always)]
    fn get(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_request_of_a_peer_that_has_closed_ends_the_connection() {
        let state = ConnectionState::default();
        state.begin_request();
        state.begin_request();
        assert!(!state.peer_closed(), "two requests are in service");
        assert!(!state.end_request());
        assert_eq!(state.phase(), Phase::PeerClosed);
        assert_eq!(state.ended_requests(), 1);
        assert!(state.end_request());
        assert_eq!(state.ended_requests(), 2);
        state.begin_request();
        state.begin_queued_request();
        assert!(!state.end_request());
        assert_eq!(state.ended_requests(), 2, "it waits in a queue");
        assert!(state.end_request());
        assert_eq!(state.ended_requests(), 3);
        state.close();
        assert_eq!(state.phase(), Phase::Closed);
    }

    #[test]
    fn a_connection_with_unsent_replies_is_not_ended() {
        let state = ConnectionState::default();
        state.begin_request();
        assert!(!state.set_congested());
        assert!(state.set_congested(), "again");
        assert!(!state.peer_closed());
        assert!(!state.end_request(), "its reply waits for room");
        state.clear_congested();
        assert!(!state.is_congested() && !state.is_in_service() && !state.is_dedicated());
        assert!(state.peer_closed(), "no reply is pending");
    }
}
