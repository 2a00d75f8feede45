//! Role of a connection: which side has opened it, and which sides may call over it.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering},
};

use punctual_cdr::{CharSet, CodeSets};
use punctual_giop::connection as giop;
use punctual_os::PiMutex;

use crate::{ConnectionData, ReplyTable};

/// Role of this side, by who has opened the connection.
pub(crate) enum Role<H: ConnectionData> {
    /// The peer, which sends requests.
    Server(AcceptedConnection<H>),
    /// This side, whose callers share it.
    Client(OpenedConnection<H>),
}

/// Properties of a connection that the peer has opened.
pub(crate) struct AcceptedConnection<H: ConnectionData> {
    pub(crate) peer: H::PeerData,
    /// Calls of this side, once the peer has made the connection bidirectional.
    pub(crate) callbacks: OnceLock<Arc<Calls<H>>>,
}

/// Properties of a connection that this side has opened.
pub(crate) struct OpenedConnection<H: ConnectionData> {
    pub(crate) calls: Arc<Calls<H>>,
    /// Released when the lane closes the connection, even if callers still refer to it.
    permit: PiMutex<Option<H::Permit>>,
    /// Set if the peer may send requests. The first request states for which addresses.
    pub(crate) serves: Option<H::PeerData>,
    /// The code sets were negotiated: the first request announces them.
    announces_code_sets: bool,
    /// The first request has been sent.
    has_announced: AtomicBool,
}

/// State of the calls of this side over a connection.
pub(crate) struct Calls<H: ConnectionData> {
    pub(crate) purpose: H::Purpose,
    pub(crate) code_sets: CodeSets,
    pub(crate) replies: ReplyTable,
    /// A write has failed: the connection is closed as soon as no octets are left to read.
    write_failed: AtomicBool,
}

impl<H: ConnectionData> Role<H> {
    pub(crate) fn accepted(peer: H::PeerData) -> Self {
        let callbacks = OnceLock::new();
        Self::Server(AcceptedConnection { peer, callbacks })
    }

    /// Returns the role in which the protocol of the connection begins.
    pub(crate) fn protocol(&self) -> giop::Role {
        match self {
            Self::Server(_) => giop::Role::Server,
            Self::Client(opened) if opened.serves.is_some() => giop::Role::Both,
            Self::Client(_) => giop::Role::Client,
        }
    }

    /// Returns the code set that this side announces, if the peer may send requests in it.
    pub(crate) fn announced_char_set(&self) -> Option<CharSet> {
        match self {
            Self::Client(opened) if opened.serves.is_some() => Some(opened.calls.code_sets.char),
            Self::Client(_) | Self::Server(_) => None,
        }
    }

    /// Notes that the connection is in the lane's table.
    pub(crate) fn connected(&self) {
        self.peer().into_iter().for_each(H::connected);
    }

    /// Returns the calls of this side, if it may call.
    pub(crate) fn calls(&self) -> Option<&Arc<Calls<H>>> {
        match self {
            Self::Client(opened) => Some(&opened.calls),
            Self::Server(accepted) => accepted.callbacks.get(),
        }
    }

    /// Returns the properties of the peer, if it may call.
    #[inline(always)]
    pub(crate) fn peer(&self) -> Option<&H::PeerData> {
        match self {
            Self::Server(accepted) => Some(&accepted.peer),
            Self::Client(opened) => opened.serves.as_ref(),
        }
    }

    /// Returns the connection's properties if this side has opened it.
    pub(crate) fn opened(&self) -> Option<&OpenedConnection<H>> {
        match self {
            Self::Client(opened) => Some(opened),
            Self::Server(_) => None,
        }
    }
}

impl<H: ConnectionData> OpenedConnection<H> {
    pub(crate) fn new(
        calls: &Arc<Calls<H>>,
        permit: H::Permit,
        serves: Option<H::PeerData>,
        announces_code_sets: bool,
    ) -> Self {
        Self {
            calls: Arc::clone(calls),
            permit: PiMutex::new(Some(permit)),
            serves,
            announces_code_sets,
            has_announced: AtomicBool::new(false),
        }
    }

    pub(crate) fn release_permit(&self) {
        drop(self.permit.lock().take());
    }

    /// Notes that a request has been sent.
    pub(crate) fn request_sent(&self) {
        self.has_announced.store(true, Ordering::Relaxed);
    }

    /// Returns whether the next request announces the code sets.
    pub(crate) fn announces_code_sets(&self) -> bool {
        self.announces_code_sets && !self.has_announced.load(Ordering::Relaxed)
    }

    /// Returns whether the next request states for which addresses this side serves requests.
    pub(crate) fn announces_listen_points(&self) -> bool {
        self.serves.is_some() && !self.has_announced.load(Ordering::Relaxed)
    }
}

impl<H: ConnectionData> Calls<H> {
    pub(crate) fn new(purpose: H::Purpose, code_sets: CodeSets, replies: ReplyTable) -> Arc<Self> {
        Arc::new(Self {
            purpose,
            code_sets,
            replies,
            write_failed: AtomicBool::new(false),
        })
    }

    pub(crate) fn note_write_failed(&self) {
        self.write_failed.store(true, Ordering::SeqCst);
    }

    pub(crate) fn has_write_failed(&self) -> bool {
        self.write_failed.load(Ordering::SeqCst)
    }
}
