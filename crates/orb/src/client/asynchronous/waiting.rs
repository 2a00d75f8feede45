//! The wait for the reply to an asynchronous call, when its caller polls or waits.

use std::{ops::ControlFlow, sync::Arc, time::Instant};

use punctual_lane::{CallDeadlines, Outcome, ReplyBuffer, ReplyWait, Ticket};
use punctual_stub::{Call, WaitMode};
use punctual_types::{Completion, SystemException};

use scopeguard::ScopeGuard;

use super::sending::{SentRequest, Way};
use crate::{
    WaitStrategy,
    client::{
        call::{Attempt, CallFrame},
        call_context::CallContext,
        reference::Reference,
        reply::ReplyView,
        shared::serve_until_over,
    },
    pools::lane::{BlockedThread, Lane, SharedConnection},
};

/// A call that has been polled.
pub(super) enum Polled {
    /// The reply was taken.
    Replied,
    /// The reply has not arrived; the waker is registered, or the time is over.
    Waiting(SentRequest),
}

impl Reference {
    /// Takes the reply, if it has arrived or arrives in time. An error ends the call.
    pub(super) fn poll_reply(
        &self,
        sent: SentRequest,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        context: &CallContext<'_>,
        mode: WaitMode<'_>,
    ) -> Result<Attempt<Polled>, SystemException> {
        let CallFrame {
            shared: reply_buffer,
            seen,
            ..
        } = frame;
        let reply_buffer = reply_buffer.get_or_insert_default();
        let request_id = sent.0.request_id;
        let (outcome, way) = match wait(sent, reply_buffer, context, mode)? {
            Waited::Over(outcome, way) => (outcome, way),
            Waited::Unfinished(sent) => return Ok(Attempt::Done(Polled::Waiting(sent))),
        };
        let Way {
            shared, lane, route, ..
        } = &way;
        match self.conclude(lane, shared, request_id, outcome)?.into_step() {
            ControlFlow::Continue((header, body)) => {
                let char_set = shared.code_sets().char;
                let view = ReplyView::of_shared(shared.purpose(), char_set, reply_buffer, &header);
                self.show_reply(seen, &view, body);
                let attempt = self.decode_reply(view, body, route, call)?;
                Ok(attempt.map(|()| Polled::Replied))
            }
            ControlFlow::Break(instead) => Ok(instead),
        }
    }
}

/// Result of a wait for the end of a call.
enum Waited {
    Over(Outcome, Way),
    Unfinished(SentRequest),
}

/// Waits for the end of a call. Fails if it cannot be waited for.
fn wait(
    sent: SentRequest,
    reply_buffer: &mut ReplyBuffer,
    context: &CallContext<'_>,
    mode: WaitMode<'_>,
) -> Result<Waited, SystemException> {
    if let WaitMode::Wake(waker) = mode {
        let (ticket, Way { shared, lane, .. }) = &*sent;
        let is_unsent = || shared.is_congested();
        let deadlines = context.wait(&is_unsent).deadlines;
        shared.replies().wake_when_ended(ticket, waker, deadlines);
        watch(lane, shared, deadlines);
    }
    let (ticket, way) = ScopeGuard::into_inner(sent);
    let Way { shared, lane, .. } = &way;
    let replies = shared.replies();
    let is_unsent = || shared.is_congested();
    let wait = context.wait(&is_unsent);
    let ticket = match replies.wait_until(Some(Instant::now()), ticket, &wait, reply_buffer) {
        Ok(outcome) => return Ok(Waited::Over(outcome, way)),
        Err(ticket) => ticket,
    };
    let WaitMode::Until(deadline) = mode else {
        return Ok(Waited::Unfinished(way.await_reply(ticket)));
    };
    // The waker of a task that waited before: it remains registered if this wait ends without a reply.
    let notification = replies.suspend_notification(&ticket);
    let strategy = context.policies.wait_strategy;
    let (ticket, refused) = match block(lane, shared, ticket, reply_buffer, (&wait, strategy), deadline) {
        Ok(outcome) => return Ok(Waited::Over(outcome, way)),
        Err(unfinished) => unfinished,
    };
    if let Some(deadlines) = replies.resume_notification(&ticket, notification) {
        // They may have been checked while no waker was registered.
        watch(lane, shared, deadlines);
    }
    let sent = way.await_reply(ticket);
    refused.map_or(Ok(Waited::Unfinished(sent)), Err)
}

fn watch(lane: &Lane, shared: &SharedConnection, CallDeadlines { reply, unsent }: CallDeadlines) {
    if let Some(at) = unsent.filter(|_| shared.is_congested()).or(reply) {
        lane.watch_deadline(at);
    }
}

/// A call that has not ended, and the reason if it cannot be waited for.
type Unfinished = (Ticket, Option<SystemException>);

fn block(
    lane: &Arc<Lane>,
    shared: &SharedConnection,
    ticket: Ticket,
    reply_buffer: &mut ReplyBuffer,
    (wait, strategy): (&ReplyWait<'_>, WaitStrategy),
    deadline: Option<Instant>,
) -> Result<Outcome, Unfinished> {
    let replies = &shared.replies();
    // The request is under way.
    let refused = |error: SystemException| Some(error.with_completion(Completion::Maybe));
    if deadline.is_none()
        && wait.deadlines.reply.is_none()
        && let Err(error) = shared.purpose().ensure_served()
    {
        return Err((ticket, refused(error)));
    }
    let _blocked = match (strategy, deadline) {
        (WaitStrategy::Serving, _) => {
            serve_until_over(shared, &ticket, wait, deadline);
            None
        }
        (WaitStrategy::Blocking, None) => match BlockedThread::enter_wait_for_reply(lane) {
            Ok(blocked) => blocked,
            Err(error) => return Err((ticket, refused(error))),
        },
        // Its time is limited.
        (WaitStrategy::Blocking, Some(_)) => None,
    };
    replies
        .wait_until(deadline, ticket, wait, reply_buffer)
        .map_err(|ticket| (ticket, None))
}
