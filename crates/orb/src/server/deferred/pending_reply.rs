//! A reply that is owed: what it takes to write and send it on any thread.

use punctual_cdr::{CodeSets, Decoder, Endian};
use punctual_giop::{
    MessageType, MessageWriter, ReplyStatus, ResponseFlags, ServiceContext, Version, encode_reply_header,
};
use punctual_lane::{DeferredRequest, MessageError};
use punctual_os::scheduling;
use punctual_stub::{Outcome, ReusePool, Upcall, WriteReply};
use punctual_types::Priority;

use super::super::{
    RequestDispatcher,
    reply::{ReplyHeaderAt, fail, finish},
};
use crate::{
    Limits,
    config::configuration::Configuration,
    interception::{AddedContexts, with_contexts},
};

/// Request whose reply is owed. Dropped without a reply, it is at its end.
pub(super) struct PendingReply {
    pub(super) request: DeferredRequest<RequestDispatcher>,
    pub(super) request_id: u32,
    pub(super) version: Version,
    pub(super) code_sets: CodeSets,
    /// The client waits for the reply.
    pub(super) is_awaited: bool,
    /// CORBA priority of its upcall.
    pub(super) priority: Option<Priority>,
}

/// Memory of a reply, and the service contexts that are known before it is written.
#[derive(Default)]
pub(super) struct ReplyMemory {
    reply: Vec<u8>,
    /// Contexts of interceptors.
    pub(super) contexts: AddedContexts,
    /// The context of the ORB itself.
    echo: Option<Echo>,
}

/// A service context that fits: longer ones are not priorities.
struct Echo {
    id: u32,
    data: [u8; 8],
    length: usize,
}

impl ReplyMemory {
    pub(super) fn keep_echo(&mut self, context: Option<ServiceContext<'_>>) {
        self.echo = match context {
            Some(ServiceContext::Raw { id, data }) if data.len() <= 8 => {
                let mut octets = [0; 8];
                octets[..data.len()].copy_from_slice(data);
                Some(Echo {
                    id,
                    data: octets,
                    length: data.len(),
                })
            }
            _ => None,
        };
    }

    pub(super) fn free_large(&mut self, max_kept: usize) {
        if self.reply.capacity() > max_kept {
            self.reply = Vec::new();
        }
    }
}

impl PendingReply {
    pub(super) fn is_awaited(&self) -> bool {
        self.is_awaited && self.request.is_open()
    }

    pub(super) fn count_unanswered(&self) {
        self.request.count_unanswered();
    }

    /// Writes and sends the reply at the priority of the request. Returns whether it was sent.
    pub(super) fn reply(
        self,
        configuration: &Configuration,
        memory: &mut ReplyMemory,
        write: WriteReply<'_>,
    ) -> bool {
        if !self.is_awaited() {
            return false;
        }
        let _raised = raise(configuration, self.priority);
        if self.write(&configuration.limits, memory, write).is_err() {
            return false;
        }
        self.request
            .reply(&*configuration.network_mapping, &mut memory.reply, self.priority)
    }

    fn write(
        &self,
        limits: &Limits,
        memory: &mut ReplyMemory,
        write: WriteReply<'_>,
    ) -> Result<(), MessageError> {
        let ReplyMemory {
            reply,
            contexts,
            echo,
        } = memory;
        reply.clear();
        let (version, kind) = (self.version, MessageType::Reply);
        let writer = MessageWriter::new(
            reply,
            version,
            kind,
            Endian::NATIVE,
            self.code_sets,
            limits.max_message_size,
        );
        let mut encoder = writer.into_encoder().with_nesting_limit(limits.max_nesting);
        let echo = echo.as_ref().map(|echo| ServiceContext::Raw {
            id: echo.id,
            data: &echo.data[..echo.length],
        });
        with_contexts(echo.as_slice(), Some(contexts), |contexts| {
            let status = ReplyStatus::NoException;
            encode_reply_header(&mut encoder, version, self.request_id, status, contexts)
        })
        .map_err(|_| MessageError)?;
        let header = ReplyHeaderAt {
            end: encoder.position(),
            version,
        };
        let (nothing, mut pool) = (Decoder::new(&[], Endian::NATIVE), ReusePool::default());
        let alignment = if version >= Version::V1_2 { 8 } else { 1 };
        let mut upcall = Upcall::new("", nothing, encoder, alignment, true, &mut pool);
        let written = write(&mut upcall);
        let outcome = upcall.outcome();
        let mut encoder = upcall.into_reply();
        let expected = ResponseFlags::WithTarget;
        match written {
            Ok(()) => {
                if outcome == Outcome::UserException {
                    header.set_status(&mut encoder, ReplyStatus::UserException);
                }
                finish(encoder, expected)
            }
            Err(exception) => fail(encoder, header, &exception, expected),
        }
        .map(drop)
    }
}

/// Raises the calling thread to the priority of a request until the result is dropped, if its own is lower.
/// It is never lowered: it would have to wait for less important work than its own.
fn raise(configuration: &Configuration, priority: Option<Priority>) -> impl Drop + use<> {
    let of_request =
        priority.and_then(|priority| configuration.scheduling(configuration.scheduling_class, priority));
    let before = of_request
        .filter(|wanted| wanted.is_realtime())
        .and_then(|wanted| {
            let own = scheduling::current();
            let is_lower = !own.is_realtime() || own.priority < wanted.priority;
            // Without the right to change it, the thread answers at its own priority.
            (is_lower && scheduling::set_current(wanted).is_ok()).then_some(own)
        });
    scopeguard::guard(before, |before| {
        if let Some(before) = before {
            let _ = scheduling::set_current(before);
        }
    })
}
