//! Step 4 of a call: the request is encoded into the buffer of the thread, which keeps the header of the
//! previous request if the next one has the same.

use punctual_cdr::{CdrError, CodeSets, Encoder, Endian};
use punctual_giop::{
    MessageType, MessageWriter, OutgoingRequest, ResponseFlags, ServiceContext, UTF_16, Version, begin_body,
    char_set_id, encode_locate_request, encode_request, end_body,
};
use punctual_lane::Acceptors;
use punctual_stub::{Call, Phase, Response};
use punctual_types::{Completion, Detail, Minor, Priority, SystemException};

use super::{call_context::CallContext, connection::ClientConnection, reference::Reference, route::Route};
use crate::{
    config::bidirectional::listen_points,
    interception::{AddedContexts, with_contexts},
};

impl Reference {
    /// Encodes the request of a call into `buffer`.
    pub(super) fn encode_request(
        &self,
        route: &Route,
        priority: Priority,
        context: &CallContext<'_>,
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

/// The octets of the last request; the next one keeps the header if its own would be the same.
///
/// In GIOP 1.2, a request whose header would equal that of the thread's previous request keeps that header
/// in the buffer; only the request id is written. A lane thread remembers how its previous request began
/// (object key, operation, contexts; at most 512 octets) and recognises the next one by comparing octets.
/// `crates/giop/tests/giop/last_request.rs` compares both with the straightforward way.
#[derive(Default)]
pub(super) struct RequestBuffer {
    octets: Vec<u8>,
    head: Option<Head>,
    /// Operation of the kept header.
    operation: String,
    /// Service contexts that interceptors add.
    pub(super) added: AddedContexts,
}

/// How a request is encoded for one connection.
#[derive(Clone, Copy)]
pub(super) struct RequestEncoding<'l> {
    pub(super) request_id: u32,
    pub(super) code_sets: CodeSets,
    pub(super) announced: Announced<'l>,
}

/// Properties of the connection that the next request announces to the server.
#[derive(Clone, Copy)]
pub(super) struct Announced<'l> {
    /// The code sets.
    pub(super) code_sets: bool,
    /// The addresses of the lane that serves objects over the connection.
    pub(super) listen_points_of: Option<&'l Acceptors>,
}

impl Announced<'_> {
    fn is_nothing(self) -> bool {
        !self.code_sets && self.listen_points_of.is_none()
    }
}

impl RequestEncoding<'static> {
    /// Returns how the next request over an exclusive connection is encoded.
    pub(super) fn over_exclusive(connection: &mut ClientConnection) -> Self {
        let send = connection.send_half();
        Self {
            request_id: send.new_request_id(),
            announced: Announced {
                code_sets: send.announces_code_sets(),
                listen_points_of: None,
            },
            code_sets: connection.code_sets(),
        }
    }
}

impl RequestEncoding<'_> {
    /// Returns the service context that announces the code sets, if the request has to carry it.
    pub(super) fn announcement(&self) -> Option<ServiceContext<'static>> {
        self.announced.code_sets.then(|| ServiceContext::CodeSets {
            char: char_set_id(self.code_sets.char),
            wchar: UTF_16,
        })
    }
}

/// A header that is still in the buffer.
struct Head {
    end: usize,
    kind: HeaderKind,
}

/// Properties that determine a header, besides request id and operation.
#[derive(Clone, Copy, Eq, PartialEq)]
struct HeaderKind {
    /// [`Route::number`], and the form in which it names the object.
    route: (u64, u32),
    response: ResponseFlags,
    /// Priority, if the request carries it.
    priority: Option<Priority>,
}

/// How the values of a request are encoded, and the limits of its message.
#[derive(Clone, Copy)]
pub(super) struct MessageEncoding {
    pub(super) code_sets: CodeSets,
    /// Maximum size of the message.
    pub(super) max_size: usize,
    /// Maximum depth of values that contain each other.
    pub(super) max_nesting: u16,
}

impl RequestBuffer {
    /// Returns the message.
    pub(super) fn message(&self) -> &[u8] {
        &self.octets
    }

    /// Octets for which the buffer has memory.
    pub(super) fn capacity(&self) -> usize {
        self.octets.capacity()
    }

    /// Returns the empty buffer for a message of another kind, and the contexts that interceptors add.
    pub(super) fn clear(&mut self) -> (&mut Vec<u8>, &AddedContexts) {
        self.head = None;
        self.octets.clear();
        (&mut self.octets, &self.added)
    }

    /// Starts a request of GIOP 1.2 that `kind` determines, without contexts of interceptors: keeps the
    /// header of the last request if it is the same, otherwise lets `write` write it.
    #[inline]
    fn repeat(
        &mut self,
        kind: HeaderKind,
        operation: &str,
        request_id: u32,
        encoding: MessageEncoding,
        write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
    ) -> Result<MessageWriter<'_>, CdrError> {
        if let Some(head) = &self.head
            && head.kind == kind
            && self.operation == operation
        {
            let kept = head.end;
            let MessageEncoding {
                code_sets, max_size, ..
            } = encoding;
            let octets = &mut self.octets;
            let writer = MessageWriter::repeat_request(octets, kept, request_id, code_sets, max_size);
            return Ok(writer.with_nesting_limit(encoding.max_nesting));
        }
        self.operation.clear();
        self.operation.push_str(operation);
        self.head = None;
        let mut writer = start(&mut self.octets, Version::V1_2, encoding);
        let encoder = writer.encoder();
        write(encoder)?;
        self.head = Some(Head {
            end: encoder.position(),
            kind,
        });
        Ok(writer)
    }

    /// Starts any request; `write` writes its header with the contexts that interceptors add.
    pub(super) fn begin(
        &mut self,
        version: Version,
        encoding: MessageEncoding,
        write: impl FnOnce(&mut Encoder<'_>, &AddedContexts) -> Result<(), CdrError>,
    ) -> Result<MessageWriter<'_>, CdrError> {
        self.head = None;
        let mut writer = start(&mut self.octets, version, encoding);
        write(writer.encoder(), &self.added)?;
        Ok(writer)
    }
}

fn start(octets: &mut Vec<u8>, version: Version, encoding: MessageEncoding) -> MessageWriter<'_> {
    octets.clear();
    MessageWriter::new(
        octets,
        version,
        MessageType::Request,
        Endian::NATIVE,
        encoding.code_sets,
        encoding.max_size,
    )
    .with_nesting_limit(encoding.max_nesting)
}

#[cfg(test)]
mod tests;
