//! Calls whose callers do not wait: they go over shared connections, and a lane's thread that reads the reply wakes a task.
//!
//! System calls: one write of the caller. The lane's thread waits and reads, and whatever waking the task costs follows.

use std::{cell::Cell, ops::ControlFlow, sync::Arc, task::Poll, time::Instant};

use punctual_cdr::{CdrError, CdrErrorKind, CharSet, Encoder};
use punctual_flight::{Event, Record, operation_id, record};
use punctual_giop::MessageType;
use punctual_stub::{Call, Patience, PendingCall, Phase};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind as Kind};

use super::{
    Reference, Route,
    deadline::Deadlines,
    invoke::{Answer, Attempt, Attempts, Terms, broken},
    policies::Kept,
    shared::{Outgoing, serve_until_over},
    thread_state::{CallFrame, with_frame},
};
use crate::{
    WaitStrategy, current,
    lane::{
        Lane,
        replies::{Outcome, Reply, ReplyBuffer, Ticket},
        serving::{self, OwnLane},
        shared::SharedConnection,
    },
};

/// A call that is under way, and what it takes to send its request again.
struct Outstanding {
    sent: Option<Sent>,
    course: Course,
    policies: Kept,
    deadlines: Deadlines,
    reference: Arc<Reference>,
}

/// A request that waits for its reply.
struct Sent {
    ticket: Ticket,
    shared: SharedConnection,
    route: Arc<Route>,
    was_forwarded: bool,
}

/// What one attempt of a call leaves to the next.
#[derive(Default)]
struct Course {
    attempts: Attempts,
    /// Of the first request that left this process.
    origin: Option<Origin>,
    /// Once the caller has gone on, and they cannot be asked for any more.
    arguments: Option<Arguments>,
    /// They cannot be sent where the object is.
    is_misfit: bool,
}

/// The thread that made the call.
struct Origin {
    /// What reads the reply.
    lane: Arc<Lane>,
    /// What requests carry, where priorities are propagated.
    priority: Result<Priority, SystemException>,
}

/// Arguments as they stood in the request.
struct Arguments {
    octets: Box<[u8]>,
    place: Place,
}

/// What the octets of arguments follow from, besides the arguments.
#[derive(Clone, Copy, Eq, PartialEq)]
struct Place {
    /// Where they begin, from a multiple of 8.
    offset: usize,
    char_set: CharSet,
}

impl Reference {
    /// Sends a request and returns; with nothing where the call is over already.
    pub(super) fn start_call(
        self: Arc<Self>,
        call: &mut Call<'_>,
    ) -> Result<Option<Box<dyn PendingCall>>, SystemException> {
        record(|| {
            let priority = current::explicit_priority().map(Priority::value);
            Record::new(Event::CallBegin)
                .priority(priority)
                .detail(operation_id(call.operation))
        });
        let policies = self.policies.in_force(&self.core.policies);
        let deadlines = Deadlines::start(&policies);
        let terms = Terms {
            policies: &policies,
            deadlines,
        };
        let mut course = Course::default();
        let sent = with_frame(self.core.limits.max_nested_calls, |frame| {
            self.send_until_under_way(&mut course, frame, call, terms)
        });
        record(|| Record::new(Event::CallEnd).detail(sent.is_err().into()));
        let policies = policies.keep();
        Ok(sent?.map(|sent| {
            Box::new(Outstanding {
                sent: Some(sent),
                course,
                policies,
                deadlines,
                reference: self,
            }) as Box<dyn PendingCall>
        }))
    }

    /// `None`: the object is one of this ORB's, and the call is over.
    fn send_until_under_way(
        &self,
        course: &mut Course,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        terms: Terms<'_>,
    ) -> Result<Option<Sent>, SystemException> {
        loop {
            let forwarded = self.forwarded_to()?;
            let route = forwarded.as_ref().unwrap_or(&self.route);
            let attempt = self.send_once(course, route, frame, call, terms).map(|attempt| {
                attempt.map(|sent| {
                    let (ticket, shared) = sent?;
                    Some(Sent {
                        ticket,
                        shared,
                        route: Arc::clone(route),
                        was_forwarded: forwarded.is_some(),
                    })
                })
            });
            if course.is_misfit {
                let minor = Minor::MOVED_WHILE_ASYNCHRONOUS;
                return Err(SystemException::new(Kind::Transient, minor, Completion::No));
            }
            if let ControlFlow::Break(result) = self.judge(attempt, forwarded.is_some(), &mut course.attempts)
            {
                return result;
            }
        }
    }

    fn send_once(
        &self,
        course: &mut Course,
        route: &Route,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        terms: Terms<'_>,
    ) -> Result<Attempt<Option<(Ticket, SharedConnection)>>, SystemException> {
        let (written, misfit) = (Cell::new(None), Cell::new(false));
        let kept = course.arguments.as_ref();
        let Call { perform, raised, .. } = call;
        let mut perform = |phase: Phase<'_, '_>| match (phase, kept) {
            (Phase::Arguments(encoder), None) => {
                let place = Place::of(encoder);
                let start = encoder.position();
                perform(Phase::Arguments(encoder))?;
                written.set(Some((place, start..encoder.position())));
                Ok(())
            }
            (Phase::Arguments(encoder), Some(kept)) => kept.write(encoder).inspect_err(|_| misfit.set(true)),
            (results, _) => perform(results),
        };
        let call = &mut Call {
            operation: call.operation,
            response: call.response,
            perform: &mut perform,
            raised: &mut **raised,
        };
        if route.is_local {
            let attempt = self.call_locally(route, frame, call, terms);
            return attempt.map(|attempt| attempt.map(|()| None));
        }
        let origin = match &mut course.origin {
            Some(origin) => origin,
            origin => origin.insert(self.origin(terms)?),
        };
        let sent = self.send_from(origin, route, frame, call, terms);
        course.is_misfit = misfit.get();
        let sent = sent?;
        if let (Attempt::Done(_), Some((place, range))) = (&sent, written.take()) {
            // Without arguments, the request has no padding for them.
            let octets = frame.request.message().get(range).unwrap_or_default();
            let octets = octets.into();
            course.arguments = Some(Arguments { octets, place });
        }
        Ok(sent)
    }

    fn send_from(
        &self,
        origin: &Origin,
        route: &Route,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        terms: Terms<'_>,
    ) -> Result<Attempt<Option<(Ticket, SharedConnection)>>, SystemException> {
        let Origin { lane, priority } = origin;
        let priority = if route.propagates_priority() {
            (*priority)?
        } else {
            Priority::MIN
        };
        if !lane.reads_replies() {
            let minor = Minor::REPLY_THREADPOOL_ENDED;
            return Err(SystemException::new(Kind::CommFailure, minor, Completion::No));
        }
        let shared = self.shared_connection(lane, route, priority, terms)?;
        let outgoing = Outgoing {
            shared: &shared,
            lane,
            route,
            priority,
            terms,
        };
        let lent = frame.shared.get_or_insert_default();
        let sent = self.send_over(
            &outgoing,
            Some(MessageType::Reply),
            &mut frame.request,
            lent,
            |buffer, speech| self.encode(route, priority, terms, buffer, call, speech),
        )?;
        Ok(sent.map(|ticket| Some((ticket?, shared))))
    }

    /// Fails with INV_POLICY where no lane may read the reply.
    fn origin(&self, terms: Terms<'_>) -> Result<Origin, SystemException> {
        if terms.policies.binds_bands {
            let minor = Minor::BANDS_BOUND_ASYNCHRONOUSLY;
            return Err(SystemException::new(Kind::InvPolicy, minor, Completion::No));
        }
        let own = current::thread_priority(&self.core);
        let lane = match serving::own_lane_for_reply(own, terms.policies.wait_strategy) {
            // Nobody waits yet.
            OwnLane::Reads(lane, _) => lane,
            OwnLane::None => self.lane_of_reply_pool(own)?,
            OwnLane::CannotRead => match (self.lane_of_reply_pool(own), serving::own_lane(own)) {
                (Ok(lane), _) | (Err(_), Some(lane)) => lane,
                (Err(error), None) => return Err(error),
            },
        };
        Ok(Origin {
            lane,
            priority: current::transformed(own),
        })
    }

    fn go_on(
        &self,
        outstanding: (&mut Option<Sent>, &mut Course),
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        terms: Terms<'_>,
        patience: Patience<'_>,
    ) -> Poll<Result<(), SystemException>> {
        let (sent, course) = outstanding;
        loop {
            let (Some(under_way), Some(Origin { lane, .. })) = (sent.take(), &course.origin) else {
                return Poll::Ready(Err(broken()));
            };
            let Sent {
                ticket,
                shared,
                route,
                was_forwarded,
            } = under_way;
            let request_id = ticket.request_id;
            let lent = frame.shared.get_or_insert_default();
            let outcome = match wait(lane, &shared, ticket, lent, terms, patience) {
                Waited::Over(outcome) => outcome,
                Waited::Deadlock(error) => return Poll::Ready(Err(error)),
                Waited::NotYet(ticket) => {
                    *sent = Some(Sent {
                        ticket,
                        shared,
                        route,
                        was_forwarded,
                    });
                    return Poll::Pending;
                }
            };
            let attempt = match self.conclude(lane, &shared, request_id, outcome) {
                Ok(Attempt::Done(Reply { header, reply })) => {
                    let answer = Answer {
                        message: &lent.message[..header.total_size()],
                        header: &header,
                        fragment_starts: &lent.fragment_starts,
                        char_set: shared.opened.char_set,
                    };
                    self.decode_reply(answer, reply, &route, call)
                }
                Ok(Attempt::Again(error)) => Ok(Attempt::Again(error)),
                Ok(Attempt::Forward(ior)) => Ok(Attempt::Forward(ior)),
                Err(error) => Err(error),
            };
            if let ControlFlow::Break(result) = self.judge(attempt, was_forwarded, &mut course.attempts) {
                return Poll::Ready(result);
            }
            match self.send_until_under_way(course, frame, call, terms) {
                Ok(Some(again)) => *sent = Some(again),
                Ok(None) => return Poll::Ready(Ok(())),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

/// What a look at a call, or a wait for it, came to.
enum Waited {
    Over(Outcome),
    NotYet(Ticket),
    /// It was not waited for, and is taken back.
    Deadlock(SystemException),
}

impl From<Result<Outcome, Ticket>> for Waited {
    fn from(waited: Result<Outcome, Ticket>) -> Self {
        waited.map_or_else(Self::NotYet, Self::Over)
    }
}

fn wait(
    lane: &Arc<Lane>,
    shared: &SharedConnection,
    ticket: Ticket,
    lent: &mut ReplyBuffer,
    terms: Terms<'_>,
    patience: Patience<'_>,
) -> Waited {
    let replies = &shared.opened.replies;
    let is_unsent = || shared.is_congested();
    let wait = terms.wait(&is_unsent);
    let until = match patience {
        Patience::Wake(waker) => {
            replies.wake_when_over(&ticket, waker, wait.time_outs);
            let unsent = wait.time_outs.unsent.filter(|_| shared.is_congested());
            if let Some(at) = unsent.or(wait.time_outs.reply) {
                lane.watch_deadline(at);
            }
            return replies
                .wait_until(Some(Instant::now()), ticket, &wait, lent)
                .into();
        }
        Patience::Until(until) => until,
    };
    replies.wake_nobody(&ticket);
    let ticket = match replies.wait_until(Some(Instant::now()), ticket, &wait, lent) {
        Ok(outcome) => return Waited::Over(outcome),
        Err(unfinished) => unfinished,
    };
    let _blocked = match (terms.policies.wait_strategy, until) {
        (WaitStrategy::Serving, _) => {
            serve_until_over(shared, &ticket, &wait, until);
            replies.wake_nobody(&ticket);
            None
        }
        (WaitStrategy::Blocking, None) => match serving::enter_wait_for(lane) {
            Ok(blocked) => blocked,
            Err(error) => {
                replies.abandon(&ticket);
                let completed = Completion::Maybe;
                return Waited::Deadlock(SystemException { completed, ..error });
            }
        },
        (WaitStrategy::Blocking, Some(_)) => None,
    };
    replies.wait_until(until, ticket, &wait, lent).into()
}

impl PendingCall for Outstanding {
    fn advance(&mut self, call: &mut Call<'_>, patience: Patience<'_>) -> Poll<Result<(), SystemException>> {
        let Self {
            sent,
            course,
            policies,
            deadlines,
            reference,
        } = self;
        let terms = Terms {
            policies: reference.policies.kept(policies),
            deadlines: *deadlines,
        };
        let step = with_frame(reference.core.limits.max_nested_calls, |frame| {
            Ok(reference.go_on((sent, course), frame, call, terms, patience))
        });
        step.unwrap_or_else(|error| Poll::Ready(Err(error)))
    }
}

/// Before the reference, which closes private connections that nobody uses.
impl Drop for Outstanding {
    fn drop(&mut self) {
        if let Some(Sent { ticket, shared, .. }) = self.sent.take() {
            shared.opened.replies.abandon(&ticket);
        }
    }
}

impl Place {
    fn of(encoder: &Encoder<'_>) -> Self {
        Self {
            offset: encoder.position() % 8,
            char_set: encoder.char_set(),
        }
    }
}

impl Arguments {
    /// Fails where they would look different.
    fn write(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        if self.octets.is_empty() || self.place == Place::of(encoder) {
            encoder.octets(&self.octets)
        } else {
            Err(encoder.error(CdrErrorKind::ValueNotRepresentable))
        }
    }
}
