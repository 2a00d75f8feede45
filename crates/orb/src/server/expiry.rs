use std::time::{Instant, SystemTime, UNIX_EPOCH};

use punctual_giop::{INVOCATION_POLICIES, ServiceContexts, decode_invocation_policies};

use crate::ExpiredRequests;

/// Whether the deadline of a request has passed, as far as the rule looks at it. Malformed ones are none.
///
/// A relative time starts for us when the request was read: its way to us cannot be known, so this is never too strict. A request
/// that was read just now has not waited.
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
