//! Request buffer of a thread, which reuses the header of the previous request if the next one has the same.

use punctual_cdr::{CdrError, CodeSets, Encoder, Endian};
use punctual_giop::{
    MessageType, MessageWriter, ResponseFlags, ServiceContext, UTF_16, Version, char_set_id,
};
use punctual_lane::Acceptors;
use punctual_types::Priority;

use crate::interception::AddedContexts;

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
    pub(super) fn is_nothing(self) -> bool {
        !self.code_sets && self.listen_points_of.is_none()
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
pub(super) struct HeaderKind {
    /// [`Route::number`](super::Route::number), and the form in which it names the object.
    pub(super) route: (u64, u32),
    pub(super) response: ResponseFlags,
    /// Priority, if the request carries it.
    pub(super) priority: Option<Priority>,
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
    pub(super) fn repeat(
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
mod tests {
    use punctual_cdr::{CharSet, Encode};
    use punctual_giop::{
        OutgoingRequest, ServiceContext, TargetAddress, begin_body, encode_request, end_body,
    };

    use super::*;

    #[derive(Clone, Copy, Debug)]
    struct Spec {
        route: (u64, u32),
        response: ResponseFlags,
        priority: Option<i16>,
        operation: &'static str,
        argument: Option<i32>,
    }

    /// Writes a request whose header its kind determines, as for a reference.
    fn write(buffer: &mut RequestBuffer, id: u32, spec: Spec) -> Vec<u8> {
        let kind = HeaderKind {
            route: spec.route,
            response: spec.response,
            priority: spec.priority.map(|value| Priority::new(value).unwrap()),
        };
        let encoding = MessageEncoding {
            code_sets: CharSet::Utf8.into(),
            max_size: usize::MAX,
            max_nesting: 64,
        };
        let key = [spec.route.0 as u8, spec.route.1 as u8];
        let header = |encoder: &mut Encoder<'_>| {
            let context = spec.priority.map(ServiceContext::Priority);
            let request = OutgoingRequest {
                request_id: id,
                response: spec.response,
                target: TargetAddress::Key(&key),
                operation: spec.operation,
                contexts: context.as_slice(),
            };
            encode_request(encoder, Version::V1_2, &request)
        };
        let mut writer = buffer.repeat(kind, spec.operation, id, encoding, header).unwrap();
        let body = begin_body(writer.encoder(), Version::V1_2).unwrap();
        if let Some(argument) = spec.argument {
            argument.encode(writer.encoder()).unwrap();
        }
        end_body(writer.encoder(), body);
        writer.finish().unwrap();
        buffer.message().to_vec()
    }

    #[test]
    fn a_message_does_not_depend_on_the_previous_one() {
        let mut specs = Vec::new();
        for route in [(1, 0), (2, 0), (1, 1)] {
            for response in [ResponseFlags::WithTarget, ResponseFlags::None] {
                for priority in [None, Some(0), Some(7)] {
                    for operation in ["cube", "cub"] {
                        for argument in [None, Some(3)] {
                            specs.push(Spec {
                                route,
                                response,
                                priority,
                                operation,
                                argument,
                            });
                        }
                    }
                }
            }
        }
        let mut buffer = RequestBuffer::default();
        for &before in &specs {
            for (id, &spec) in (0..).zip(&specs) {
                write(&mut buffer, 99, before);
                let alone = write(&mut RequestBuffer::default(), id, spec);
                assert_eq!(write(&mut buffer, id, spec), alone, "{spec:?} after {before:?}");
            }
        }
    }

    #[test]
    fn a_header_is_forgotten_with_other_messages_and_after_errors() {
        let spec = Spec {
            route: (1, 0),
            response: ResponseFlags::WithTarget,
            priority: None,
            operation: "cube",
            argument: Some(3),
        };
        let mut buffer = RequestBuffer::default();
        let written = write(&mut buffer, 1, spec);
        buffer.clear().0.extend_from_slice(b"something else");
        assert_eq!(write(&mut buffer, 1, spec), written);
        let kind = HeaderKind {
            route: (2, 0),
            response: ResponseFlags::WithTarget,
            priority: None,
        };
        let too_short = MessageEncoding {
            code_sets: CharSet::Utf8.into(),
            max_size: 20,
            max_nesting: 64,
        };
        let failed = buffer.repeat(kind, "cube", 2, too_short, |encoder| "long".encode(encoder));
        assert!(failed.is_err());
        assert_eq!(write(&mut buffer, 1, spec), written);
    }
}
