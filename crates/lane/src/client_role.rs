//! State of a connection that this side opened.

use std::sync::atomic::{AtomicBool, Ordering};

use punctual_cdr::CodeSets;
use punctual_os::PiMutex;

use crate::{ReplyTable, RequestHandler};

/// State of a connection over which this side calls: one that it opened, or a bidirectional one.
pub(crate) struct ClientRole<H: RequestHandler> {
    pub(crate) purpose: H::Purpose,
    /// Released when the lane closes the connection, even if callers still refer to it.
    pub(crate) permit: PiMutex<Option<H::Permit>>,
    pub(crate) code_sets: CodeSets,
    /// The code sets were negotiated, and no request has announced them to the server yet.
    pub(crate) announces_code_sets: AtomicBool,
    /// The peer may send requests, but no request has announced yet for which addresses.
    pub(crate) announces_listen_points: AtomicBool,
    /// Set if the peer may send requests.
    pub(crate) serves: Option<H::PeerData>,
    /// The peer has opened it.
    pub(crate) is_accepted: bool,
    pub(crate) replies: ReplyTable,
    /// A write has failed: the connection is closed as soon as no octets are left to read.
    pub(crate) write_failed: AtomicBool,
}

impl<H: RequestHandler> ClientRole<H> {
    pub(crate) fn has_write_failed(&self) -> bool {
        self.write_failed.load(Ordering::SeqCst)
    }
}
