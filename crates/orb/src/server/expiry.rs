use std::time::{Duration, Instant, SystemTime};

use punctual_giop::{Deadline, INVOCATION_POLICIES, ServiceContexts, invocation_deadlines};

use crate::ExpiredRequests;

/// Whether the deadline of a request has passed, as far as that is to be looked at. Malformed ones are none.
pub(super) fn has_expired(
    rule: ExpiredRequests,
    contexts: ServiceContexts<'_>,
    read_at: Option<Instant>,
) -> bool {
    if rule == ExpiredRequests::Serve {
        return false;
    }
    let Some(data) = contexts.find(INVOCATION_POLICIES) else {
        return false;
    };
    let waited = read_at.map_or(Duration::ZERO, |read_at| read_at.elapsed());
    invocation_deadlines(data).any(|deadline| match deadline {
        Deadline::Within(time) => waited > time || time.is_zero(),
        Deadline::At(time) => rule == ExpiredRequests::DropByClock && SystemTime::now() > time,
    })
}
