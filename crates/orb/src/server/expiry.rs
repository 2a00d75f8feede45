//! Check whether the deadline of a received request has passed.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use punctual_giop::{INVOCATION_POLICIES, ServiceContexts, decode_invocation_policies};

use crate::ExpiredRequests;

/// Returns whether the deadline of a request has passed under the given rule. Malformed deadlines are
/// ignored. A relative time starts when the request was read, since its transmission time is unknown; the
/// check is therefore never too strict. A request that was read just now has not waited.
pub(super) fn has_expired(
    rule: ExpiredRequests,
    contexts: ServiceContexts<'_>,
    read_at: Option<Instant>,
) -> bool {
    if rule == ExpiredRequests::Serve {
        return false;
    }
    let Some(policies) = contexts
        .find(INVOCATION_POLICIES)
        .and_then(|data| decode_invocation_policies(data).ok())
    else {
        return false;
    };
    let waited_too_long = || {
        let (wanted_for, read_at) = policies.wanted_for().zip(read_at)?;
        Some(read_at.elapsed() >= wanted_for)
    };
    let is_stale = || {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        Some(now >= policies.stale_from()?)
    };
    waited_too_long() == Some(true) || rule == ExpiredRequests::DropByClock && is_stale() == Some(true)
}
