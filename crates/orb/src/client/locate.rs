//! Location of objects: LocateRequests, which follow the path of calls.

use std::ops::ControlFlow;

use punctual_cdr::Ior;
use punctual_types::SystemException;

use super::{
    call::{Attempt, CallFrame},
    call_context::CallContext,
    reference::Reference,
    reply::{Location, ReplyView, decode_locate_reply},
    request::RequestEncoding,
    route::Route,
};

/// Location of an object.
pub(crate) enum Located {
    Nowhere,
    Here,
    There(Ior),
}

impl Reference {
    /// Locates the object, following forwards, and returns whether it exists.
    pub(super) fn locate_object(&self) -> Result<bool, SystemException> {
        self.with_call_context(|context, frame| {
            self.deliver(|route, _| self.attempt_locate(route, frame, context))
                .map_err(|error| context.with_timeout(error))
        })
    }

    /// Locates the object without following a forward.
    pub(crate) fn locate_once(&self) -> Result<Located, SystemException> {
        self.with_call_context(|context, frame| {
            self.deliver(|route, _| {
                Ok(match self.attempt_locate(route, frame, context)? {
                    Attempt::Done(true) => Attempt::Done(Located::Here),
                    Attempt::Done(false) => Attempt::Done(Located::Nowhere),
                    Attempt::Forward(ior) => Attempt::Done(Located::There(ior)),
                    Attempt::Again(error) => Attempt::Again(error),
                })
            })
            .map_err(|error| context.with_timeout(error))
        })
    }

    fn attempt_locate(
        &self,
        route: &Route,
        frame: &mut CallFrame,
        context: &CallContext<'_>,
    ) -> Result<Attempt<bool>, SystemException> {
        if route.is_collocated(context.policies) {
            return Ok(Attempt::Done(self.locate_locally(route)));
        }
        if let Some(lane) = self.lane_for_shared_call(context)? {
            return self.locate_over_shared(&lane, route, frame, context);
        }
        let priority = self.caller_priority(route)?;
        let mut connection = match self.bound_connection(route, priority, frame, context)? {
            ControlFlow::Continue(connection) => connection,
            ControlFlow::Break(instead) => return Ok(instead),
        };
        let _blocked = self.enter_wait(&mut connection, context)?;
        let encoding = RequestEncoding::over_exclusive(&mut connection);
        self.encode_locate_request(route, &mut frame.request, encoding)?;
        let sent = self.send(&mut connection, frame.request.message(), context)?;
        if let ControlFlow::Break(unsent) = sent {
            return Ok(unsent);
        }
        let received = self.receive::<Location, _>(connection, encoding.request_id, context)?;
        let (connection, header, Location) = match received {
            ControlFlow::Continue(replied) => replied,
            ControlFlow::Break(closed) => return Ok(closed),
        };
        let located = decode_locate_reply(route, &ReplyView::of_exclusive(&connection, &header));
        self.keep(connection);
        located
    }
}
