//! Step 6 of a call: the request is encoded.

use punctual_cdr::{CdrError, Encoder, Endian};
use punctual_giop::{
    MessageType, MessageWriter, OutgoingRequest, ResponseFlags, ServiceContext, Version, begin_body,
    encode_locate_request, encode_request, end_body,
};
use punctual_stub::{Call, Phase, Response};
use punctual_types::{Completion, Detail, Minor, Priority, SystemException};

use super::{
    call_context::CallContext,
    reference::Reference,
    request_buffer::{HeaderKind, MessageEncoding, RequestBuffer, RequestEncoding},
    route::Route,
};
use crate::{
    bidirectional::listen_points,
    interception::{AddedContexts, with_contexts},
};

impl Reference {
    /// Encodes the request of a call into `buffer`.
    pub(super) fn encode_request(
        &self,
        route: &Route,
        priority: Priority,
        context: CallContext<'_>,
        buffer: &mut RequestBuffer,
        call: &mut Call<'_>,
        encoding: RequestEncoding<'_>,
    ) -> Result<(), SystemException> {
        let RequestEncoding {
            request_id,
            code_sets,
            announced,
        } = encoding;
        let response = match context.response(call.response) {
            Response::None => ResponseFlags::None,
            Response::WithServer => ResponseFlags::WithServer,
            Response::WithTarget => ResponseFlags::WithTarget,
        };
        let sends_deadlines = context.sends_deadlines();
        let settings = MessageEncoding {
            code_sets,
            max_size: self.core.configuration.limits.max_message_size,
            max_nesting: self.core.configuration.limits.max_nesting,
        };
        let operation = call.operation;
        let header = |encoder: &mut Encoder<'_>, added: Option<&AddedContexts>| {
            let priority = ServiceContext::Priority(priority.value());
            let points = announced.listen_points_of.map_or_else(Vec::new, listen_points);
            let mut contexts = [priority; 4];
            let mut count = usize::from(route.propagates_priority());
            if let Some(announcement) = encoding.announcement() {
                contexts[count] = announcement;
                count += 1;
            }
            if sends_deadlines {
                contexts[count] = ServiceContext::InvocationPolicies(context.invocation_policies());
                count += 1;
            }
            if !points.is_empty() {
                contexts[count] = ServiceContext::ListenPoints(&points);
                count += 1;
            }
            let write = |contexts: &[ServiceContext<'_>]| {
                let request = OutgoingRequest {
                    request_id,
                    response,
                    target: route.addressing.target(&route.object_key),
                    operation,
                    contexts,
                };
                encode_request(encoder, route.version, &request)
            };
            with_contexts(&contexts[..count], added, write)
        };
        let as_before = buffer.added.is_empty() && announced.is_nothing() && !sends_deadlines;
        let repeats = route.version == Version::V1_2 && as_before;
        let writer = if repeats {
            let kind = HeaderKind {
                route: (route.number, route.addressing.form()),
                response,
                priority: route.propagates_priority().then_some(priority),
            };
            buffer.repeat(kind, operation, request_id, settings, |encoder| {
                header(encoder, None)
            })
        } else {
            buffer.begin(route.version, settings, |encoder, added| {
                header(encoder, Some(added))
            })
        };
        let written = writer.and_then(|mut writer| {
            let encoder = writer.encoder();
            let body = begin_body(encoder, route.version)?;
            (call.perform)(Phase::Arguments(encoder))?;
            end_body(encoder, body);
            writer.finish()
        });
        written.map_err(|error| self.not_encoded(&error))
    }

    /// Returns the exception for a request that could not be encoded.
    #[cold]
    fn not_encoded(&self, error: &CdrError) -> SystemException {
        let exception = error.system_exception(Completion::No);
        match exception.minor {
            Minor::MESSAGE_TOO_LARGE => {
                let limit = self.core.configuration.limits.max_message_size;
                exception.with_detail(&Detail::size_limit(limit))
            }
            _ => exception,
        }
    }

    /// Encodes a LocateRequest into `buffer`.
    pub(super) fn encode_locate_request(
        &self,
        route: &Route,
        buffer: &mut RequestBuffer,
        encoding: RequestEncoding<'_>,
    ) -> Result<(), SystemException> {
        let mut writer = MessageWriter::new(
            buffer.clear().0,
            route.version,
            MessageType::LocateRequest,
            Endian::NATIVE,
            encoding.code_sets,
            self.core.configuration.limits.max_message_size,
        );
        let target = route.addressing.target(&route.object_key);
        encode_locate_request(writer.encoder(), route.version, encoding.request_id, target)
            .and_then(|()| writer.finish())
            .map_err(|error| error.system_exception(Completion::No))
    }
}
