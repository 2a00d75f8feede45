//! Waits for a turn, for a point in time, and the deadlines of operations.

use std::sync::Arc;

use punctual_orb::swap_call_deadline;
use punctual_sched::dynamic::Time;
use punctual_types::SystemException;
use scopeguard::ScopeGuard;

use super::{
    context::{ActivationState, with},
    interrupted_at_point,
};
use crate::{dispatcher, endsystem::Endsystem};

/// A scheduling point of the current thread without any other event.
pub(crate) fn pass(endsystem: &Arc<Endsystem>) -> Result<(), SystemException> {
    let point = with(|context| Ok::<_, SystemException>(context.active(endsystem)?.point()))?;
    endsystem.dispatcher.pass(point).map_err(interrupted_at_point)
}

/// Passes a scheduling point like [`pass`], if there is a current thread. Ends a [`poll`](super::poll).
pub(crate) fn pass_if_any(endsystem: &Arc<Endsystem>) -> Result<(), SystemException> {
    let exists = with(|context| {
        let Some(current) = context.current(endsystem) else {
            return false;
        };
        if matches!(current.activation.state, ActivationState::Polling) {
            current.activation.state = ActivationState::Active;
        }
        true
    });
    if exists { pass(endsystem) } else { Ok(()) }
}

/// Suspends the current thread until `wake`.
pub(crate) fn wait_until(endsystem: &Arc<Endsystem>, wake: Time) -> Result<(), SystemException> {
    let (point, gate) = with(|context| {
        let point = context.active(endsystem)?.point();
        Ok::<_, SystemException>((point, context.os_thread().gate))
    })?;
    let dispatcher = &endsystem.dispatcher;
    gate.close();
    dispatcher.wait(point).map_err(interrupted_at_point)?;
    let until = point.deadline.map_or(wake, |deadline| deadline.min(wake));
    while dispatcher::now() < until && dispatcher.interruption(point).is_none() {
        gate.pass((until != Time::NEVER).then(|| dispatcher::instant(until)));
    }
    dispatcher.pass(point).map_err(interrupted_at_point)
}

/// Bounds all waits and calls by a deadline, until the result is dropped.
#[must_use]
pub(crate) fn set_deadline(deadline: Time) -> ScopeGuard<(), impl FnOnce(())> {
    let (before, deadline) = with(|context| {
        let before = context.deadlines.len();
        let deadline = deadline.min(context.deadline());
        context.deadlines.push(deadline);
        (before, deadline)
    });
    let call_deadline = swap_call_deadline(Some(dispatcher::instant(deadline)));
    scopeguard::guard((), move |()| {
        with(|context| context.deadlines.truncate(before));
        swap_call_deadline(call_deadline);
    })
}

/// Returns the deadline of the current operation.
pub(crate) fn deadline() -> Time {
    with(|context| context.deadline())
}
