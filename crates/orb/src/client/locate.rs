//! Location of objects: LocateRequests, which follow the path of calls.

use std::ops::ControlFlow;

use punctual_cdr::Ior;
use punctual_giop::MessageType;
use punctual_types::SystemException;

use super::{
    attempts::Attempt, call_context::CallContext, call_frame::CallFrame, reference::Reference,
    reply::decode_locate_reply, route::Route,
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
        })
    }

    fn attempt_locate(
        &self,
        route: &Route,
        frame: &mut CallFrame,
        context: CallContext<'_>,
    ) -> Result<Attempt<bool>, SystemException> {
        if context.is_local(route) {
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
        let encoding = connection.request_encoding();
        self.encode_locate_request(route, &mut frame.request, encoding)?;
        if let Some(unsent) = self.send(&mut connection, frame.request.message(), context)? {
            return Ok(Attempt::Again(unsent));
        }
        let (wanted, request_id) = (MessageType::LocateReply, encoding.request_id);
        let (connection, reply) = match self.receive(connection, wanted, request_id, context)? {
            Ok(replied) => replied,
            Err(closed) => return Ok(Attempt::Again(closed)),
        };
        let located = decode_locate_reply(route, &connection.view(&reply));
        self.keep(connection);
        located
    }
}
