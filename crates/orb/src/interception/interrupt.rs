//! Ways in which an interceptor ends a request.

use std::fmt;

use punctual_stub::ObjectRef;
use punctual_types::SystemException;

/// Exception or forward with which an interceptor ends a request.
///
/// ```
/// # mod punctual { pub use {punctual_orb::*, punctual_types::*}; }
/// use punctual::{Completion, SystemException, SystemExceptionKind, interceptors::Interrupt};
///
/// fn check(known: bool) -> Result<(), Interrupt> {
///     let refused = SystemException::new(SystemExceptionKind::NoPermission, 0, Completion::No);
///     if known { Ok(()) } else { Err(refused.into()) }
/// }
/// assert!(matches!(check(false), Err(Interrupt::Exception(_))));
/// ```
#[derive(Clone)]
pub enum Interrupt {
    /// The caller receives this exception.
    Exception(SystemException),
    /// The request is sent to this object instead, `PortableInterceptor::ForwardRequest`. Interceptors see a
    /// new request.
    Forward(ObjectRef),
}

impl From<SystemException> for Interrupt {
    fn from(exception: SystemException) -> Self {
        Self::Exception(exception)
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exception(exception) => f.debug_tuple("Exception").field(exception).finish(),
            Self::Forward(object) => f.debug_tuple("Forward").field(object).finish(),
        }
    }
}
