//! Exceptions for calls that end with their connection.

use punctual_lane::CallEnd;
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

/// Returns the exception of a call that ends with its connection.
///
/// `rejected`: whether the peer may have executed the request before it sent MessageError, which names no
/// request: not over a connection that carries one request at a time.
#[cold]
pub(super) fn exception(end: CallEnd, rejected: Completion) -> SystemException {
    use SystemExceptionKind::{CommFailure, ImpLimit};
    let (kind, minor, completed) = match end {
        CallEnd::InOrder => return closed(),
        CallEnd::Lost => (CommFailure, Minor::CONNECTION_LOST, Completion::Maybe),
        CallEnd::Malformed => (CommFailure, Minor::REPLY_MALFORMED, Completion::Maybe),
        CallEnd::OtherProtocol => (CommFailure, Minor::PEER_SPEAKS_NO_GIOP, Completion::Maybe),
        CallEnd::UsesTls => (CommFailure, Minor::PEER_USES_TLS, Completion::No),
        CallEnd::TooLarge => (ImpLimit, Minor::REPLY_TOO_LARGE, Completion::Maybe),
        CallEnd::Rejected => (CommFailure, Minor::PEER_REJECTED_MESSAGE, rejected),
        CallEnd::Stopped => (CommFailure, Minor::REPLY_THREADPOOL_ENDED, Completion::Maybe),
    };
    SystemException::new(kind, minor, completed)
}

/// Returns the exception for a connection that the server has closed without executing the request.
pub(super) fn closed() -> SystemException {
    SystemException::new(
        SystemExceptionKind::Transient,
        Minor::CLOSED_BEFORE_REQUEST,
        Completion::No,
    )
}

/// Returns the exception for a connection that cannot be used; nothing was sent.
pub(super) fn broken() -> SystemException {
    SystemException::new(
        SystemExceptionKind::CommFailure,
        Minor::CONNECTION_LOST,
        Completion::No,
    )
}
