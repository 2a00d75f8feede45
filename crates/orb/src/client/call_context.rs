//! Step 1 of a call, its context: the policies in force, and the deadlines that follow from them.

use std::{
    cell::Cell,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use punctual_giop::InvocationPolicies;
use punctual_stub::{PoliciesInForce, Response, SyncScope};
use punctual_types::{Completion, ExceptionOrigin, Minor, SystemException, SystemExceptionKind};

/// Policies and deadlines of one call.
#[derive(Clone, Copy)]
pub(super) struct CallContext<'c> {
    pub(super) policies: &'c PoliciesInForce,
    pub(super) deadlines: Deadlines,
}

impl<'c> CallContext<'c> {
    /// Returns the context of a call under these policies, with timeouts that start now.
    #[inline]
    pub(super) fn start(policies: &'c PoliciesInForce) -> Self {
        Self {
            deadlines: Deadlines::start(policies),
            policies,
        }
    }

    /// Reply for which the caller waits: in a oneway call, the one that its scope demands.
    #[inline(always)]
    pub(super) fn response(&self, declared: Response) -> Response {
        match (declared, self.policies.sync_scope) {
            (Response::None, SyncScope::Server) => Response::WithServer,
            (Response::None, SyncScope::Target) => Response::WithTarget,
            _ => declared,
        }
    }

    /// Adds the operation to the text of an exception that names a peer, and its timeout if that has passed.
    #[cold]
    pub(super) fn named_in(&self, error: SystemException, operation: &str) -> SystemException {
        let Some(detail) = error.detail().filter(|_| error.origin() == ExceptionOrigin::Here) else {
            return error;
        };
        self.with_timeout(error.with_detail(&detail.in_operation(operation)))
    }

    /// Adds the timeout of the call, if that has passed, to the text of an exception that names a peer.
    #[cold]
    pub(super) fn with_timeout(&self, error: SystemException) -> SystemException {
        let timeout = match error.minor {
            Minor::REPLY_TIMED_OUT | Minor::REPLIES_LATE => self.deadlines.reply,
            Minor::REQUEST_TIMED_OUT => self.deadlines.request,
            _ => None,
        };
        match (timeout, error.detail()) {
            (Some(deadline), Some(detail)) => error.with_detail(&detail.after(deadline.timeout)),
            _ => error,
        }
    }

    /// Returns whether requests state their deadlines.
    pub(super) fn sends_deadlines(&self) -> bool {
        self.policies.sends_deadlines && self.deadlines.request.is_some()
    }

    /// Returns the timeouts in the form in which requests carry them, absolute ones by the clock of this
    /// host.
    pub(super) fn invocation_policies(&self) -> InvocationPolicies {
        let Deadlines { request, reply } = self.deadlines;
        let request = request.filter(|_| self.policies.request_timeout.is_some());
        let left = [request, reply].map(|deadline| deadline.map(|deadline| deadline.left()));
        // Read last: if the thread is interrupted in between, the server learns too late a time rather than
        // too early a one.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let [request_end, reply_end] = left.map(|left| left.map(|left| now + left));
        InvocationPolicies {
            request_end,
            reply_end,
            relative_request: self.policies.request_timeout,
            relative_roundtrip: self.policies.roundtrip_timeout,
        }
    }
}

thread_local! {
    static CALL_DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Ends calls that this thread begins from now on at `deadline` at the latest, regardless of their policies;
/// `None` removes the deadline. Returns the previous one, to be restored.
///
/// For runtimes that end operations in time, including their calls. It belongs to the thread, and applies to
/// all ORBs of the program. A call that it ends fails with TIMEOUT.
///
/// ```
/// use std::time::{Duration, Instant};
///
/// use punctual_orb::swap_call_deadline;
///
/// let before = swap_call_deadline(Some(Instant::now() + Duration::from_millis(20)));
/// assert_eq!(before, None);
/// // Calls.
/// swap_call_deadline(before);
/// ```
pub fn swap_call_deadline(deadline: Option<Instant>) -> Option<Instant> {
    CALL_DEADLINE.replace(deadline)
}

/// Deadlines for sending the request of a call and for receiving its reply.
#[derive(Clone, Copy, Default)]
pub(crate) struct Deadlines {
    /// RelativeRequestTimeout or the time left until [`Self::reply`], whichever ends earlier.
    pub(super) request: Option<Deadline>,
    /// RelativeRoundtripTimeout.
    pub(super) reply: Option<Deadline>,
}

/// A timeout of a hundred years counts as none: later points in time may not be representable.
pub(super) const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// A point in time, and the timeout that led to it.
#[derive(Clone, Copy)]
pub(super) struct Deadline {
    pub(super) at: Instant,
    pub(super) timeout: Duration,
}

impl Deadlines {
    /// Deadlines that count from now. Reads the clock only if a timeout is in force.
    #[inline]
    fn start(policies: &PoliciesInForce) -> Self {
        let (request, roundtrip) = (policies.request_timeout, policies.roundtrip_timeout);
        let of_thread = CALL_DEADLINE.get();
        if request.is_none() && roundtrip.is_none() && of_thread.is_none() {
            return Self::default();
        }
        Self::start_clock(request, roundtrip, of_thread)
    }

    #[inline(never)]
    fn start_clock(
        request: Option<Duration>,
        roundtrip: Option<Duration>,
        of_thread: Option<Instant>,
    ) -> Self {
        let now = Instant::now();
        let deadline = |timeout: Duration| {
            (timeout < FOREVER).then(|| Deadline {
                at: now + timeout,
                timeout,
            })
        };
        let reply = roundtrip.and_then(deadline);
        let request = match (request, roundtrip) {
            (Some(request), Some(roundtrip)) => deadline(request.min(roundtrip)),
            (Some(request), None) => deadline(request),
            (None, _) => reply,
        };
        let limited = |deadline: Option<Deadline>| match of_thread {
            Some(at) if deadline.is_none_or(|deadline| at < deadline.at) => Some(Deadline {
                at,
                timeout: at.saturating_duration_since(now),
            }),
            _ => deadline,
        };
        Self {
            request: limited(request),
            reply: limited(reply),
        }
    }

    /// Returns these deadlines, or those that end this long from now, whichever end earlier.
    pub(super) fn within(&self, timeout: Duration) -> Self {
        let latest = Deadline {
            at: Instant::now() + timeout,
            timeout,
        };
        let earlier = |deadline: Option<Deadline>| {
            let deadline = deadline.filter(|deadline| deadline.at < latest.at);
            Some(deadline.unwrap_or(latest))
        };
        Self {
            request: earlier(self.request),
            reply: earlier(self.reply),
        }
    }

    /// Returns the latest end of a call.
    pub(super) fn of(&self, response: Response) -> Option<Instant> {
        let deadline = match response {
            Response::None => self.request,
            Response::WithServer | Response::WithTarget => self.reply,
        };
        deadline.map(|deadline| deadline.at)
    }

    /// Fails with TIMEOUT if the deadline of the request, of which nothing has been sent, has passed.
    pub(super) fn check_unsent(&self) -> Result<(), SystemException> {
        match self.request {
            Some(deadline) if deadline.left().is_zero() => Err(SystemException::new(
                SystemExceptionKind::Timeout,
                Minor::REQUEST_TIMED_OUT,
                Completion::No,
            )),
            _ => Ok(()),
        }
    }

    /// Returns the shortest timeout.
    pub(super) fn shortest(&self) -> Option<Duration> {
        // That of the request is never longer than that of the reply.
        self.request.map(|deadline| deadline.timeout)
    }

    /// Fails with TIMEOUT if a call that ran on this thread, and could not be interrupted, took too long.
    pub(super) fn check_completed(&self) -> Result<(), SystemException> {
        match self.reply {
            Some(deadline) if deadline.left().is_zero() => Err(SystemException::new(
                SystemExceptionKind::Timeout,
                Minor::REPLY_TIMED_OUT,
                Completion::Yes,
            )),
            _ => Ok(()),
        }
    }
}

impl Deadline {
    /// Zero once it has passed.
    pub(super) fn left(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }
}
