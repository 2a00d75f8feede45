//! The wait for the reply to an asynchronous call, when its caller polls or waits.

use std::{sync::Arc, time::Instant};

use punctual_giop::connection::ReceivedReply;
use punctual_lane::{CallDeadlines, Outcome, ReplyBuffer, ReplyWait, Ticket};
use punctual_stub::{Call, WaitMode};
use punctual_types::{Completion, SystemException};

use super::sending::SentRequest;
use crate::{
    WaitStrategy,
    client::{
        attempts::Attempt, call_context::CallContext, call_end::broken, call_frame::CallFrame,
        reference::Reference, reply_view::ReplyView, shared::serve_until_over,
    },
    lane::{BlockedThread, Lane, SharedConnection},
};

impl Reference {
    /// Takes the reply. `None`: it has not arrived; the waker is registered, or the time is over.
    pub(super) fn poll_reply(
        &self,
        sent: &mut SentRequest,
        lane: &Arc<Lane>,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        context: CallContext<'_>,
        mode: WaitMode<'_>,
    ) -> Result<Attempt<Option<()>>, SystemException> {
        let SentRequest {
            ticket,
            shared,
            route,
            ..
        } = sent;
        let request_id = ticket.as_ref().ok_or_else(broken)?.request_id;
        let CallFrame {
            shared: reply_buffer,
            seen,
            ..
        } = frame;
        let reply_buffer = reply_buffer.get_or_insert_default();
        let Some(outcome) = wait(lane, shared, ticket, reply_buffer, context, mode)? else {
            return Ok(Attempt::Done(None));
        };
        match self.conclude(lane, shared, request_id, outcome)? {
            Attempt::Done(ReceivedReply { header, body, .. }) => {
                let char_set = shared.code_sets().char;
                let view = ReplyView::of_shared(shared.purpose(), char_set, reply_buffer, &header);
                self.show_reply(seen, &view, body);
                let attempt = self.decode_reply(view, body, route, call)?;
                Ok(attempt.map(Some))
            }
            Attempt::Again(error) => Ok(Attempt::Again(error)),
            Attempt::Forward(ior) => Ok(Attempt::Forward(ior)),
        }
    }
}

/// Waits for the end of a call; leaves the ticket in its place unless the call has ended.
fn wait(
    lane: &Arc<Lane>,
    shared: &SharedConnection,
    place: &mut Option<Ticket>,
    reply_buffer: &mut ReplyBuffer,
    context: CallContext<'_>,
    mode: WaitMode<'_>,
) -> Result<Option<Outcome>, SystemException> {
    let replies = &shared.replies();
    let is_unsent = || shared.is_congested();
    let wait = context.wait(&is_unsent);
    // Before the ticket is taken out: wakers are user code, and if one panics, the call can still be
    // abandoned.
    if let (WaitMode::Wake(waker), Some(ticket)) = (mode, place.as_ref()) {
        replies.wake_when_ended(ticket, waker, wait.deadlines);
        watch(lane, shared, wait.deadlines);
    }
    let ticket = place.take().ok_or_else(broken)?;
    let ticket = match replies.wait_until(Some(Instant::now()), ticket, &wait, reply_buffer) {
        Ok(outcome) => return Ok(Some(outcome)),
        Err(ticket) => ticket,
    };
    let WaitMode::Until(deadline) = mode else {
        *place = Some(ticket);
        return Ok(None);
    };
    // The waker of a task that waited before: it remains registered if this wait ends without a reply.
    let notification = replies.suspend_notification(&ticket);
    let strategy = context.policies.wait_strategy;
    let (ticket, refused) = match block(lane, shared, ticket, reply_buffer, (&wait, strategy), deadline) {
        Ok(outcome) => return Ok(Some(outcome)),
        Err(unfinished) => unfinished,
    };
    if let Some(deadlines) = replies.resume_notification(&ticket, notification) {
        // They may have been checked while no waker was registered.
        watch(lane, shared, deadlines);
    }
    *place = Some(ticket);
    refused.map_or(Ok(None), Err)
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
