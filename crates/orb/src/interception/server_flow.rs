//! Flow of one incoming request through the server interceptors.

use punctual_cdr::{Decode, Decoder, Ior};
use punctual_lane::Disposition;
use punctual_stub::{Outcome, UserPolicies};
use punctual_types::{Completion, SystemException};

use super::{
    AddedContexts, Interceptors, Interrupt, Raised, ReplyStatus, ServerRequestInfo, SlotTable, SlotValue,
    flow,
    server::{ServerEnding, ServerRequest},
};

/// Memory of a serving thread for interceptors, reused from request to request.
#[derive(Default)]
pub(crate) struct SeenRequest {
    /// Service contexts for the reply.
    pub(crate) added: AddedContexts,
    /// Slots of the thread while the request uses its own ones.
    pub(crate) slots: Vec<SlotValue>,
    /// Header of a reply with service contexts.
    pub(crate) reply_head: Vec<u8>,
}

/// How a request ended.
pub(crate) enum ServerEnd {
    /// The servant has returned.
    Replied,
    /// The servant has raised a user exception.
    Raised,
    /// The request ended with a system exception.
    Failed(SystemException),
    /// The request is forwarded to another reference.
    Forward(Ior),
    /// The request is passed to another lane or held, and starts again there.
    Moved(Disposition),
    /// The servant answers later.
    Deferred,
}

/// Request that passes through the interceptors.
pub(crate) struct ServerFlow<'a> {
    interceptors: &'a Interceptors,
    request: ServerRequest<'a>,
    added: &'a mut AddedContexts,
    keeps_native_priority: bool,
    repository_id: Option<&'a str>,
    policies: Option<&'a UserPolicies>,
    arguments: Option<Decoder<'a>>,
    started: usize,
}

impl ServerEnd {
    /// How a request ends with this result of its servant; `results`: what the servant has written, if the
    /// client expects it.
    pub(crate) fn of(result: Result<Outcome, SystemException>, results: Option<Decoder<'_>>) -> Self {
        match result {
            Ok(Outcome::NoException) => Self::Replied,
            Ok(Outcome::UserException) => Self::Raised,
            Ok(Outcome::Deferred) => Self::Deferred,
            Ok(Outcome::Forwarded) => match results.map(|mut written| Ior::decode(&mut written)) {
                None => Self::Replied,
                Some(Ok(ior)) => Self::Forward(ior),
                Some(Err(error)) => Self::Failed(error.system_exception(Completion::No)),
            },
            Err(exception) => Self::Failed(exception),
        }
    }
}

impl From<Interrupt> for ServerEnd {
    fn from(interrupt: Interrupt) -> Self {
        match interrupt {
            Interrupt::Exception(exception) => Self::Failed(exception),
            Interrupt::Forward(object) => Self::Forward(object.ior().clone()),
        }
    }
}

impl<'a> ServerFlow<'a> {
    /// Calls the starting points. Returns as `Err` how the request ends if it is not served.
    pub(crate) fn start(
        interceptors: &'a Interceptors,
        request: ServerRequest<'a>,
        added: &'a mut AddedContexts,
    ) -> (Self, Result<(), ServerEnd>) {
        added.clear();
        let mut flow = Self {
            interceptors,
            request,
            added,
            keeps_native_priority: false,
            repository_id: None,
            policies: None,
            arguments: None,
            started: 0,
        };
        let mut info = flow.info(ServerEnding::NONE);
        let (started, result) = flow::start(&interceptors.server, |interceptor| {
            interceptor.receive_request_service_contexts(&mut info)
        });
        flow.started = started;
        (flow, result.map_err(ServerEnd::from))
    }

    /// Calls the intermediate points after the servant has been found. Returns as `Err` how the request ends
    /// if it is not served.
    pub(crate) fn receive_request<'b>(
        self,
        repository_id: &'b str,
        policies: &'b UserPolicies,
        arguments: Decoder<'b>,
    ) -> (ServerFlow<'b>, Result<(), ServerEnd>)
    where
        'a: 'b,
    {
        let mut flow: ServerFlow<'b> = self;
        flow.repository_id = Some(repository_id);
        flow.policies = Some(policies);
        flow.arguments = Some(arguments);
        let interceptors = flow.interceptors;
        let mut info = flow.info(ServerEnding::NONE);
        let (_, result) = flow::start(&interceptors.server, |interceptor| {
            interceptor.receive_request(&mut info)
        });
        (flow, result.map_err(ServerEnd::from))
    }

    /// Contexts that interceptors have added to the reply so far.
    pub(crate) fn added(&self) -> &AddedContexts {
        self.added
    }

    /// Returns whether an interceptor decides on the native priority of the thread.
    pub(crate) fn keeps_native_priority(&self) -> bool {
        self.keeps_native_priority
    }

    /// Calls the ending points, which may change the result. `body`: results of the servant, if a reply is
    /// expected.
    pub(crate) fn end(mut self, mut end: ServerEnd, body: Option<&Decoder<'_>>) -> ServerEnd {
        let interceptors = self.interceptors;
        for interceptor in interceptors.server[..self.started].iter().rev() {
            let mut info = self.info(end.ending(body));
            let result = flow::call_point(Completion::Maybe, || match &end {
                ServerEnd::Replied => Ok(interceptor.send_reply(&mut info)?),
                ServerEnd::Raised | ServerEnd::Failed(_) => interceptor.send_exception(&mut info),
                ServerEnd::Forward(_) | ServerEnd::Moved(_) | ServerEnd::Deferred => {
                    interceptor.send_other(&mut info)
                }
            });
            // The answer of another thread may be on its way.
            if let Err(interrupt) = result
                && !matches!(end, ServerEnd::Deferred)
            {
                end = match interrupt.into() {
                    // Of a call of the interceptor; the servant may have run.
                    ServerEnd::Failed(exception) => ServerEnd::Failed(exception.relayed()),
                    other => other,
                };
            }
        }
        end
    }

    fn info<'i>(&'i mut self, ending: ServerEnding<'i>) -> ServerRequestInfo<'i> {
        ServerRequestInfo {
            request: self.request,
            repository_id: self.repository_id,
            policies: self.policies,
            arguments: self.arguments.clone(),
            added: self.added,
            keeps_native_priority: &mut self.keeps_native_priority,
            ending,
        }
    }
}

impl ServerEnd {
    fn ending<'e>(&'e self, body: Option<&Decoder<'e>>) -> ServerEnding<'e> {
        let mut ending = ServerEnding::NONE;
        ending.status = Some(match self {
            Self::Replied => {
                ending.results = body.cloned();
                ReplyStatus::Successful
            }
            Self::Raised => {
                // The repository id comes first in the body; a oneway call has no body.
                let id = body
                    .cloned()
                    .and_then(|mut body| punctual_cdr::Decode::decode(&mut body).ok());
                ending.exception = Some(Raised::User(id.unwrap_or_default()));
                ReplyStatus::UserException
            }
            Self::Failed(exception) => {
                ending.exception = Some(Raised::System(*exception));
                ReplyStatus::SystemException
            }
            Self::Forward(ior) => {
                ending.forward = Some(ior);
                ReplyStatus::LocationForward
            }
            Self::Moved(_) => ReplyStatus::TransportRetry,
            Self::Deferred => ReplyStatus::Unknown,
        });
        ending
    }
}

/// Gives the calling thread the empty slots of a request until the result is dropped.
pub(crate) fn enter_slots<'s>(table: &'s SlotTable, own: &'s mut Vec<SlotValue>) -> impl Drop + use<'s> {
    let mut slots = (!table.is_empty()).then_some(own);
    if let Some(own) = &mut slots {
        own.clear();
        table.swap(own);
    }
    scopeguard::guard(slots, |slots| {
        if let Some(own) = slots {
            table.swap(own);
            own.clear();
        }
    })
}
