//! Waiting for one's turn, for a time, and no longer than an operation may take.

use std::{sync::Arc, time::Instant};

use punctual_orb::swap_call_limit;
use punctual_sched::dynamic::Time;
use punctual_types::SystemException;

use super::{innermost_of, interrupted_at_point, with};
use crate::{dispatcher, endsystem::Endsystem};

/// A scheduling point of the current thread without news.
pub(crate) fn pass(endsystem: &Arc<Endsystem>) -> Result<(), SystemException> {
    let visitor = with(|here| innermost_of(here, endsystem, None))?;
    endsystem.dispatcher.pass(visitor).map_err(interrupted_at_point)
}

/// Waits, out of the ready ones, until `wake` or for ever; says whether something else opened the gate before. Comes back to the
/// ready ones with [`pass`].
pub(crate) fn wait_until(endsystem: &Arc<Endsystem>, wake: Time) -> Result<(), SystemException> {
    let (visitor, gate) = with(|here| {
        let visitor = innermost_of(here, endsystem, None)?;
        Ok::<_, SystemException>((visitor, here.carrier().gate))
    })?;
    let dispatcher = &endsystem.dispatcher;
    gate.close();
    dispatcher.wait(visitor).map_err(interrupted_at_point)?;
    let until = visitor.limit.map_or(wake, |limit| limit.min(wake));
    while dispatcher::now() < until && dispatcher.interruption(visitor).is_none() {
        gate.pass((until != Time::NEVER).then(|| dispatcher::instant(until)));
    }
    dispatcher.pass(visitor).map_err(interrupted_at_point)
}

/// From here on no wait and no call takes longer than until then; the result restores what was before.
pub(crate) fn limit(until: Time) -> Limited {
    with(|here| {
        let before = here.limits.len();
        let outer = here.limits.last().copied().unwrap_or(Time::NEVER);
        let until = until.min(outer);
        here.limits.push(until);
        Limited {
            before,
            call_limit: swap_call_limit(Some(dispatcher::instant(until))),
        }
    })
}

/// Until when the current operation may take.
pub(crate) fn present_limit() -> Time {
    with(|here| here.limits.last().copied().unwrap_or(Time::NEVER))
}

/// Restores the limit before.
pub(crate) struct Limited {
    before: usize,
    call_limit: Option<Instant>,
}

impl Drop for Limited {
    fn drop(&mut self) {
        with(|here| here.limits.truncate(self.before));
        swap_call_limit(self.call_limit);
    }
}
