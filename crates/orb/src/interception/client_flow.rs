//! Flow of one outgoing request through the client interceptors.

use punctual_cdr::Ior;
use punctual_giop::MessageHeader;
use punctual_types::{Completion, SystemException};

use super::{
    AddedContexts, CallKind, ClientRequestInfo, Interceptors, Interrupt, Raised, ReplyStatus, SlotValue,
    client::{ClientEnding, ClientRequest, Contexts},
    flow,
    server_flow::SeenRequest,
};

/// Memory of a call frame for interceptors, reused from call to call.
#[derive(Default)]
pub(crate) struct SeenCall {
    /// Slots of the thread when the call began.
    pub(crate) slots: Vec<SlotValue>,
    /// Arguments, encoded for interceptors before they are sent.
    pub(crate) arguments: Vec<u8>,
    /// Repository id of a user exception.
    pub(crate) raised: String,
    /// Octets of the reply up to its body.
    reply_head: Vec<u8>,
    /// Header of the reply; `None` without a reply.
    reply_header: Option<MessageHeader>,
    /// Server-side memory for collocated calls; for others, the lane's thread has it.
    pub(crate) served: SeenRequest,
}

/// How a request ended, as its interceptors see it.
pub(crate) enum ClientEnd {
    /// The call ended with a reply, or with the user exception in [`SeenCall::raised`].
    Replied { raised: bool },
    /// The request was sent, and no reply is awaited here.
    Sent,
    /// No reply has been received yet.
    NotYet,
    /// The request is forwarded to another reference.
    Forward(Ior),
    /// The request will be sent again; the exception is raised if that is impossible.
    Again(SystemException),
    /// The request will be sent again to the original reference because the one it was forwarded to no longer
    /// works.
    AgainAtHome(SystemException),
    /// The call ended with a system exception.
    Failed(SystemException),
}

impl SeenCall {
    /// Discards the reply of the previous attempt.
    pub(crate) fn forget_reply(&mut self) {
        self.reply_header = None;
        self.served.added.clear();
    }

    /// Keeps the service contexts of a reply whose body starts at `body`, since its buffer is reused.
    pub(crate) fn keep_reply(&mut self, message: &[u8], header: &MessageHeader, body: usize) {
        self.reply_head.clear();
        self.reply_head.extend_from_slice(&message[..body]);
        let size = (body - punctual_giop::HEADER_SIZE) as u32;
        self.reply_header = Some(MessageHeader { size, ..*header });
    }

    /// Returns the service contexts of the reply.
    fn contexts(&self) -> Contexts<'_> {
        match &self.reply_header {
            Some(header) => Contexts::OfReply(&self.reply_head, header),
            None => Contexts::Added(&self.served.added),
        }
    }
}

impl From<Interrupt> for ClientEnd {
    fn from(interrupt: Interrupt) -> Self {
        match interrupt {
            Interrupt::Exception(exception) => Self::Failed(exception),
            Interrupt::Forward(object) => Self::Forward(object.ior().clone()),
        }
    }
}

impl ClientEnd {
    fn ending<'e>(&'e self, seen: &'e SeenCall) -> ClientEnding<'e> {
        let (status, exception, forward) = match self {
            Self::Replied { raised: false } | Self::Sent => (ReplyStatus::Successful, None, None),
            Self::Replied { raised: true } => {
                (ReplyStatus::UserException, Some(Raised::User(&seen.raised)), None)
            }
            Self::NotYet => (ReplyStatus::Unknown, None, None),
            Self::Forward(ior) => (ReplyStatus::LocationForward, None, Some(ior)),
            Self::Again(_) | Self::AgainAtHome(_) => (ReplyStatus::TransportRetry, None, None),
            Self::Failed(exception) => (
                ReplyStatus::SystemException,
                Some(Raised::System(*exception)),
                None,
            ),
        };
        ClientEnding {
            status: Some(status),
            exception,
            forward,
            contexts: seen.contexts(),
        }
    }
}

impl Interceptors {
    /// Calls `send_request` of each interceptor; returns the number of those that completed.
    pub(crate) fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> (usize, Result<(), Interrupt>) {
        flow::start(&self.client, |interceptor| interceptor.send_request(info))
    }

    /// Calls `send_poll` of each interceptor; returns the number of those that completed.
    pub(crate) fn send_poll(&self, info: &mut ClientRequestInfo<'_>) -> (usize, Result<(), Interrupt>) {
        flow::start(&self.client, |interceptor| interceptor.send_poll(info))
    }

    /// Calls the ending points of the first `started` interceptors, which may change the result.
    pub(crate) fn end_request(
        &self,
        started: usize,
        request: ClientRequest<'_>,
        added: &mut AddedContexts,
        seen: &SeenCall,
        mut end: ClientEnd,
    ) -> ClientEnd {
        for interceptor in self.client[..started].iter().rev() {
            let info = ClientRequestInfo {
                request,
                slots: &seen.slots,
                added: &mut *added,
                arguments: None,
                ending: end.ending(seen),
            };
            let result = flow::call_point(Completion::Maybe, || match &end {
                ClientEnd::Replied { raised: false } => Ok(interceptor.receive_reply(&info)?),
                ClientEnd::Replied { raised: true } | ClientEnd::Failed(_) => {
                    interceptor.receive_exception(&info)
                }
                ClientEnd::Sent
                | ClientEnd::NotYet
                | ClientEnd::Forward(_)
                | ClientEnd::Again(_)
                | ClientEnd::AgainAtHome(_) => interceptor.receive_other(&info),
            });
            if let Err(interrupt) = result {
                end = interrupt.into();
            }
        }
        end
    }
}

impl From<punctual_stub::Response> for CallKind {
    fn from(response: punctual_stub::Response) -> Self {
        match response {
            punctual_stub::Response::None | punctual_stub::Response::WithServer => Self::Oneway,
            punctual_stub::Response::WithTarget => Self::TwoWay,
        }
    }
}
