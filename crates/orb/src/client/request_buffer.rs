//! A thread's requests: the next one often begins as the last one did.

use punctual_cdr::{CdrError, CharSet, Encoder, Endian};
use punctual_giop::{MessageType, MessageWriter, ResponseFlags, Version};
use punctual_types::Priority;

/// The octets of the last request, whose header the next one keeps where it would be the same.
#[derive(Default)]
pub(super) struct RequestBuffer {
    octets: Vec<u8>,
    head: Option<Head>,
    /// The operation of the header that is kept.
    operation: String,
}

/// A header that is still in the buffer.
struct Head {
    end: usize,
    kind: HeaderKind,
}

/// What a header follows from, besides request id and operation.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) struct HeaderKind {
    /// [`Route::number`](super::Route::number), and the form in which it names the object.
    pub(super) route: (u64, u32),
    pub(super) response: ResponseFlags,
    /// Where it travels along.
    pub(super) priority: Option<Priority>,
}

impl RequestBuffer {
    /// The message.
    pub(super) fn message(&self) -> &[u8] {
        &self.octets
    }

    /// For a message of another kind.
    pub(super) fn clear(&mut self) -> &mut Vec<u8> {
        self.head = None;
        self.octets.clear();
        &mut self.octets
    }

    /// Starts a request of GIOP 1.2 that follows from `kind` alone: keeps the header if it is the last one's, else lets `write`
    /// write it.
    #[inline]
    pub(super) fn repeat(
        &mut self,
        kind: HeaderKind,
        operation: &str,
        request_id: u32,
        (char_set, limit): (CharSet, usize),
        write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
    ) -> Result<MessageWriter<'_>, CdrError> {
        if let Some(head) = &self.head
            && head.kind == kind
            && self.operation == operation
        {
            let kept = head.end;
            return Ok(MessageWriter::repeat_request(
                &mut self.octets,
                kept,
                request_id,
                char_set,
                limit,
            ));
        }
        self.operation.clear();
        self.operation.push_str(operation);
        self.head = None;
        let mut writer = start(&mut self.octets, Version::V1_2, (char_set, limit));
        let encoder = writer.encoder();
        write(encoder)?;
        self.head = Some(Head {
            end: encoder.position(),
            kind,
        });
        Ok(writer)
    }

    /// Starts any request; `write` writes its header.
    pub(super) fn begin(
        &mut self,
        version: Version,
        limits: (CharSet, usize),
        write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
    ) -> Result<MessageWriter<'_>, CdrError> {
        self.head = None;
        let mut writer = start(&mut self.octets, version, limits);
        write(writer.encoder())?;
        Ok(writer)
    }
}

fn start(octets: &mut Vec<u8>, version: Version, (char_set, limit): (CharSet, usize)) -> MessageWriter<'_> {
    octets.clear();
    MessageWriter::new(
        octets,
        version,
        MessageType::Request,
        Endian::NATIVE,
        char_set,
        limit,
    )
}
