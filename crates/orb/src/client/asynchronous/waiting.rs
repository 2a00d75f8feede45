//! What becomes of an asynchronous call whose caller comes for the reply.

use std::{sync::Arc, time::Instant};

use punctual_stub::{Call, Patience};
use punctual_types::{Completion, SystemException};

use super::sending::Sent;
use crate::{
    WaitStrategy,
    client::{
        Reference,
        invoke::{Answer, Attempt, Terms, broken},
        shared::serve_until_over,
        thread_state::CallFrame,
    },
    lane::{
        Lane,
        replies::{Outcome, Reply, ReplyBuffer, Ticket, Wait},
        serving,
        shared::SharedConnection,
    },
};

impl Reference {
    /// Takes the reply. `None`: it is not there; then the waker is known, or the time is over.
    pub(super) fn look(
        &self,
        sent: &mut Sent,
        lane: &Arc<Lane>,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        terms: Terms<'_>,
        patience: Patience<'_>,
    ) -> Result<Attempt<Option<()>>, SystemException> {
        let Sent {
            ticket,
            shared,
            route,
            ..
        } = sent;
        let taken = ticket.take().ok_or_else(broken)?;
        let request_id = taken.request_id;
        let CallFrame {
            shared: lent, seen, ..
        } = frame;
        let lent = lent.get_or_insert_default();
        let outcome = match wait(lane, shared, taken, lent, terms, patience) {
            Ok(outcome) => outcome,
            Err((unfinished, refused)) => {
                *ticket = Some(unfinished);
                return refused.map_or(Ok(Attempt::Done(None)), Err);
            }
        };
        match self.conclude(lane, shared, request_id, outcome)? {
            Attempt::Done(Reply { header, reply }) => {
                let answer = Answer {
                    message: &lent.message[..header.total_size()],
                    header: &header,
                    fragment_starts: &lent.fragment_starts,
                    char_set: shared.opened.char_set,
                };
                self.let_see(seen, &answer, reply.map(|(_, body)| body));
                let attempt = self.decode_reply(answer, reply, route, call)?;
                Ok(attempt.map(Some))
            }
            Attempt::Again(error) => Ok(Attempt::Again(error)),
            Attempt::Forward(ior) => Ok(Attempt::Forward(ior)),
        }
    }
}

/// A call that is not over, and why it cannot be waited for, where that is so.
type Unfinished = (Ticket, Option<SystemException>);

fn wait(
    lane: &Arc<Lane>,
    shared: &SharedConnection,
    ticket: Ticket,
    lent: &mut ReplyBuffer,
    terms: Terms<'_>,
    patience: Patience<'_>,
) -> Result<Outcome, Unfinished> {
    let replies = &shared.opened.replies;
    let is_unsent = || shared.is_congested();
    let wait = terms.wait(&is_unsent);
    match patience {
        Patience::Wake(waker) => {
            replies.wake_when_over(&ticket, waker, wait.time_outs);
            let unsent = wait.time_outs.unsent.filter(|_| shared.is_congested());
            if let Some(at) = unsent.or(wait.time_outs.reply) {
                lane.watch_deadline(at);
            }
        }
        Patience::Until(_) => replies.wake_nobody(&ticket),
    }
    let looked = replies.wait_until(Some(Instant::now()), ticket, &wait, lent);
    match (looked, patience) {
        (Ok(outcome), _) => Ok(outcome),
        (Err(ticket), Patience::Wake(_)) => Err((ticket, None)),
        (Err(ticket), Patience::Until(until)) => block(
            lane,
            shared,
            ticket,
            lent,
            (&wait, terms.policies.wait_strategy),
            until,
        ),
    }
}

fn block(
    lane: &Arc<Lane>,
    shared: &SharedConnection,
    ticket: Ticket,
    lent: &mut ReplyBuffer,
    (wait, strategy): (&Wait<'_>, WaitStrategy),
    until: Option<Instant>,
) -> Result<Outcome, Unfinished> {
    let replies = &shared.opened.replies;
    let _blocked = match (strategy, until) {
        (WaitStrategy::Serving, _) => {
            serve_until_over(shared, &ticket, wait, until);
            replies.wake_nobody(&ticket);
            None
        }
        (WaitStrategy::Blocking, None) => match serving::enter_wait_for(lane) {
            Ok(blocked) => blocked,
            Err(error) => {
                // The request is under way.
                let completed = Completion::Maybe;
                return Err((ticket, Some(SystemException { completed, ..error })));
            }
        },
        // It gives up by itself.
        (WaitStrategy::Blocking, Some(_)) => None,
    };
    replies
        .wait_until(until, ticket, wait, lent)
        .map_err(|ticket| (ticket, None))
}
