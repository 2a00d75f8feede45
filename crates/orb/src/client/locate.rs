use std::ops::ControlFlow;

use punctual_cdr::{Endian, Ior};
use punctual_giop::{
    LocateReplyHeader, LocateStatus, MessageHeader, MessageType, MessageWriter, encode_locate_request,
};
use punctual_types::{Completion, SystemException};

use super::{
    Reference, Route,
    attempts::Attempt,
    collocated,
    invoke::{Arrived, Speech, Terms, closed, readdress},
    request_buffer::RequestBuffer,
    thread_state::CallFrame,
};
use crate::ConnectionMode;

/// Where an object is.
pub(crate) enum Located {
    Nowhere,
    Here,
    There(Ior),
}

impl Reference {
    /// Asks where the object is, without going on to where it is forwarded.
    pub(crate) fn locate_once(&self) -> Result<Located, SystemException> {
        self.under_terms(|terms, frame| {
            self.deliver(|route, _| {
                Ok(match self.locate_anywhere(route, frame, terms)? {
                    Attempt::Done(true) => Attempt::Done(Located::Here),
                    Attempt::Done(false) => Attempt::Done(Located::Nowhere),
                    Attempt::Forward(ior) => Attempt::Done(Located::There(ior)),
                    Attempt::Again(error) => Attempt::Again(error),
                })
            })
        })
    }

    pub(super) fn locate_anywhere(
        &self,
        route: &Route,
        frame: &mut CallFrame,
        terms: Terms<'_>,
    ) -> Result<Attempt<bool>, SystemException> {
        if route.is_local {
            return Ok(Attempt::Done(collocated::locate(&self.core, route)));
        }
        self.locate_remotely(route, frame, terms)
    }

    fn locate_remotely(
        &self,
        route: &Route,
        frame: &mut CallFrame,
        terms: Terms<'_>,
    ) -> Result<Attempt<bool>, SystemException> {
        if terms.policies.connection_mode == ConnectionMode::Shared
            && !terms.policies.binds_bands
            && let Some(lane) = self.lane_for_reply(terms)?
        {
            return self.locate_over_shared(&lane, route, frame, terms);
        }
        let priority = self.caller_priority(route)?;
        let mut connection = self.connection(route, priority, terms)?;
        if terms.policies.binds_bands {
            connection = match self.bind_band(connection, route, frame, terms)? {
                ControlFlow::Continue(connection) => connection,
                ControlFlow::Break(instead) => return Ok(instead),
            };
        }
        let _blocked = self.enter_wait(&connection, terms)?;
        let speech = connection.speech();
        let request_id = speech.request_id;
        self.encode_locate(route, &mut frame.request, speech)?;
        if let Some(unsent) = self.send(&mut connection, frame.request.message(), terms)? {
            return Ok(Attempt::Again(unsent));
        }
        let answer = self.receive(connection, MessageType::LocateReply, request_id, terms)?;
        let Some((mut connection, Arrived { header, .. })) = answer else {
            return Ok(Attempt::Again(closed()));
        };
        let located = located(route, connection.message(&header), &header);
        connection.consume(&header);
        self.keep(connection);
        located
    }

    /// Writes the LocateRequest.
    pub(super) fn encode_locate(
        &self,
        route: &Route,
        buffer: &mut RequestBuffer,
        speech: Speech,
    ) -> Result<(), SystemException> {
        let mut writer = MessageWriter::new(
            buffer.clear().0,
            route.version,
            MessageType::LocateRequest,
            Endian::NATIVE,
            speech.char_set,
            self.core.limits.max_message_size,
        );
        encode_locate_request(
            writer.encoder(),
            route.version,
            speech.request_id,
            route.addressing.target(&route.object_key),
        )
        .and_then(|()| writer.finish())
        .map_err(|error| error.system_exception(Completion::No))
    }
}

/// What a LocateReply says.
pub(super) fn located(
    route: &Route,
    message: &[u8],
    header: &MessageHeader,
) -> Result<Attempt<bool>, SystemException> {
    let reply = LocateReplyHeader::decode(message, header).and_then(|reply| {
        Ok(match reply.status {
            LocateStatus::UnknownObject => Ok(Attempt::Done(false)),
            LocateStatus::ObjectHere => Ok(Attempt::Done(true)),
            LocateStatus::ObjectForward | LocateStatus::ObjectForwardPerm => {
                Ok(Attempt::Forward(reply.forward()?))
            }
            LocateStatus::SystemException => Err(reply.system_exception()?),
            LocateStatus::NeedsAddressingMode => readdress(route, reply.addressing_mode()?),
        })
    });
    reply.map_err(|error| error.system_exception(Completion::No))?
}
