//! Fast decoding of requests whose header repeats that of the previous request.

use alloc::{string::String, vec::Vec};

use punctual_cdr::{CdrError, Endian};

use crate::{
    MessageHeader, RT_CORBA_PRIORITY, RequestHeader, ResponseFlags, ServiceContexts, Target, Version,
    decode_priority, tagged_list::TaggedList,
};

/// Decodes requests and remembers the header of the last one. Clients usually repeat object, operation and
/// service contexts, so that only the request id differs, and nothing else of the header needs to be decoded
/// again.
///
/// Only headers of GIOP 1.2 with an object key and at most [`LastRequest::LONGEST`] octets are remembered.
#[derive(Debug, Default)]
pub struct LastRequest {
    /// Octets after the request id up to the end of the service contexts; empty if nothing is remembered.
    head: Vec<u8>,
    endian: Option<Endian>,
    response: Option<ResponseFlags>,
    key_length: usize,
    operation: String,
    first_context: usize,
    contexts: u32,
    priority: Option<Result<i16, CdrError>>,
}

/// A request decoded by [`LastRequest::decode`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IncomingRequest<'a> {
    /// Header of the request.
    pub header: RequestHeader<'a>,
    /// Offset of its body.
    pub body: usize,
    /// The client's priority if the request states it (untrusted), or an error if it is malformed.
    pub priority: Option<Result<i16, CdrError>>,
}

impl LastRequest {
    /// Maximal size of a remembered header in octets.
    pub const LONGEST: usize = 512;

    /// Creates a decoder that does not allocate afterwards.
    pub fn new() -> Self {
        Self {
            head: Vec::with_capacity(Self::LONGEST),
            operation: String::with_capacity(Self::LONGEST),
            ..Self::default()
        }
    }

    /// Decodes a request, with the result of [`RequestHeader::decode`].
    pub fn decode<'a>(
        &'a mut self,
        message: &'a [u8],
        header: &MessageHeader,
    ) -> Result<IncomingRequest<'a>, CdrError> {
        if self.is_repeated_by(message, header) {
            return Ok(self.repeated_by(message, header));
        }
        self.decode_in_full(message, header)
    }

    fn is_repeated_by(&self, message: &[u8], header: &MessageHeader) -> bool {
        let end = HEAD + self.head.len();
        header.version == Version::V1_2
            && self.endian == Some(header.endian)
            && end <= header.total_size()
            && message.get(HEAD..end) == Some(&*self.head)
    }

    fn repeated_by<'a>(&'a self, message: &'a [u8], header: &MessageHeader) -> IncomingRequest<'a> {
        let id = [message[12], message[13], message[14], message[15]];
        let end = HEAD + self.head.len();
        let contexts =
            TaggedList::seen_before(&message[..end], self.first_context, self.contexts, header.endian);
        let request = RequestHeader {
            request_id: match header.endian {
                Endian::Big => u32::from_be_bytes(id),
                Endian::Little => u32::from_le_bytes(id),
            },
            response: self.response.unwrap_or(ResponseFlags::None),
            target: Target::Key(&message[KEY..KEY + self.key_length]),
            operation: &self.operation,
            contexts: ServiceContexts::of(contexts),
        };
        IncomingRequest {
            header: request,
            body: end.next_multiple_of(8).min(header.total_size()),
            priority: self.priority,
        }
    }

    #[inline(never)]
    fn decode_in_full<'a>(
        &mut self,
        message: &'a [u8],
        header: &MessageHeader,
    ) -> Result<IncomingRequest<'a>, CdrError> {
        let (request, body) = RequestHeader::decode(message, header)?;
        let priority = request.contexts.find(RT_CORBA_PRIORITY).map(decode_priority);
        self.remember(message, header, &request, priority);
        Ok(IncomingRequest {
            header: request,
            body,
            priority,
        })
    }

    fn remember(
        &mut self,
        message: &[u8],
        header: &MessageHeader,
        request: &RequestHeader<'_>,
        priority: Option<Result<i16, CdrError>>,
    ) {
        self.endian = None;
        let list = request.contexts.list();
        let (Target::Key(key), Some(head)) = (request.target, message.get(HEAD..list.end())) else {
            return;
        };
        if header.version != Version::V1_2 || head.len() > Self::LONGEST {
            return;
        }
        self.head.clear();
        self.head.extend_from_slice(head);
        self.operation.clear();
        self.operation.push_str(request.operation);
        self.response = Some(request.response);
        self.key_length = key.len();
        (self.first_context, self.contexts) = (list.first(), request.contexts.len() as u32);
        self.priority = priority;
        self.endian = Some(header.endian);
    }
}

/// Offset of the compared octets: after the request id.
const HEAD: usize = 16;
/// Offset of the object key: after flags, disposition and length.
const KEY: usize = 28;
