//! Connections of calls whose policies have bands: the server binds each to its band by the implicit request
//! `_bind_priority_band`.

use std::ops::ControlFlow;

use punctual_giop::{
    BIND_PRIORITY_BAND, MessageWriter, OutgoingRequest, ResponseFlags, ServiceContext, TAO_ORB_TYPE,
    connection::ReplyBody, encode_request,
};
use punctual_stub::{Call, Response};
use punctual_types::{Completion, SystemException, SystemExceptionKind};

use super::{
    call::{Attempt, CallFrame, Step},
    call_context::CallContext,
    connection::Band,
    connection_cache::PooledConnection,
    reference::Reference,
    reply::ReplyView,
    request::{MessageEncoding, RequestEncoding},
    route::Route,
};

impl Reference {
    /// Makes the server bind the connection to its band, unless it has none, is bound, or the server does not
    /// support this, as those of TAO.
    ///
    /// Fails as the server states, and as a call does; not completed, because no request of the caller was
    /// sent.
    #[inline(never)]
    pub(super) fn bind_band<R>(
        &self,
        connection: Box<PooledConnection>,
        route: &Route,
        frame: &mut CallFrame,
        context: &CallContext<'_>,
    ) -> Result<Step<Box<PooledConnection>, R>, SystemException> {
        match connection
            .unbound_band()
            .filter(|_| route.orb_type != TAO_ORB_TYPE)
        {
            None => Ok(ControlFlow::Continue(connection)),
            Some(band) => {
                let bound = self.bind_to(band, connection, route, frame, context);
                bound.map_err(|mut error| {
                    error.completed = Completion::No;
                    error
                })
            }
        }
    }

    #[cold]
    fn bind_to<R>(
        &self,
        band: Band,
        mut connection: Box<PooledConnection>,
        route: &Route,
        frame: &mut CallFrame,
        context: &CallContext<'_>,
    ) -> Result<Step<Box<PooledConnection>, R>, SystemException> {
        let _blocked = self.enter_wait(&mut connection, context)?;
        let (min, max) = band;
        let range = ServiceContext::PriorityRange { min, max };
        let encoding = RequestEncoding::over_exclusive(&mut connection);
        let both = encoding.announcement().map(|code_sets| [range, code_sets]);
        let only = [range];
        let contexts = both.as_ref().map_or(&only[..], |both| &both[..]);
        let request = OutgoingRequest {
            request_id: encoding.request_id,
            response: ResponseFlags::WithTarget,
            target: route.addressing.target(&route.object_key),
            operation: BIND_PRIORITY_BAND,
            contexts,
        };
        let settings = MessageEncoding {
            code_sets: encoding.code_sets,
            max_size: self.core.configuration.limits.max_message_size,
            max_nesting: self.core.configuration.limits.max_nesting,
        };
        let written = frame.request.begin(route.version, settings, |encoder, _| {
            encode_request(encoder, route.version, &request)
        });
        let written = written.and_then(MessageWriter::finish);
        let unsent = written.map_err(|error| error.system_exception(Completion::No));
        if let Err(error) = unsent.and_then(|()| context.deadlines.check_unsent()) {
            self.keep(connection);
            return Err(error);
        }
        let sent = self.send(&mut connection, frame.request.message(), context)?;
        if let ControlFlow::Break(unsent) = sent {
            return Ok(ControlFlow::Break(unsent));
        }
        connection.send_half().request_sent();
        let received = self.receive::<ReplyBody, _>(connection, request.request_id, context)?;
        let (mut connection, header, body) = match received {
            ControlFlow::Continue(replied) => replied,
            ControlFlow::Break(closed) => return Ok(ControlFlow::Break(closed)),
        };
        // It has no results and declares no exceptions.
        let mut call = Call {
            operation: BIND_PRIORITY_BAND,
            response: Response::WithTarget,
            perform: &mut |_| Ok(()),
            raised: &mut |_, _| Ok(false),
        };
        let view = ReplyView::of_exclusive(&connection, &header);
        let attempt = self.decode_reply(view, body, route, &mut call);
        let instead = match attempt {
            Ok(Attempt::Done(())) => {
                connection.is_bound = true;
                return Ok(ControlFlow::Continue(connection));
            }
            Err(error) if is_unknown(&error) => {
                connection.endpoint().set_binds_no_bands();
                return Ok(ControlFlow::Continue(connection));
            }
            Ok(Attempt::Forward(ior)) => Ok(ControlFlow::Break(Attempt::Forward(ior))),
            Ok(Attempt::Again(error)) => Ok(ControlFlow::Break(Attempt::Again(error))),
            Err(error) => Err(error),
        };
        self.keep(connection);
        instead
    }
}

/// Returns whether the server does not have the operation: most do not.
fn is_unknown(error: &SystemException) -> bool {
    matches!(
        error.kind,
        SystemExceptionKind::BadOperation | SystemExceptionKind::NoImplement
    )
}
