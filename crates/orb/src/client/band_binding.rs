//! Binding banded connections at the server: the implicit request `_bind_priority_band`.

use std::ops::ControlFlow;

use punctual_giop::{
    BIND_PRIORITY_BAND, MessageType, MessageWriter, OutgoingRequest, ResponseFlags, ServiceContext,
    encode_request,
};
use punctual_stub::{Call, Response};
use punctual_types::{Completion, SystemException, SystemExceptionKind};

use super::{
    Reference, Route,
    attempts::Attempt,
    connection::ClientConnection,
    connection_cache::Band,
    invoke::{Terms, closed},
    thread_state::CallFrame,
};

/// The connection to go on with, or what becomes of the call instead.
type Binding<R> = ControlFlow<Attempt<R>, Box<ClientConnection>>;

impl Reference {
    /// Has the server bind the connection to its band, unless it has none, is bound, or the server does not know how.
    ///
    /// Fails as the server says, and as a call does; not completed, because no request of the caller has left.
    pub(super) fn bind_band<R>(
        &self,
        connection: Box<ClientConnection>,
        route: &Route,
        frame: &mut CallFrame,
        terms: Terms<'_>,
    ) -> Result<Binding<R>, SystemException> {
        match connection.unbound_band().filter(|_| !route.is_of_tao) {
            None => Ok(ControlFlow::Continue(connection)),
            Some(band) => {
                let bound = self.bind_to(band, connection, route, frame, terms);
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
        (min, max): Band,
        mut connection: Box<ClientConnection>,
        route: &Route,
        frame: &mut CallFrame,
        terms: Terms<'_>,
    ) -> Result<Binding<R>, SystemException> {
        let _blocked = self.enter_wait(&connection, terms)?;
        let range = ServiceContext::PriorityRange { min, max };
        let contexts = [range, connection.code_sets()];
        let contexts = if connection.announces_code_sets {
            &contexts[..]
        } else {
            &contexts[..1]
        };
        let request = OutgoingRequest {
            request_id: connection.new_request_id(),
            response: ResponseFlags::WithTarget,
            target: route.addressing.target(&route.object_key),
            operation: BIND_PRIORITY_BAND,
            contexts,
        };
        let limits = (connection.char_set, self.core.limits.max_message_size);
        let written = frame.request.begin(route.version, limits, |encoder, _| {
            encode_request(encoder, route.version, &request)
        });
        let written = written.and_then(MessageWriter::finish);
        let unsent = written.map_err(|error| error.system_exception(Completion::No));
        if let Err(error) = unsent.and_then(|()| terms.deadlines.check_unsent()) {
            self.keep(connection);
            return Err(error);
        }
        if let Some(unsent) = self.send(&mut connection, frame.request.message(), terms)? {
            return Ok(ControlFlow::Break(Attempt::Again(unsent)));
        }
        connection.announces_code_sets = false;
        let answer = self.receive(connection, MessageType::Reply, request.request_id, terms)?;
        let Some((mut connection, arrived)) = answer else {
            return Ok(ControlFlow::Break(Attempt::Again(closed())));
        };
        // No results, and no exceptions of its own.
        let mut call = Call {
            operation: BIND_PRIORITY_BAND,
            response: Response::WithTarget,
            perform: &mut |_| Ok(()),
            raised: &mut |_, _| Ok(false),
        };
        let attempt = self.decode_reply(connection.answer(&arrived), arrived.reply, route, &mut call);
        connection.consume(&arrived.header);
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

/// Whether the server does not have the operation: most do not.
fn is_unknown(error: &SystemException) -> bool {
    matches!(
        error.kind,
        SystemExceptionKind::BadOperation | SystemExceptionKind::NoImplement
    )
}
