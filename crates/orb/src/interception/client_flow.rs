use punctual_cdr::Ior;
use punctual_giop::MessageHeader;
use punctual_types::{Completion, SystemException};

use super::{
    AddedContexts, CallKind, ClientRequestInfo, Interceptors, Interrupt, Raised, ReplyStatus, SlotValue,
    client::{ClientEnding, ClientRequest, Contexts},
    flow,
    server_flow::SeenRequest,
};

/// What a call's frame keeps for interceptors from call to call.
#[derive(Default)]
pub(crate) struct SeenCall {
    /// The thread's slots when the call began.
    pub(crate) slots: Vec<SlotValue>,
    /// The arguments, for who asks before they are sent.
    pub(crate) arguments: Vec<u8>,
    /// The repository id of a user exception.
    pub(crate) raised: String,
    /// The reply up to its body.
    reply_head: Vec<u8>,
    /// `None`: there was no reply.
    reply_header: Option<MessageHeader>,
    /// For collocated calls: what a lane's thread keeps otherwise.
    pub(crate) served: SeenRequest,
}

/// How a request ended, as far as its interceptors see it.
pub(crate) enum ClientEnd {
    /// With a reply, or with the user exception in [`SeenCall::raised`].
    Replied { raised: bool },
    /// Sent, and nothing waits for a reply, or not here.
    Sent,
    /// There is no reply yet.
    NotYet,
    /// The object is elsewhere.
    Forward(Ior),
    /// To be sent again; if it cannot be, this is why.
    Again(SystemException),
    /// The same, where the reference itself leads: what it was forwarded to is gone.
    AgainAtHome(SystemException),
    /// With a system exception.
    Failed(SystemException),
}

impl SeenCall {
    /// Before an attempt.
    pub(crate) fn forget_reply(&mut self) {
        self.reply_header = None;
        self.served.added.clear();
    }

    /// Keeps the service contexts of a reply whose body starts there, because its buffer is read on meanwhile.
    pub(crate) fn keep_reply(&mut self, message: &[u8], header: &MessageHeader, body: usize) {
        self.reply_head.clear();
        self.reply_head.extend_from_slice(&message[..body]);
        let size = (body - punctual_giop::HEADER_SIZE) as u32;
        self.reply_header = Some(MessageHeader { size, ..*header });
    }

    /// Those of the reply.
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
    /// Calls `send_request` of each; returns how many completed.
    pub(crate) fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> (usize, Result<(), Interrupt>) {
        flow::start(&self.client, |interceptor| interceptor.send_request(info))
    }

    /// Calls `send_poll` of each; returns how many completed.
    pub(crate) fn send_poll(&self, info: &mut ClientRequestInfo<'_>) -> (usize, Result<(), Interrupt>) {
        flow::start(&self.client, |interceptor| interceptor.send_poll(info))
    }

    /// Calls the ending points of the first `started`, which may change how the request ended.
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
            punctual_stub::Response::None => Self::Oneway,
            punctual_stub::Response::WithTarget => Self::TwoWay,
        }
    }
}
